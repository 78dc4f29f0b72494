/** How the ids of sessions begin that are open without being stored. No other id begins so but by chance, once in 2³². */
export const OPENED_MARK = "09e7ed00-";

/** Whether an id is that of a session in a file that is, or was, open without being stored. */
export const isOpenedSession = (id: string): boolean => id.startsWith(OPENED_MARK);
