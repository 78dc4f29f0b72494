import { uuidFrom } from "../../model/uuid.ts";

/** An agent that writes this format: opencode, or its fork Kilo. */
export type OpenCodeProduct = "opencode" | "kilo";

/** A session's id in Verbatim, derived from opencode's (`ses_…`). */
export const openCodeSessionId = (name: string, product: OpenCodeProduct = "opencode"): string =>
  uuidFrom(product, name);

/** A part's id in Verbatim. `session_id`: its session's id in Verbatim; `id`: opencode's id of the part (`prt_…`). */
export const openCodePartId = (session_id: string, id: string): string => uuidFrom(session_id, "part:", id);
