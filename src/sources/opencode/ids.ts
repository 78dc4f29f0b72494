import { uuidFrom } from "../../model/uuid.ts";

/** A session's id in Verbatim, derived from opencode's (`ses_…`). */
export const openCodeSessionId = (name: string): string => uuidFrom("opencode", name);

/** A part's id in Verbatim. `session_id`: its session's id in Verbatim; `id`: opencode's id of the part (`prt_…`). */
export const openCodePartId = (session_id: string, id: string): string => uuidFrom(session_id, `part:${id}`);
