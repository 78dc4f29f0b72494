import type { TextCode } from "../text/coded-text.ts";
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

/** Lists the errors of a complete transcript: those counted by its turns and, for a failed turn, the part at which it ended. */
export function errorsOf({ parts, turns }: Pick<Transcript, "parts" | "turns">): ErrorList {
  const errors: SessionError[] = [];
  let count = 0;
  for (const turn of turns) {
    if (turn === undefined || (turn.errors === 0 && turn.status !== "failed")) continue;
    const ending = turn.status === "failed" ? endingIndex(parts, turn) : undefined;
    for (let index = turn.first_part; index < turn.first_part + turn.part_count; index += 1) {
      const part = parts.at(index);
      if (part === undefined || (index !== ending && !isError(part))) continue;
      count += 1;
      // The part that ended a turn is never left out, because the page links to it.
      if (count > LIMIT && index !== ending) continue;
      const result = part.type === "tool_call" ? resultOf(parts, part) : undefined;
      const about = { index, part_id: part.id, turn: turn.index + 1, ...placeOf(part) };
      const cut_off = index === ending && !isError(part);
      const noEnd = index === ending && turn.no_end === true ? ({ no_end: true } as const) : undefined;
      errors.push({
        ...about,
        ...describe(part, result, index === ending),
        ...(cut_off && { cut_off }),
        ...noEnd,
      });
    }
  }
  return { errors, more: count - errors.length };
}

/** Why a turn (from 1) failed, from the errors of its session. `undefined`: it did not fail. */
export const endingOfTurn = ({ errors }: ErrorList, turn: number): SessionError | undefined =>
  errors.findLast((error) => error.rank === "ending" && error.turn === turn);

/** The agent's last error after the last call of a failed turn. Without one, the last part, where the record breaks off. */
function endingIndex(parts: Transcript["parts"], turn: Turn): number | undefined {
  const end = turn.first_part + turn.part_count;
  let last: number | undefined;
  for (let index = end - 1; index >= turn.first_part; index -= 1) {
    const part = parts.at(index);
    if (part === undefined) continue;
    if (part.type === "marker" && part.kind === "error" && isError(part)) return index;
    if (part.type === "tool_call" || part.type === "text" || part.type === "prompt") return last ?? index;
    if (part.type === "thinking" || part.type === "request") last ??= index;
  }
  return last;
}

function resultOf(
  parts: Transcript["parts"],
  { result_index }: TranscriptPartOf<"tool_call">,
): TranscriptPartOf<"tool_result"> | undefined {
  const result = result_index === undefined ? undefined : parts.at(result_index);
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
