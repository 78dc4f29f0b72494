import type { createOrderChecker } from "../../../model/frames/order.ts";
import { Refused } from "../../sessions/refused.ts";
import type { Recorder } from "../record/recorder.ts";

/** The result of a push: the sender's position, and the number of new frames. */
export interface Pushed {
  epoch?: string;
  /** The last stored frame of that epoch. */
  seq?: number;
  applied: number;
  repeated: number;
}

/** A rejected push. Lines before the rejected one are stored, later ones were not read. */
export class PushRefused extends Refused {
  readonly line: number;
  readonly pushed: Pushed;
  /** The expected sequence number. */
  readonly expected: number | undefined;
  constructor(
    status: Refused["status"],
    code: string,
    message: string,
    at: { line: number; pushed: Pushed; expected?: number },
  ) {
    super(status, code, message);
    this.line = at.line;
    this.pushed = at.pushed;
    this.expected = at.expected;
  }
}

/** A push in progress. */
export interface Push {
  readonly session_id: string;
  /** Identifies the foreign stream. Without an epoch, another push cannot continue it. `undefined`: frames are pushed. */
  readonly stream_id: string | undefined;
  readonly pushed: Pushed;
  /** The line number for errors. */
  line: number;
  /**
   * The session is created by the first valid frame, so that a wrong address creates none. It is looked up for each frame,
   * because idle sessions are unloaded.
   */
  record(): Recorder;
  /** The last result of `record`. */
  readonly recorder: Recorder | undefined;
  checkerOf(recorder: Recorder): ReturnType<typeof createOrderChecker>;
  /** Drops the checker of a session, because it has seen a rejected frame. */
  dropChecker(recorder: Recorder): void;
  /** Whether no other sender has started to push the session. */
  isCurrent(): boolean;
  now(): number;
}

/** Ends a push at the current line. */
export function refuse(
  { line, pushed }: Pick<Push, "line" | "pushed">,
  code: string,
  message: string,
  status: Refused["status"] = 422,
  expected?: number,
): never {
  throw new PushRefused(status, code, `Line ${line}: ${message}`, {
    line,
    pushed,
    ...(expected === undefined ? {} : { expected }),
  });
}
