import type { Frame, FrameOf } from "../frames/frame.ts";
import { promptTitle, shorten, titleOf } from "../parts/content.ts";
import { countUsage } from "../usage.ts";
import { partId } from "../uuid.ts";
import { ERROR } from "./fold/fold.ts";
import { resultStatus } from "./fold/result-status.ts";
import {
  act,
  addBefore,
  addMarker,
  addPart,
  addSeparator,
  countedFacts,
  endBare,
  endMessage,
  ensureTurn,
  enterTurn,
  failed,
  isNew,
  type Named,
  NOTHING,
  openTurn,
  type PendingRow,
  ROW_TEXT_LIMIT,
  remember,
} from "./pending-row.ts";

/** The maximum path length of the system. */
const PATH_LIMIT = 4_096;

/** Counts a frame in its session's row. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with a case of few lines for each type of frame
export function count(pending: PendingRow, frame: Frame): void {
  const { summary } = pending;
  switch (frame.type) {
    case "message.start":
      countStart(pending, frame);
      return;
    case "message.part_start":
      countPartStart(pending, frame);
      return;
    case "message.delta":
      countDelta(pending, frame.kind, frame.text, frame.part_id);
      return;
    case "message.part_end":
      countPartEnd(pending, frame);
      return;
    case "message.tool_call_start":
    case "message.tool_call":
      countCall(pending, frame);
      summary.activity = titleOf(frame.tool_name) ?? shorten(frame.tool_name, ROW_TEXT_LIMIT);
      return;
    case "message.tool_progress":
      return;
    case "message.tool_result":
      countResult(pending, frame);
      return;
    case "message.image":
    case "message.file":
      act(pending);
      if (isNew(pending, `part ${frame.part_id}`)) addPart(pending);
      return;
    case "message.end":
      countEnd(pending, frame);
      return;
    case "message.legacy":
      countLegacy(pending, frame);
      return;
    case "user.message":
      countPrompt(pending, frame);
      return;
    case "developer.message":
      if (isNew(pending, `prompt ${frame.part_id ?? frame.message_id}`)) addMarker(pending, "context");
      return;
    case "marker":
      if (isNew(pending, `part ${frame.part_id}`)) {
        addMarker(pending, frame.kind);
        if (frame.kind === "error") failed(pending, frame.part_id, frame.message_id);
      }
      return;
    case "request.open":
      if (isNew(pending, `part ${frame.request.request_id}`)) {
        ensureTurn(pending);
        addPart(pending);
      }
      return;
    case "unknown":
      if (isNew(pending, `part ${frame.part_id}`)) {
        ensureTurn(pending);
        addBefore(pending, frame, addPart);
      }
      return;
    case "error":
      if (frame.part_id === undefined || isNew(pending, `part ${frame.part_id}`)) {
        addMarker(pending);
        failed(pending, frame.part_id);
      }
      return;
    case "interrupt":
      interrupt(pending);
      return;
    case "turn.start":
      delete pending.summary.end_inferred;
      if (isNew(pending, `turn ${frame.turn_id}`)) openTurn(pending);
      else act(pending);
      return;
    case "turn.end":
      countTurnEnd(pending, frame);
      return;
    case "task.start":
      if (frame.tool_call_id !== undefined && frame.sub_agent !== undefined) {
        if (isNew(pending, `run ${frame.sub_agent.session_id}`)) summary.runs += 1;
      }
      return;
    case "session.update":
      pending.summary = { ...summary, ...shortened(frame.patch) };
      if (frame.patch.cwd !== undefined) pending.summary.cwd = shorten(frame.patch.cwd, PATH_LIMIT);
      return;
    case "end":
      endChannel(pending);
      return;
    case "message.retract":
      retract(pending, frame);
      return;
    // These do not change the row.
    case "message.record":
    case "turn.retract":
    case "request.close":
    case "todo.change":
    case "task.finish":
    case "task.metadata":
    case "context.usage":
      return;
    default:
      frame satisfies never;
  }
}

function countStart(pending: PendingRow, frame: FrameOf<"message.start">): void {
  const { summary } = pending;
  act(pending);
  if (frame.model !== undefined) summary.model = shorten(frame.model, ROW_TEXT_LIMIT);
  // A repeat for the open message ends nothing.
  if (pending.progress.message_id !== frame.message_id) endBare(pending);
  pending.progress.message_id = frame.message_id;
  if (countedFacts(pending, `message ${frame.message_id}`) === undefined) {
    const inherited = frame.inherited === true;
    remember(pending, `message ${frame.message_id}`, { inherited });
    // A copy is counted in the original session.
    if (!inherited) summary.steps += 1;
    addBefore(pending, { type: "step_start" }, addSeparator);
  }
}

function countPartStart(pending: PendingRow, frame: FrameOf<"message.part_start">): void {
  const { summary } = pending;
  act(pending);
  if (isNew(pending, `part ${frame.part_id}`)) {
    addPart(pending);
    pending.progress.bounded = frame.kind;
  }
  summary.activity = frame.kind;
}

function countPartEnd(pending: PendingRow, frame: FrameOf<"message.part_end">): void {
  pending.progress.bounded = undefined;
  if (frame.text !== undefined || frame.signature !== undefined || frame.hidden !== undefined) {
    if (isNew(pending, `part ${frame.part_id}`)) {
      act(pending);
      addPart(pending);
    }
  }
}

function countLegacy(pending: PendingRow, frame: FrameOf<"message.legacy">): void {
  const { summary } = pending;
  if (frame.message.role === "user") {
    summary.first_prompt ??= titleOf(frame.message.content) ?? "";
    if (isNew(pending, `message ${frame.message.id}`)) enterTurn(pending);
    else return;
  } else {
    act(pending);
    if (!isNew(pending, `message ${frame.message.id}`)) return;
  }
  addPart(pending);
}

function countPrompt(pending: PendingRow, frame: FrameOf<"user.message">): void {
  const { summary } = pending;
  const title = promptTitle(frame.parts);
  // The task of a run is not typed by a person. An agent's command runs a prompt, a shell command does not.
  const asks =
    frame.origin === undefined ||
    (frame.origin === "agent" && summary.run !== undefined) ||
    (frame.origin === "command" && title?.startsWith("/") === true);
  if (summary.first_prompt === undefined && title !== undefined && asks) summary.first_prompt = title;
  if (!isNew(pending, `prompt ${frame.part_id ?? frame.message_id}`)) return;
  if (frame.queued === true) {
    ensureTurn(pending);
    delete summary.activity;
  } else enterTurn(pending);
  addPart(pending);
}

function countTurnEnd(pending: PendingRow, frame: FrameOf<"turn.end">): void {
  const { summary } = pending;
  if (pending.progress.turn_open || frame.status !== undefined) {
    summary.status = frame.status ?? pending.progress.outcome ?? "completed";
  }
  if (frame.inferred === true && frame.status === "failed") summary.end_inferred = true;
  else delete summary.end_inferred;
  endMessage(pending);
  pending.progress.turn_open = summary.status === "running";
}

function endChannel(pending: PendingRow): void {
  const { summary } = pending;
  endMessage(pending);
  if (pending.progress.turn_open) {
    summary.status = pending.progress.outcome ?? "completed";
    pending.progress.turn_open = false;
  }
}

function countDelta(
  pending: PendingRow,
  kind: "text" | "thinking",
  text: string,
  part_id: string | undefined,
): void {
  if (text === "") return;
  if (part_id !== undefined) {
    if (countedFacts(pending, `part ${part_id}`) !== undefined) return;
    act(pending);
    remember(pending, `part ${part_id}`);
    addPart(pending);
    pending.progress.bounded = kind;
  } else if (pending.progress.bare !== kind) {
    if (pending.progress.bounded === kind) return;
    act(pending);
    addPart(pending);
    pending.progress.bare = kind;
  }
  pending.summary.activity = kind;
}

/** As in the transcript, the same id in a later turn and another message is another call. */
function countCall(
  pending: PendingRow,
  frame: Extract<Frame, { type: "message.tool_call_start" | "message.tool_call" }>,
): void {
  const { tool_call_id, part_id, message_id = pending.progress.message_id } = frame;
  const known = countedFacts(pending, `call ${tool_call_id}`);
  if (known !== undefined) {
    if (known.turn === pending.summary.turns) return;
    if (message_id !== undefined && known.message_id === message_id) return;
  }
  act(pending);
  addPart(pending);
  const message = message_id === undefined ? undefined : countedFacts(pending, `message ${message_id}`);
  if (message?.inherited !== true) pending.summary.tool_calls += 1;
  const turn = pending.summary.turns;
  const alone = `result ${tool_call_id} of no call`;
  const orphan = known === undefined ? countedFacts(pending, alone) : undefined;
  remember(pending, `call ${tool_call_id}`, { failed: false, turn, message_id, part_id });
  if (orphan?.turn !== turn) return;
  remember(pending, `result ${tool_call_id} of ${turn}`, { ...orphan, message_id, part_id });
  remember(pending, alone);
}

