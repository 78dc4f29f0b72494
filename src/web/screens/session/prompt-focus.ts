/** Sessions that the user opens in order to edit a draft: they continue from an earlier prompt, which is in the draft. */
const requested = new Set<string>();

/** Marks a session, so that its prompt field gets the focus when it is shown next. */
export const focusPromptOnOpen = (session_id: string): void => void requested.add(session_id);

/** Returns whether a session is marked, and removes the mark. */
export const takeFocusRequest = (session_id: string): boolean => requested.delete(session_id);
