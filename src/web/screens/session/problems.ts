import { findError } from "../../../model/parts/find-error.ts";
import type { Api } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";

/**
 * The next (1) or previous (−1) failure from a position, that included; the daemon is asked where the search comes to parts that
 * are not here. `undefined`: there is none in that direction.
 */
export async function locateError(
  { id, state }: OpenSession,
  api: Pick<Api, "locate">,
  from: number,
  by: 1 | -1,
): Promise<number | undefined> {
  const { transcript } = state.getState();
  const found = transcript && findError(transcript, from, by);
  if (!found?.is_missing) return found?.index;
  const reply = await api.locate(id, { error: String(found.index), by: by === 1 ? "1" : "-1" });
  if (reply.ok) return reply.value.index;
  const isNone = reply.failure.code === "refused" && reply.failure.reason === "no_part";
  // What was not searched may hold a failure: better to stop there than to pass over it.
  return isNone ? undefined : found.index;
}
