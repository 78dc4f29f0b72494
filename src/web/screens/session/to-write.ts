/** Sessions that the user opens in order to edit a draft: they continue from an earlier prompt, which is in the draft. */
const toWrite = new Set<string>();

/** Marks a session, so that its prompt field gets the focus when it is shown next. */
export const comeToWrite = (session_id: string): void => void toWrite.add(session_id);

/** Returns whether a session is marked, and removes the mark. */
export const takeToWrite = (session_id: string): boolean => toWrite.delete(session_id);
