import { uuidFrom } from "./uuid.ts";

/** How the ids of sessions begin that are open without being stored. No other id begins so but by chance, once in 2³². */
const MARK = "09e7ed00-";

/** The id of a session in a file that is open without being stored. Who does not know the secret, a UUID, cannot guess it. */
export const openedSessionId = (secret: string, name: string): string =>
  MARK + uuidFrom(secret, name).slice(MARK.length);

/** Whether an id is that of a session in a file that is, or was, open without being stored. */
export const isOpenedSession = (id: string): boolean => id.startsWith(MARK);
