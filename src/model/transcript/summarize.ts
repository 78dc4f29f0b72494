import type { Frame } from "../frames/frame.ts";
import type { StopReason, Usage } from "../messages/message.ts";
import { promptTitle, shorten, titleOf } from "../parts/content.ts";
import type { SessionSummary } from "../session.ts";
import { countUsage } from "../usage.ts";
import { partId } from "../uuid.ts";
import { ERROR, isPreamble } from "./fold/fold.ts";
import { resultStatus } from "./fold/result-status.ts";
import type { MarkerKind } from "./transcript.ts";

/** Identifies what a call, its result or an error is retracted with. */
interface Named {
  readonly message_id?: string | undefined;
  readonly part_id?: string | undefined;
}
/** What is known about something that was counted. */
interface Facts extends Named {
  readonly usage?: Usage | undefined;
  readonly failed?: boolean;
  /** For a call, and a result without one: its turn and the call's message. */
  readonly turn?: number;
  /** For a message: it is a copy, which is counted elsewhere. */
  readonly inherited?: boolean;
  /** For the end of a message. */
  readonly stop_reason?: StopReason | undefined;
  /** For a result: what it is retracted with, if not with its call. */
  readonly own?: Named;
  readonly withdrawn?: boolean;
}
const NOTHING: Facts = {};

/**
 * Internal state of a summary. It is stored under a symbol, so that it is copied when a summary is spread, but neither sent nor
 * stored. The state of a returned summary is not modified.
 */
interface Progress {
  /** What was counted recently, so that it is counted only once. `earlier` has the entries before `latest` was full. */
  latest: ReadonlyMap<string, Facts>;
  earlier: ReadonlyMap<string, Facts>;
  turn_open: boolean;
  turn_empty: boolean;
  message_id: string | undefined;
  /** The kind of the growing part that was opened by a delta without a part id. */
  bare: "text" | "thinking" | undefined;
  /** The kind of the part between its start and its end. A delta without a part id belongs to it. */
  bounded: "text" | "thinking" | undefined;
  outcome: "failed" | "interrupted" | undefined;
}
const PROGRESS = Symbol("progress");
type Summarizing = SessionSummary & { readonly [PROGRESS]?: Progress };

/** Maximum length of a row's texts, in UTF-16 code units. A changed row is sent whole to every page. */
export const ROW_TEXT_LIMIT = 1_000;
/** The maximum path length of the system. */
const PATH_LIMIT = 4_096;

/** Number of recent entries in which repeats are recognized. Repeats come soon after the original. */
const MAX_REMEMBERED = 128;

function remember(pending: PendingRow, key: string, facts: Facts = NOTHING): void {
  const { progress } = pending;
  if (progress.latest.size >= MAX_REMEMBERED) {
    progress.earlier = progress.latest;
    pending.latest = new Map();
  }
  pending.latest ??= new Map(progress.latest);
  progress.latest = pending.latest.set(key, facts);
}

function recall({ progress }: PendingRow, key: string): Facts | undefined {
  return progress.latest.get(key) ?? progress.earlier.get(key);
}

/** The row of a session that has not been read. `at`: milliseconds since 1970. */
export function emptySummary(id: string, agent: string, at: number): SessionSummary {
  return {
    id,
    agent,
    status: "completed",
    last_activity_at: at,
    turns: 0,
    steps: 0,
    tool_calls: 0,
    errors: 0,
    parts: 0,
    runs: 0,
    byte_size: 0,
  };
}

/**
 * Folds a frame into the session's row, without a transcript: the cost does not depend on the session's length. A message's
 * usage, a call and a result are counted once, as long as a repeat comes within the next 128 such entries. `status`: the status
 * of the last turn by its frames; the daemon may override it.
 */
export function summarize(summary: SessionSummary, frame: Frame): SessionSummary {
  return summarizeAll(summary, [frame]);
}

/** Like `summarize` for several frames, but creates only one new row. */
export function summarizeAll(summary: SessionSummary, frames: readonly Frame[]): SessionSummary {
  let pending: PendingRow | undefined;
  for (const frame of frames) {
    if (frame.session_id !== summary.id) continue;
    pending ??= {
      summary: { ...summary },
      // The public type does not include the internal state.
      progress: { ...((summary as Summarizing)[PROGRESS] ?? beginning(summary)) },
      latest: undefined,
    };
    pending.summary.last_activity_at = Math.max(pending.summary.last_activity_at, frame.at);
    if (frame.at > 0) pending.summary.started_at ??= frame.at;
    count(pending, frame);
    if (pending.summary.status !== "running") delete pending.summary.activity;
  }
  if (!pending) return summary;
  const next: Summarizing = { ...pending.summary, [PROGRESS]: pending.progress };
  return next;
}

