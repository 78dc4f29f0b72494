import type { JsonObject } from "../narrow.ts";

/** The place of a line in the session's file. */
export interface LinePlace {
  /** One-based. */
  line: number;
  /** Offset of its first byte. */
  byte: number;
}

/** An API request of a session, rebuilt from the agent's own log. */
export interface LoggedRequest {
  /** The agent's id of the request (`requestRef` in the lines of the answer). */
  id: string;
  place: LinePlace;
  at?: string;
  /** For each message of the body: the lines that contain it, or the line of the log with it. */
  origins: (readonly LinePlace[])[];
  /** For each message of the body: its hash in the log. */
  hashes: readonly string[];
  /** The agent's own digest of the body. Absent if it truncated the record. */
  digest?: string;
  /** What the log lacks: a shape, a base request, messages. Empty: the body is complete. */
  missing: readonly string[];
  /** The first line of its answer. Absent: the attempt failed, was stopped, or is not answered yet. */
  answer?: LinePlace;
  /**
   * The request body: `system`, `tools`, `messages` and parameters, including `betas`. `digest`: of this body; equals the agent's
   * own if nothing is missing.
   */
  build(): { body: JsonObject; digest: string };
}

/** Reads the lines of a session's file in order and collects the requests that they log. */
export interface RequestLog {
  push(value: JsonObject, place: LinePlace): void;
  /** In file order. */
  requests(): LoggedRequest[];
}