function countResult(pending: PendingRow, frame: Extract<Frame, { type: "message.tool_result" }>): void {
  const { summary } = pending;
  const { tool_call_id } = frame;
  const call = countedFacts(pending, `call ${tool_call_id}`);
  const key = `result ${tool_call_id} of ${call?.turn ?? "no call"}`;
  const before = countedFacts(pending, key);
  if (before === undefined) {
    ensureTurn(pending);
    addPart(pending);
    delete summary.activity;
  }
  const withdrawn = before?.withdrawn === true || call?.withdrawn === true;
  const failed = resultStatus(frame) === "error" && !withdrawn;
  summary.errors += (failed ? 1 : 0) - (before?.failed === true ? 1 : 0);
  const { message_id, part_id } = call ?? NOTHING;
  const { turn = summary.turns, own = { message_id: frame.message_id, part_id: frame.part_id } } =
    before ?? NOTHING;
  remember(pending, key, { failed, turn, message_id, part_id, own, withdrawn });
}

function countEnd(pending: PendingRow, frame: Extract<Frame, { type: "message.end" }>): void {
  const { summary } = pending;
  endBare(pending);
  const key = `end ${frame.message_id}`;
  const before = countedFacts(pending, key);
  if (before === undefined) {
    ensureTurn(pending);
    addBefore(pending, { type: "step_finish" }, addSeparator);
  }
  const usage = frame.usage ?? before?.usage;
  const stop_reason = frame.stop_reason ?? before?.stop_reason;
  if (frame.usage !== undefined) summary.usage = countUsage(summary.usage, before?.usage, frame.usage);
  remember(pending, key, { stop_reason, usage });
  if (pending.progress.message_id === frame.message_id) pending.progress.message_id = undefined;
  const error_id = partId(frame.message_id, ERROR);
  if (frame.error !== undefined && isNew(pending, `part ${error_id}`)) {
    addMarker(pending);
    failed(pending, error_id, frame.message_id);
  }
  if (stop_reason === "error" && before?.stop_reason !== "error") {
    pending.progress.outcome = "failed";
    delete summary.activity;
  }
  if (stop_reason === "aborted" && before?.stop_reason !== "aborted") interrupt(pending);
  // A text as the last output is kept: if no end of the turn is recorded, it implies one.
  if (summary.activity !== "text") delete summary.activity;
}