/**
 * A stored row that continues at the end of `counted`, a summary of the records before that point. `counted` provides the
 * internal state, so that repeats are recognized and open parts are open.
 */
export function resumeSummary(row: SessionSummary, counted: SessionSummary): SessionSummary {
  const { [PROGRESS]: progress }: Summarizing = counted;
  if (progress === undefined) return row;
  // The row tells whether the turn had ended, which may have been inferred from a quiet file.
  const resumed: Summarizing = { ...row, [PROGRESS]: { ...progress, turn_open: row.status === "running" } };
  return resumed;
}

/** A summary that is being updated in place. */
interface PendingRow {
  summary: SessionSummary;
  progress: Progress;
  /** A copy of `progress.latest` owned by this summary, once it was modified. */
  latest: Map<string, Facts> | undefined;
}

function beginning(summary: SessionSummary): Progress {
  return {
    latest: new Map(),
    earlier: new Map(),
    turn_open: summary.status === "running",
    turn_empty: false,
    message_id: undefined,
    bare: undefined,
    bounded: undefined,
    outcome: undefined,
  };
}

function count(pending: PendingRow, frame: Frame): void {
  const { summary } = pending;
  switch (frame.type) {
    case "message.start":
      act(pending);
      if (frame.model !== undefined) summary.model = shorten(frame.model, ROW_TEXT_LIMIT);
      // A repeat for the open message ends nothing.
      if (pending.progress.message_id !== frame.message_id) endBare(pending);
      pending.progress.message_id = frame.message_id;
      if (recall(pending, `message ${frame.message_id}`) === undefined) {
        const inherited = frame.inherited === true;
        remember(pending, `message ${frame.message_id}`, { inherited });
        // A copy is counted in the original session.
        if (!inherited) summary.steps += 1;
        addBefore(pending, { type: "step_start" }, addSeparator);
      }
      return;
    case "message.part_start":
      act(pending);
      if (isNew(pending, `part ${frame.part_id}`)) {
        addPart(pending);
        pending.progress.bounded = frame.kind;
      }
      summary.activity = frame.kind;
      return;
    case "message.delta":
      countDelta(pending, frame.kind, frame.text, frame.part_id);
      return;
    case "message.part_end":
      pending.progress.bounded = undefined;
      if (frame.text !== undefined || frame.signature !== undefined || frame.hidden !== undefined) {
        if (isNew(pending, `part ${frame.part_id}`)) {
          act(pending);
          addPart(pending);
        }
      }
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
      if (frame.message.role === "user") {
        summary.first_prompt ??= titleOf(frame.message.content) ?? "";
        if (isNew(pending, `message ${frame.message.id}`)) enterTurn(pending);
        else return;
      } else {
        act(pending);
        if (!isNew(pending, `message ${frame.message.id}`)) return;
      }
      addPart(pending);
      return;
    case "user.message": {
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
      return;
    }
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
      if (isNew(pending, `turn ${frame.turn_id}`)) openTurn(pending);
      else act(pending);
      return;
    case "turn.end":
      if (pending.progress.turn_open || frame.status !== undefined) {
        summary.status = frame.status ?? pending.progress.outcome ?? "completed";
      }
      endMessage(pending);
      pending.progress.turn_open = summary.status === "running";
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
      endMessage(pending);
      if (pending.progress.turn_open) {
        summary.status = pending.progress.outcome ?? "completed";
        pending.progress.turn_open = false;
      }
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

/** Truncates all texts in a value, also in unknown fields. */
function shortened<Value>(value: Value): Value {
  // The casts are safe: truncation does not change types.
  if (typeof value === "string") return shorten(value, ROW_TEXT_LIMIT) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(shortened) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)])) as Value;
}

function isNew(pending: PendingRow, key: string): boolean {
  if (recall(pending, key) !== undefined) return false;
  remember(pending, key);
  return true;
}

function openTurn(pending: PendingRow): void {
  pending.summary.turns += 1;
  pending.summary.status = "running";
  delete pending.summary.activity;
  const { progress } = pending;
  progress.turn_open = true;
  progress.turn_empty = true;
  progress.outcome = undefined;
  endMessage(pending);
}

function enterTurn(pending: PendingRow): void {
  if (!(pending.progress.turn_open && pending.progress.turn_empty)) openTurn(pending);
}

function ensureTurn(pending: PendingRow): void {
  if (pending.summary.turns === 0) openTurn(pending);
}

/** Marks the turn as running because of the agent's activity. */
function act(pending: PendingRow): void {
  ensureTurn(pending);
  if (pending.progress.turn_open) return;
  pending.summary.status = "running";
  pending.progress.outcome = undefined;
  pending.progress.turn_open = true;
}

