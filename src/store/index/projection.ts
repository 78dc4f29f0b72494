import { figuresOf } from "../../model/figures/figures.ts";
import { isByPerson } from "../../model/parts/is-by-person.ts";
import { kindOf, statusOf } from "../../model/parts/part-kinds.ts";
import { searchText } from "../../model/parts/search-text.ts";
import { toolOf } from "../../model/parts/tool-of.ts";
import type { PriceTable } from "../../model/prices/price-table.ts";
import type { SessionSummary } from "../../model/session.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import { turnOfPart } from "../../model/transcript/positions.ts";
import { emptySequence, type Sequence, sequenceOf } from "../../model/transcript/sequence.ts";
import { sourceText } from "../../model/transcript/source-text.ts";
import type { Source, TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import { changedTurns } from "../../model/transcript/transcript-start.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import {
  type IndexedPart,
  type IndexedSession,
  type IndexedStep,
  type IndexedTurn,
  PART_TEXT_LIMIT,
} from "./contract.ts";

/** Share of the limit that is used for the end of a truncated text, where errors usually are. */
const END_SHARE = 1 / 4;

/** Steps are stored without their prices, which change. */
const NO_PRICES: PriceTable = { costOf: () => undefined };

/** The rows of the steps from a part on. */
export function projectSteps(transcript: Transcript, from = 0): IndexedStep[] {
  const turns = sequenceOf(
    transcript.turns.slice(turnOfPart(transcript.turns, from)).flatMap((turn) => turn ?? []),
  );
  const { steps = [] } = figuresOf({ ...transcript, turns }, "all", NO_PRICES) ?? {};
  return steps.flatMap(
    ({ part_id, started_at, ended_at, model, usage, active, calls, failed, inherited }) => {
      const position = positionOf(transcript, part_id);
      if (position === undefined || inherited === true) return [];
      const at = ended_at ?? started_at;
      return [
        {
          seq: position,
          ...(at !== undefined && { at }),
          ...(model !== undefined && { model }),
          // Agents write notes as steps without a model, sometimes when they are resumed after months.
          active: model === undefined && usage === undefined ? 0 : active,
          tool_calls: calls,
          failed,
          ...(usage !== undefined && { usage }),
        },
      ];
    },
  );
}

/** The rows of a transcript: of the parts from `from.parts` on, and of the turns that differ from `from.turns`. */
export function projectTranscript(
  transcript: Transcript,
  from: { parts: number; turns: Sequence<Turn> } = { parts: 0, turns: emptySequence() },
): { parts: IndexedPart[]; turns: IndexedTurn[] } {
  const changed = changedTurns(from.turns, transcript.turns);
  const last = transcript.turns.at(transcript.turns.length - 1);
  // Always includes the last turn, because the number of turns is derived from it.
  if (last !== undefined && changed.at(-1) !== last) changed.push(last);
  const turns = changed.map(projectTurn);
  const parts = transcript.parts.slice(from.parts).flatMap((part, at) => {
    const seq = from.parts + at;
    return part ? [projectPart(part, seq, turnOfPart(transcript.turns, seq), transcript)] : [];
  });
  return { parts, turns };
}

function projectTurn(turn: Turn): IndexedTurn {
  return {
    index: turn.index,
    id: turn.id,
    first_seq: turn.first_part,
    status: turn.status,
    steps: turn.steps,
    tool_calls: turn.tool_calls,
    errors: turn.errors,
    ...(turn.title !== undefined && { title: turn.title }),
    ...(turn.started_at !== undefined && { started_at: turn.started_at }),
    ...(turn.ended_at !== undefined && { ended_at: turn.ended_at }),
    ...(turn.model !== undefined && { model: turn.model }),
  };
}

/** The row of a part. */
export function projectPart(
  part: TranscriptPart,
  seq: number,
  turn: number,
  transcript: Pick<Transcript, "parts">,
): IndexedPart {
  const { text, full_length } = indexedText(searchText(part));
  const row: IndexedPart = { seq, id: part.id, kind: kindOf(part), turn, text };
  if (full_length !== undefined) row.full_length = full_length;
  if (part.step !== undefined) row.step = part.step;
  if (part.at !== undefined) row.started_at = part.at;
  if (part.source) placeIn(row, part.source);
  const tool = toolOf(part, (index) => transcript.parts.at(index));
  if (tool !== undefined) row.tool = tool;
  const status = statusOf(part);
  if (status !== undefined) row.status = status;
  if (isByPerson(part)) row.mine = true;
  const ended_at = endOf(part);
  if (ended_at !== undefined) row.ended_at = ended_at;
  if (part.type === "step_finish" && part.tokens) row.tokens = part.tokens.input + part.tokens.output;
  return row;
}

function placeIn(row: IndexedPart, source: Source): void {
  if (!("kind" in source)) {
    row.line = source.line;
    row.byte = source.byte;
    return;
  }
  row.record = sourceText(source);
}

/** The row of a session. */
export function projectSession(row: SessionSummary): IndexedSession {
  const title = row.title ?? row.first_prompt ?? row.run?.task ?? row.run?.name;
  return {
    id: row.id,
    agent: row.agent,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    ...(row.model !== undefined && { model: row.model }),
    is_run: row.parent !== undefined,
    ...(row.started_at !== undefined && { started_at: row.started_at }),
    last_activity_at: row.last_activity_at,
  };
}

/** The indexed text: for a long text, its beginning and end joined by a line. */
function indexedText(text: string): { text: string; full_length?: number } {
  if (text.length <= PART_TEXT_LIMIT) return { text };
  const end = Math.floor(PART_TEXT_LIMIT * END_SHARE);
  const cut = `${text.slice(0, PART_TEXT_LIMIT - end).toWellFormed()}\n${text.slice(-end).toWellFormed()}`;
  return { text: cut, full_length: text.length };
}

function endOf(part: TranscriptPart): number | undefined {
  switch (part.type) {
    case "thinking":
    case "text":
      return part.ended_at;
    case "request":
      return part.closed_at;
    case "tool_call":
      return "time" in part.state && "end" in part.state.time ? part.state.time.end : undefined;
    default:
      return undefined;
  }
}