/** Removes the errors of what was retracted. */
function retract(pending: PendingRow, frame: Extract<Frame, { type: "message.retract" }>): void {
  // An error is a message of its own, even if it is retracted together with another message.
  const isRetracted = ({ message_id, part_id }: Named): boolean =>
    frame.part_id === undefined ? message_id === frame.message_id : part_id === frame.part_id;
  for (const [key, facts] of new Map([...pending.progress.earlier, ...pending.progress.latest])) {
    if (facts.failed === undefined) continue;
    if (!isRetracted(facts) && (facts.own === undefined || !isRetracted(facts.own))) continue;
    if (facts.failed) pending.summary.errors -= 1;
    remember(pending, key, { ...facts, failed: false, withdrawn: true });
  }
}

function interrupt(pending: PendingRow): void {
  ensureTurn(pending);
  if (pending.progress.outcome === "interrupted") return;
  const { message_id } = pending.progress;
  if (message_id !== undefined && countedFacts(pending, `end ${message_id}`) === undefined) {
    remember(pending, `end ${message_id}`, { stop_reason: "aborted" });
    addPart(pending);
  }
  addPart(pending);
  endMessage(pending);
  pending.progress.turn_open = false;
  pending.progress.outcome = "interrupted";
  pending.summary.status = "interrupted";
}

/** Truncates all texts in a value, also in unknown fields. */
function shortened<Value>(value: Value): Value {
  // The casts are safe: truncation does not change types.
  if (typeof value === "string") return shorten(value, ROW_TEXT_LIMIT) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(shortened) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)])) as Value;
}
