import type { JsonObject } from "../narrow.ts";

/** Where a line stands in the session's file. */
export interface LinePlace {
  /** From 1. */
  line: number;
  /** Offset of its first byte. */
  byte: number;
}

/** One API request of a session, rebuilt from the agent's own log. */
export interface LoggedRequest {
  /** The agent's id of it (`requestRef` of the answer's lines). */
  id: string;
  place: LinePlace;
  at?: string;
  /** For each message of the body, the lines that spell it, or the line of the log that holds it. */
  origins: (readonly LinePlace[])[];
  /** For each message of the body, the hash by which the log names it. */
  hashes: readonly string[];
  /** The agent's own digest of the body; absent where it cut parts out of the record. */
  digest?: string;
  /** What the log does not hold: a shape, a base request, messages. Empty: the body is whole. */
  missing: readonly string[];
  /** The first line of its answer. Absent: the attempt failed, was stopped, or is not answered yet. */
  answer?: LinePlace;
  /**
   * The request body: `system`, `tools`, `messages` and the parameters, `betas` among them. `digest`: of this body, equal to the
   * agent's own where nothing is missing.
   */
  build(): { body: JsonObject; digest: string };
}

/** Takes the lines of a session's file in order; gives the requests that they log. */
export interface RequestLog {
  push(value: JsonObject, place: LinePlace): void;
  /** In the order of the file. */
  requests(): LoggedRequest[];
}
