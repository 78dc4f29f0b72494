import { asNumber } from "../../model/narrow.ts";
import { type Line, metadataOf, timeOfId, turnIdOf } from "./line.ts";
import type { Moment } from "./turns.ts";

/**
 * Another thread's history at the start of a file, copied there when the thread was forked or spawned. Its records have old
 * turn ids, and new timestamps close to the time of the copying.
 */
export class CopiedHistory {
  private readonly own: number | undefined;
  /** Start of the copied history; absent: nothing is copied. */
  begin: Moment | undefined;
  /** The original thread, if a `session_meta` names it. */
  from: string | undefined;
  count = 0;
  /** The thread was forked or spawned, so its file may start with another thread's history. */
  possible = false;
  /** In a spawned agent's file since 0.169: ordinal of the first own record. */
  firstOwnOrdinal = 0;
  private lasts = false;
  /** Turn ids show where it ends. */
  private hasIds = false;

  /** `own`: the thread's id. */
  constructor(own: string) {
    this.own = timeOfId(own);
  }

  /** Whether a line is part of it. */
  contains(line: Line): boolean {
    if (line.type === "session_meta") return false;
    if (this.firstOwnOrdinal > 0) {
      const ordinal = asNumber(line.value.ordinal);
      if (ordinal !== undefined) return ordinal < this.firstOwnOrdinal ? this.start(line) : this.end();
    }
    if (metadataOf(line).inherited_user_message === true) return this.start(line);
    if (!this.possible) return false;
    const turn = turnIdOf(line);
    const began = turn === undefined ? undefined : timeOfId(turn);
    if (began !== undefined && this.own !== undefined) {
      if (began >= this.own) return this.end();
      this.hasIds = true;
      return this.start(line);
    }
    if (!this.lasts || this.begin === undefined) return false;
    // Without turn ids, the first record with a later time is the thread's own.
    return this.hasIds || line.moment.at - this.begin.at <= 1000 ? true : this.end();
  }

  start(line: Line): true {
    this.begin ??= line.moment;
    this.lasts = true;
    return true;
  }

  private end(): false {
    this.lasts = false;
    return false;
  }
}
