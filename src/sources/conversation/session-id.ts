import { isUuid } from "../../model/is-uuid.ts";
import { uuidFrom } from "../../model/uuid.ts";

/** The id of the session that an agent calls by a name: the name itself if it is a UUID, otherwise one derived from it. */
export const sessionIdOf = (agent: string, name: string): string =>
  isUuid(name) ? name.toLowerCase() : uuidFrom(agent, name);