function addPart(pending: PendingRow): void {
  pending.summary.parts += 1;
  const { progress } = pending;
  progress.bare = undefined;
  if (progress.turn_open) progress.outcome = undefined;
  progress.turn_empty = false;
}

/** Counts a part that does not change the status: an error before it is still the last one. */
function addSeparator(pending: PendingRow): void {
  const { outcome } = pending.progress;
  addPart(pending);
  pending.progress.outcome = outcome;
}

function addMarker(pending: PendingRow, kind?: MarkerKind): void {
  ensureTurn(pending);
  addBefore(pending, { type: "marker", ...(kind !== undefined && { kind }) }, addSeparator);
}

/** Counts a part after which the prompt of the turn may still follow. */
function addBefore(
  pending: PendingRow,
  part: Parameters<typeof isPreamble>[0],
  add: (pending: PendingRow) => void,
): void {
  const { turn_empty } = pending.progress;
  add(pending);
  if (isPreamble(part)) pending.progress.turn_empty = turn_empty;
}

/** `message_id`: the message of an error's part, unless the error is a message itself. */
function failed(pending: PendingRow, part_id: string | undefined, message_id = part_id): void {
  pending.summary.errors += 1;
  pending.progress.outcome = "failed";
  // The last activity is the error.
  delete pending.summary.activity;
  if (part_id !== undefined) remember(pending, `part ${part_id}`, { failed: true, message_id, part_id });
}

/** Removes the errors of what was retracted. */
function retract(pending: PendingRow, frame: Extract<Frame, { type: "message.retract" }>): void {
  // An error has a message of its own, whatever message it is retracted with.
  const isMeant = ({ message_id, part_id }: Named): boolean =>
    frame.part_id === undefined ? message_id === frame.message_id : part_id === frame.part_id;
  for (const [key, facts] of new Map([...pending.progress.earlier, ...pending.progress.latest])) {
    if (facts.failed === undefined) continue;
    if (!isMeant(facts) && (facts.own === undefined || !isMeant(facts.own))) continue;
    if (facts.failed) pending.summary.errors -= 1;
    remember(pending, key, { ...facts, failed: false, withdrawn: true });
  }
}

function interrupt(pending: PendingRow): void {
  ensureTurn(pending);
  if (pending.progress.outcome === "interrupted") return;
  const { message_id } = pending.progress;
  if (message_id !== undefined && recall(pending, `end ${message_id}`) === undefined) {
    remember(pending, `end ${message_id}`, { stop_reason: "aborted" });
    addPart(pending);
  }
  addPart(pending);
  endMessage(pending);
  pending.progress.turn_open = false;
  pending.progress.outcome = "interrupted";
  pending.summary.status = "interrupted";
}

/** Output without a message id after this belongs to no earlier message. */
function endMessage(pending: PendingRow): void {
  endBare(pending);
  pending.progress.message_id = undefined;
}

function endBare(pending: PendingRow): void {
  pending.progress.bare = undefined;
  pending.progress.bounded = undefined;
}

function countDelta(
  pending: PendingRow,
  kind: "text" | "thinking",
  text: string,
  part_id: string | undefined,
): void {
  if (text === "") return;
  if (part_id !== undefined) {
    if (recall(pending, `part ${part_id}`) !== undefined) return;
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
  const known = recall(pending, `call ${tool_call_id}`);
  if (known !== undefined) {
    if (known.turn === pending.summary.turns) return;
    if (message_id !== undefined && known.message_id === message_id) return;
  }
  act(pending);
  addPart(pending);
  const message = message_id === undefined ? undefined : recall(pending, `message ${message_id}`);
  if (message?.inherited !== true) pending.summary.tool_calls += 1;
  const turn = pending.summary.turns;
  const alone = `result ${tool_call_id} of no call`;
  const orphan = known === undefined ? recall(pending, alone) : undefined;
  remember(pending, `call ${tool_call_id}`, { failed: false, turn, message_id, part_id });
  if (orphan?.turn !== turn) return;
  remember(pending, `result ${tool_call_id} of ${turn}`, { ...orphan, message_id, part_id });
  remember(pending, alone);
}

function countResult(pending: PendingRow, frame: Extract<Frame, { type: "message.tool_result" }>): void {
  const { summary } = pending;
  const { tool_call_id } = frame;
  const call = recall(pending, `call ${tool_call_id}`);
  const key = `result ${tool_call_id} of ${call?.turn ?? "no call"}`;
  const before = recall(pending, key);
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
  const before = recall(pending, key);
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
