import type { TextCode } from "../text/coded-text.ts";
import { type PartFold, turnsIn, withAllParts } from "../transcript/part-fold.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { callSubject, callTool } from "./call-subject.ts";
import { titleOf } from "./content.ts";
import { failureLine, failureLineOf } from "./failure-line.ts";
import { ownOutput } from "./kept-output.ts";
import { isError } from "./part-kinds.ts";

/** Maximum number of errors in a list, not counting those that ended a turn. */
const LIMIT = 1_000;

/**
 * An error of a session. `ending`: why a turn failed (`cut_off`: its record breaks off). `failed`: a call that failed, or an error
 * that the agent recovered from. `exit`: a command that ended with an exit code other than 0, which may be expected.
 */
export interface SessionError {
  rank: "ending" | "failed" | "exit";
  /** Position of the part in the session. */
  index: number;
  part_id: string;
  /** Number of the turn, from 1. */
  turn: number;
  step?: number;
  at?: number;
  /** For calls. */
  tool_name?: string;
  /** What failed, in one line; may be empty. */
  subject: string;
  /** If Verbatim wrote the subject. */
  title_code?: TextCode;
  /** The line of the output that states the cause. */
  reason?: string;
  exit_code?: number;
  cut_off?: true;
  /** For `ending`: the record of the turn has no end, see `Turn`. */
  no_end?: true;
}

/** The errors of a session in order. `more`: the number of errors that are left out. */
export interface ErrorList {
  errors: SessionError[];
  more: number;
}

/** The part at which a failed turn ended, as far as its parts were added. */
interface Ending {
  readonly index: number;
  readonly part: TranscriptPart;
  readonly result: TranscriptPartOf<"tool_result"> | undefined;
}

/** The errors of the parts that were added: those counted by their turns and, for a failed turn, the part at which it ended. */
export class ErrorFold implements PartFold<ErrorFold> {
  private errors: SessionError[] = [];
  private count = 0;
  /** The index of the turn of the last part. */
  private turn: number | undefined;
  private ending: Ending | undefined;

  add(transcript: Transcript, from: number, to: number): void {
    const { parts, turns } = transcript;
    for (const range of turnsIn(transcript, from, to)) {
      const { turn } = range;
      if (turn.index !== this.turn) this.endTurn(turns);
      this.turn = turn.index;
      // The last turn may still fail.
      const mayFail = turn.status === "failed" || turn.index === turns.length - 1;
      if (turn.errors === 0 && !mayFail) continue;
      for (let index = range.from; index < range.to; index += 1) {
        const part = parts.at(index);
        if (part === undefined) continue;
        if (mayFail && mayEnd(part, this.ending?.part))
          this.ending = { index, part, result: resultOf(parts, part) };
        if (!isError(part)) continue;
        this.count += 1;
        if (this.count <= LIMIT)
          this.errors.push(errorAt({ index, part, result: resultOf(parts, part) }, turn, false));
      }
    }
  }

  copy(): ErrorFold {
    const copy = new ErrorFold();
    copy.errors = [...this.errors];
    copy.count = this.count;
    copy.turn = this.turn;
    copy.ending = this.ending;
    return copy;
  }

  list({ turns }: Pick<Transcript, "turns">): ErrorList {
    const { errors, count } = this.copy().endTurn(turns);
    return { errors, more: count - errors.length };
  }

  /** Adds the part at which the last turn ended, if it failed. It is never left out, because the page links to it. */
  private endTurn(turns: Transcript["turns"]): this {
    const { ending } = this;
    const turn = this.turn === undefined ? undefined : turns.at(this.turn);
    this.turn = undefined;
    this.ending = undefined;
    if (ending === undefined || turn?.status !== "failed") return this;
    const before = this.errors.findLastIndex(({ index }) => index < ending.index) + 1;
    const isListed = this.errors[before]?.index === ending.index;
    this.errors.splice(before, isListed ? 1 : 0, errorAt(ending, turn, true));
    if (!isError(ending.part)) this.count += 1;
    return this;
  }
}

/** Lists the errors of a complete transcript. */
export const errorsOf = (transcript: Transcript): ErrorList =>
  withAllParts(new ErrorFold(), transcript).list(transcript);

function errorAt({ index, part, result }: Ending, turn: Turn, isEnding: boolean): SessionError {
  const error: SessionError = {
    index,
    part_id: part.id,
    turn: turn.index + 1,
    ...placeOf(part),
    ...describe(part, result, isEnding),
    ...(isEnding && !isError(part) && { cut_off: true }),
    ...(isEnding && turn.no_end === true && { no_end: true }),
  };
  // A piece of a text would keep the whole text in memory.
  return JSON.parse(JSON.stringify(error));
}

/** Why a turn (from 1) failed, from the errors of its session. `undefined`: it did not fail. */
export const endingOfTurn = ({ errors }: ErrorList, turn: number): SessionError | undefined =>
  errors.findLast((error) => error.rank === "ending" && error.turn === turn);

/**
 * Whether a failed turn ended at this part, if no other follows: at the agent's last error after the last call, text or prompt;
 * without one, at the last part, where the record breaks off.
 */
function mayEnd(part: TranscriptPart, before: TranscriptPart | undefined): boolean {
  switch (part.type) {
    case "tool_call":
    case "text":
    case "prompt":
      return true;
    case "thinking":
    case "request":
      return before === undefined || !isAgentError(before);
    default:
      return isAgentError(part);
  }
}

const isAgentError = (part: TranscriptPart): boolean =>
  part.type === "marker" && part.kind === "error" && isError(part);

function resultOf(
  parts: Transcript["parts"],
  part: TranscriptPart,
): TranscriptPartOf<"tool_result"> | undefined {
  const index = part.type === "tool_call" ? part.result_index : undefined;
  const result = index === undefined ? undefined : parts.at(index);
  return result?.type === "tool_result" ? result : undefined;
}

const placeOf = ({ step, at }: TranscriptPart): Pick<SessionError, "step" | "at"> => ({
  ...(step !== undefined && { step }),
  ...(at !== undefined && { at }),
});

function describe(
  part: TranscriptPart,
  result: TranscriptPartOf<"tool_result"> | undefined,
  is_ending: boolean,
): Pick<SessionError, "rank" | "tool_name" | "subject" | "title_code" | "reason" | "exit_code"> {
  const rank = is_ending ? "ending" : "failed";
  switch (part.type) {
    case "tool_call": {
      const reason = isError(part) ? failureLineOf(part, result) : undefined;
      const exit_code = result?.ui_extra?.type === "shell" ? result.ui_extra.exit_code : undefined;
      const isExit = exit_code !== undefined && exit_code !== 0;
      return {
        rank: isExit && !is_ending ? "exit" : rank,
        tool_name: callTool(part),
        subject: callSubject(part, result),
        ...(reason !== undefined && { reason }),
        ...(isExit && { exit_code }),
      };
    }
    case "tool_result": {
      const { tool_name } = part;
      return { rank, ...(tool_name && { tool_name }), subject: failureLine(ownOutput(part)) ?? "" };
    }
    case "marker":
      return {
        rank,
        subject: titleOf(part.title) ?? "",
        ...(part.title_code && { title_code: part.title_code }),
      };
    case "text":
      return { rank, subject: titleOf(part.text) ?? "" };
    case "thinking":
    case "image":
    case "file":
    case "prompt":
    case "step_start":
    case "step_finish":
    case "request":
    case "unknown":
    case "legacy":
      return { rank, subject: "" };
    default:
      return part satisfies never;
  }
}
