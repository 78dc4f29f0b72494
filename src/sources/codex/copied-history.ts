import { asNumber } from "../../model/narrow.ts";
import { type Line, metadataOf, timeOfId, turnIdOf } from "./line.ts";
import type { Moment } from "./turns.ts";

/** What `CopiedHistory` keeps between two records. Plain JSON. */
export interface CopiedState {
  /** Start of the copied history; absent: nothing is copied. */
  begin?: Moment;
  /** The original thread, if a `session_meta` names it. */
  from?: string;
  count: number;
  /** The note about it was not written yet. */
  isNoteDue: boolean;
  /** The thread was forked or spawned, so its file may start with another thread's history. */
  possible: boolean;
  /** In a spawned agent's file since 0.169: ordinal of the first own record. */
  firstOwnOrdinal: number;
  lasts: boolean;
  /** Turn ids show where it ends. */
  hasIds: boolean;
}

export const initialCopied = (): CopiedState => ({
  count: 0,
  isNoteDue: false,
  possible: false,
  firstOwnOrdinal: 0,
  lasts: false,
  hasIds: false,
});

/**
 * Another thread's history at the start of a file, copied there when the thread was forked or spawned. Its records have old
 * turn ids, and new timestamps close to the time of the copying.
 */
export class CopiedHistory {
  private readonly own: number | undefined;
  readonly state: CopiedState;

  /** `own`: the thread's id. */
  constructor(own: string, state: CopiedState) {
    this.own = timeOfId(own);
    this.state = state;
  }

  /** Whether a line is part of it. */
  contains(line: Line): boolean {
    if (line.type === "session_meta") return false;
    if (this.state.firstOwnOrdinal > 0) {
      const ordinal = asNumber(line.value.ordinal);
      if (ordinal !== undefined) return ordinal < this.state.firstOwnOrdinal ? this.start(line) : this.end();
    }
    if (metadataOf(line).inherited_user_message === true) return this.start(line);
    if (!this.state.possible) return false;
    const turn = turnIdOf(line);
    const began = turn === undefined ? undefined : timeOfId(turn);
    if (began !== undefined && this.own !== undefined) {
      if (began >= this.own) return this.end();
      this.state.hasIds = true;
      return this.start(line);
    }
    if (!this.state.lasts || this.state.begin === undefined) return false;
    // Without turn ids, the first record with a later time is the thread's own.
    return this.state.hasIds || line.moment.at - this.state.begin.at <= 1000 ? true : this.end();
  }

  start(line: Line): true {
    this.state.begin ??= line.moment;
    this.state.lasts = true;
    return true;
  }

  private end(): false {
    this.state.lasts = false;
    return false;
  }
}
