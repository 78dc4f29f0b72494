/** Prefix of the ids of sessions that are open without being stored. Other ids have it only by chance, once in 2³². */
export const OPENED_MARK = "09e7ed00-";

/** Whether an id belongs to a session that is or was open without being stored. */
export const isOpenedSession = (id: string): boolean => id.startsWith(OPENED_MARK);
