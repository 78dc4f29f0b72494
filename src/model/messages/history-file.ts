import { isUuid } from "../is-uuid.ts";
import { asObject } from "../narrow.ts";
import type { Note } from "../note.ts";

/** The first line of each session in a history file. The lines up to the next header are its events (`encodeEvent`). */
export interface HistoryHeader {
  type: "verbatim_session";
  version: 1;
  session_id: string;
  /** Id of the agent's source, such as `claude-code`. */
  agent: string;
}

/** The header as one line of JSON, without a newline. `notes`: written by people; the session does not depend on them. */
export function encodeHeader({
  session_id,
  agent,
  notes = [],
}: Pick<HistoryHeader, "session_id" | "agent"> & { notes?: readonly Note[] }): string {
  const header: HistoryHeader = { type: "verbatim_session", version: 1, session_id, agent };
  return JSON.stringify(notes.length === 0 ? header : { ...header, notes });
}

/** Reads a header from a parsed line; `undefined` for other lines and for versions above 1. */
export function readHeader(value: unknown): HistoryHeader | undefined {
  const { type, version, session_id, agent } = asObject(value) ?? {};
  if (type !== "verbatim_session" || version !== 1) return undefined;
  if (!isUuid(session_id) || typeof agent !== "string") return undefined;
  return { type: "verbatim_session", version: 1, session_id, agent };
}
