/** Sessions that continue from an earlier prompt, which is in their draft: the reader opens them to write. */
const toWrite = new Set<string>();

/** The next time that this session is on screen, its prompt field gets the focus. */
export const comeToWrite = (session_id: string): void => void toWrite.add(session_id);

/** Whether the reader opened a session to write there. True once. */
export const takeToWrite = (session_id: string): boolean => toWrite.delete(session_id);
