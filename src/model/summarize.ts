import { promptTitle, shorten, titleOf } from "./content.ts";
import { ERROR, isPreamble } from "./fold/fold.ts";
import type { Frame } from "./frame.ts";
import type { StopReason, Usage } from "./message.ts";
import type { SessionSummary } from "./session.ts";
import { resultStatus } from "./tool-state.ts";
import type { MarkerKind } from "./transcript.ts";
import { countUsage } from "./usage.ts";
import { partId } from "./uuid.ts";

/** Of a call, of its result and of an error: what it is withdrawn with. */
interface Named {
  readonly message_id?: string | undefined;
  readonly part_id?: string | undefined;
}
/** What is known of a thing that was counted. */
interface Facts extends Named {
  readonly usage?: Usage | undefined;
  readonly failed?: boolean;
  /** Of a call, and of a result without one: the turn that it came in, and the call's message. */
  readonly turn?: number;
  /** Of a message's end. */
  readonly stop_reason?: StopReason | undefined;
  /** Of a result: what it is withdrawn with where that is not its call. */
  readonly own?: Named;
  readonly withdrawn?: boolean;
}
const NOTHING: Facts = {};

/**
 * What a summary knows beside what it shows. It is kept under a symbol, so that it goes along when a summary is spread
 * into another, and never onto the wire or into the store. Of a summary that was given out nothing changes any more.
 */
interface Progress {
  /** What was counted last, so that it is counted once; `earlier` is what stood there until it was full. */
  latest: ReadonlyMap<string, Facts>;
  earlier: ReadonlyMap<string, Facts>;
  turn_open: boolean;
  turn_empty: boolean;
  message_id: string | undefined;
  /** The kind of the part that a delta without a part opened, while it grows. */
  bare: "text" | "thinking" | undefined;
  /** The kind of the part between its start and its end: a delta without a part belongs to it. */
  bounded: "text" | "thinking" | undefined;
  outcome: "failed" | "interrupted" | undefined;
}
const PROGRESS = Symbol("progress");
type Summarizing = SessionSummary & { readonly [PROGRESS]?: Progress };

/** What a text of a row is cut to, in UTF-16 code units: with each of its changes a row goes whole to every page. */
export const ROW_TEXT_LIMIT = 1_000;
/** Longer paths the system does not take. */
const PATH_LIMIT = 4_096;

/** Repeats come soon after the first: this many things back they are still known as such. */
const REMEMBERED = 128;

function remember(draft: Draft, key: string, facts: Facts = NOTHING): void {
  const { progress } = draft;
  if (progress.latest.size >= REMEMBERED) {
    progress.earlier = progress.latest;
    draft.latest = new Map();
  }
  draft.latest ??= new Map(progress.latest);
  progress.latest = draft.latest.set(key, facts);
}

function recall({ progress }: Draft, key: string): Facts | undefined {
  return progress.latest.get(key) ?? progress.earlier.get(key);
}

/** The row of a session of which nothing has been read. `at`: milliseconds since 1970. */
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
 * Folds a frame into the session's row, without a transcript: the cost does not depend on the session's length. A
 * message's usage, a call, a result are counted once however often they are sent, as long as the repeat comes within the
 * next 128 such things. `status` is how the last turn stands by its frames; the daemon may know better.
 */
export function summarize(summary: SessionSummary, frame: Frame): SessionSummary {
  return summarizeAll(summary, [frame]);
}

/** As `summarize` of one frame after the other; makes one new row instead of one for each. */
export function summarizeAll(summary: SessionSummary, frames: readonly Frame[]): SessionSummary {
  let draft: Draft | undefined;
  for (const frame of frames) {
    if (frame.session_id !== summary.id) continue;
    draft ??= {
      summary: { ...summary },
      // The type of a summary hides what this module keeps with it.
      progress: { ...((summary as Summarizing)[PROGRESS] ?? beginning(summary)) },
      latest: undefined,
    };
    draft.summary.last_activity_at = Math.max(draft.summary.last_activity_at, frame.at);
    if (frame.at > 0) draft.summary.started_at ??= frame.at;
    count(draft, frame);
    if (draft.summary.status !== "running") delete draft.summary.activity;
  }
  if (!draft) return summary;
  const next: Summarizing = { ...draft.summary, [PROGRESS]: draft.progress };
  return next;
}

/**
 * The row as it was kept, going on from where `counted` ends, in which what stands before that was counted once more: what
 * comes again is known to it, and what was left open there is open.
 */
export function resumeSummary(row: SessionSummary, counted: SessionSummary): SessionSummary {
  const { [PROGRESS]: progress }: Summarizing = counted;
  if (progress === undefined) return row;
  // Whether the turn had ended the row says: a quiet file may have told it.
  const resumed: Summarizing = { ...row, [PROGRESS]: { ...progress, turn_open: row.status === "running" } };
  return resumed;
}

/** A summary that is being made: all of it may be changed. */
interface Draft {
  summary: SessionSummary;
  progress: Progress;
  /** `progress.latest`, once it is a copy of this summary's own. */
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

function count(draft: Draft, frame: Frame): void {
  const { summary } = draft;
  switch (frame.type) {
    case "message.start":
      act(draft);
      if (frame.model !== undefined) summary.model = shorten(frame.model, ROW_TEXT_LIMIT);
      // Sent again while it is open, it ends nothing.
      if (draft.progress.message_id !== frame.message_id) endBare(draft);
      draft.progress.message_id = frame.message_id;
      if (isNew(draft, `message ${frame.message_id}`)) {
        summary.steps += 1;
        addBefore(draft, { type: "step_start" }, addSeparator);
      }
      return;
    case "message.part_start":
      act(draft);
      if (isNew(draft, `part ${frame.part_id}`)) {
        addPart(draft);
        draft.progress.bounded = frame.kind;
      }
      summary.activity = frame.kind;
      return;
    case "message.delta":
      countDelta(draft, frame.kind, frame.text, frame.part_id);
      return;
    case "message.part_end":
      draft.progress.bounded = undefined;
      if (frame.text !== undefined || frame.signature !== undefined || frame.hidden !== undefined) {
        if (isNew(draft, `part ${frame.part_id}`)) {
          act(draft);
          addPart(draft);
        }
      }
      return;
    case "message.tool_call_start":
    case "message.tool_call":
      countCall(draft, frame);
      summary.activity = titleOf(frame.tool_name) ?? shorten(frame.tool_name, ROW_TEXT_LIMIT);
      return;
    case "message.tool_progress":
      return;
    case "message.tool_result":
      countResult(draft, frame);
      return;
    case "message.image":
    case "message.file":
      act(draft);
      if (isNew(draft, `part ${frame.part_id}`)) addPart(draft);
      return;
    case "message.end":
      countEnd(draft, frame);
      return;
    case "message.legacy":
      if (frame.message.role === "user") {
        summary.first_prompt ??= titleOf(frame.message.content) ?? "";
        if (isNew(draft, `message ${frame.message.id}`)) enterTurn(draft);
        else return;
      } else {
        act(draft);
        if (!isNew(draft, `message ${frame.message.id}`)) return;
      }
      addPart(draft);
      return;
    case "user.message": {
      const title = promptTitle(frame.parts);
      // No person types what a run is started for. A command of the agent's runs a prompt, a shell's does not.
      const asks =
        frame.origin === undefined ||
        (frame.origin === "agent" && summary.run !== undefined) ||
        (frame.origin === "command" && title?.startsWith("/") === true);
      if (summary.first_prompt === undefined && title !== undefined && asks) summary.first_prompt = title;
      if (!isNew(draft, `prompt ${frame.part_id ?? frame.message_id}`)) return;
      if (frame.queued === true) {
        ensureTurn(draft);
        delete summary.activity;
      } else enterTurn(draft);
      addPart(draft);
      return;
    }
    case "developer.message":
      if (isNew(draft, `prompt ${frame.part_id ?? frame.message_id}`)) addMarker(draft, "context");
      return;
    case "marker":
      if (isNew(draft, `part ${frame.part_id}`)) {
        addMarker(draft, frame.kind);
        if (frame.kind === "error") failed(draft, frame.part_id, frame.message_id);
      }
      return;
    case "request.open":
      if (isNew(draft, `part ${frame.request.request_id}`)) {
        ensureTurn(draft);
        addPart(draft);
      }
      return;
    case "unknown":
      if (isNew(draft, `part ${frame.part_id}`)) {
        ensureTurn(draft);
        addBefore(draft, frame, addPart);
      }
      return;
    case "error":
      if (frame.part_id === undefined || isNew(draft, `part ${frame.part_id}`)) {
        addMarker(draft);
        failed(draft, frame.part_id);
      }
      return;
    case "interrupt":
      interrupt(draft);
      return;
    case "turn.start":
      if (isNew(draft, `turn ${frame.turn_id}`)) openTurn(draft);
      else act(draft);
      return;
    case "turn.end":
      if (draft.progress.turn_open || frame.status !== undefined) {
        summary.status = frame.status ?? draft.progress.outcome ?? "completed";
      }
      endMessage(draft);
      draft.progress.turn_open = summary.status === "running";
      return;
    case "task.start":
      if (frame.tool_call_id !== undefined && frame.sub_agent !== undefined) {
        if (isNew(draft, `run ${frame.sub_agent.session_id}`)) summary.runs += 1;
      }
      return;
    case "session.update":
      draft.summary = { ...summary, ...shortened(frame.patch) };
      if (frame.patch.cwd !== undefined) draft.summary.cwd = shorten(frame.patch.cwd, PATH_LIMIT);
      return;
    case "end":
      endMessage(draft);
      if (draft.progress.turn_open) {
        summary.status = draft.progress.outcome ?? "completed";
        draft.progress.turn_open = false;
      }
      return;
    case "message.retract":
      retract(draft, frame);
      return;
    // These change no figure of the row.
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

/** With all texts in it cut to what a row has room for, also in fields that this version does not know. */
function shortened<Value>(value: Value): Value {
  // The casts: what is changed keeps its type.
  if (typeof value === "string") return shorten(value, ROW_TEXT_LIMIT) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(shortened) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)])) as Value;
}

function isNew(draft: Draft, key: string): boolean {
  if (recall(draft, key) !== undefined) return false;
  remember(draft, key);
  return true;
}

function openTurn(draft: Draft): void {
  draft.summary.turns += 1;
  draft.summary.status = "running";
  delete draft.summary.activity;
  const { progress } = draft;
  progress.turn_open = true;
  progress.turn_empty = true;
  progress.outcome = undefined;
  endMessage(draft);
}

function enterTurn(draft: Draft): void {
  if (!(draft.progress.turn_open && draft.progress.turn_empty)) openTurn(draft);
}

function ensureTurn(draft: Draft): void {
  if (draft.summary.turns === 0) openTurn(draft);
}

/** The agent does something: its turn runs, even where it had ended. */
function act(draft: Draft): void {
  ensureTurn(draft);
  if (draft.progress.turn_open) return;
  draft.summary.status = "running";
  draft.progress.outcome = undefined;
  draft.progress.turn_open = true;
}

function addPart(draft: Draft): void {
  draft.summary.parts += 1;
  const { progress } = draft;
  progress.bare = undefined;
  if (progress.turn_open) progress.outcome = undefined;
  progress.turn_empty = false;
}

/** A part that says nothing about how the agent fares: an error that was the last thing still is. */
function addSeparator(draft: Draft): void {
  const { outcome } = draft.progress;
  addPart(draft);
  draft.progress.outcome = outcome;
}

function addMarker(draft: Draft, kind?: MarkerKind): void {
  ensureTurn(draft);
  addBefore(draft, { type: "marker", ...(kind !== undefined && { kind }) }, addSeparator);
}

/** Adds a part behind which a prompt may still follow for which the turn was opened. */
function addBefore(draft: Draft, part: Parameters<typeof isPreamble>[0], add: (draft: Draft) => void): void {
  const { turn_empty } = draft.progress;
  add(draft);
  if (isPreamble(part)) draft.progress.turn_empty = turn_empty;
}

/** `message_id`: of the message that an error's part belongs to, where it is no message of its own. */
function failed(draft: Draft, part_id: string | undefined, message_id = part_id): void {
  draft.summary.errors += 1;
  draft.progress.outcome = "failed";
  // Its last word is the error.
  delete draft.summary.activity;
  if (part_id !== undefined) remember(draft, `part ${part_id}`, { failed: true, message_id, part_id });
}

/** What failed in what is withdrawn is no error of the session's any more. */
function retract(draft: Draft, frame: Extract<Frame, { type: "message.retract" }>): void {
  // An error stands in a message of its own, whatever message a reader withdraws it from.
  const isMeant = ({ message_id, part_id }: Named): boolean =>
    frame.part_id === undefined ? message_id === frame.message_id : part_id === frame.part_id;
  for (const [key, facts] of new Map([...draft.progress.earlier, ...draft.progress.latest])) {
    if (facts.failed === undefined) continue;
    if (!isMeant(facts) && (facts.own === undefined || !isMeant(facts.own))) continue;
    if (facts.failed) draft.summary.errors -= 1;
    remember(draft, key, { ...facts, failed: false, withdrawn: true });
  }
}

function interrupt(draft: Draft): void {
  ensureTurn(draft);
  if (draft.progress.outcome === "interrupted") return;
  const { message_id } = draft.progress;
  if (message_id !== undefined && recall(draft, `end ${message_id}`) === undefined) {
    remember(draft, `end ${message_id}`, { stop_reason: "aborted" });
    addPart(draft);
  }
  addPart(draft);
  endMessage(draft);
  draft.progress.turn_open = false;
  draft.progress.outcome = "interrupted";
  draft.summary.status = "interrupted";
}

/** What comes after it without a message's id is of none that was told before. */
function endMessage(draft: Draft): void {
  endBare(draft);
  draft.progress.message_id = undefined;
}

function endBare(draft: Draft): void {
  draft.progress.bare = undefined;
  draft.progress.bounded = undefined;
}

function countDelta(
  draft: Draft,
  kind: "text" | "thinking",
  text: string,
  part_id: string | undefined,
): void {
  if (text === "") return;
  if (part_id !== undefined) {
    if (recall(draft, `part ${part_id}`) !== undefined) return;
    act(draft);
    remember(draft, `part ${part_id}`);
    addPart(draft);
    draft.progress.bounded = kind;
  } else if (draft.progress.bare !== kind) {
    if (draft.progress.bounded === kind) return;
    act(draft);
    addPart(draft);
    draft.progress.bare = kind;
  }
  draft.summary.activity = kind;
}

/** As in the transcript, the same id in a later turn and another message is another call. */
function countCall(
  draft: Draft,
  frame: Extract<Frame, { type: "message.tool_call_start" | "message.tool_call" }>,
): void {
  const { tool_call_id, part_id, message_id = draft.progress.message_id } = frame;
  const known = recall(draft, `call ${tool_call_id}`);
  if (known !== undefined) {
    if (known.turn === draft.summary.turns) return;
    if (message_id !== undefined && known.message_id === message_id) return;
  }
  act(draft);
  addPart(draft);
  draft.summary.tool_calls += 1;
  const turn = draft.summary.turns;
  const alone = `result ${tool_call_id} of no call`;
  const orphan = known === undefined ? recall(draft, alone) : undefined;
  remember(draft, `call ${tool_call_id}`, { failed: false, turn, message_id, part_id });
  if (orphan?.turn !== turn) return;
  remember(draft, `result ${tool_call_id} of ${turn}`, { ...orphan, message_id, part_id });
  remember(draft, alone);
}

function countResult(draft: Draft, frame: Extract<Frame, { type: "message.tool_result" }>): void {
  const { summary } = draft;
  const { tool_call_id } = frame;
  const call = recall(draft, `call ${tool_call_id}`);
  const key = `result ${tool_call_id} of ${call?.turn ?? "no call"}`;
  const before = recall(draft, key);
  if (before === undefined) {
    ensureTurn(draft);
    addPart(draft);
    delete summary.activity;
  }
  const withdrawn = before?.withdrawn === true || call?.withdrawn === true;
  const failed = resultStatus(frame) === "error" && !withdrawn;
  summary.errors += (failed ? 1 : 0) - (before?.failed === true ? 1 : 0);
  const { message_id, part_id } = call ?? NOTHING;
  const { turn = summary.turns, own = { message_id: frame.message_id, part_id: frame.part_id } } =
    before ?? NOTHING;
  remember(draft, key, { failed, turn, message_id, part_id, own, withdrawn });
}

function countEnd(draft: Draft, frame: Extract<Frame, { type: "message.end" }>): void {
  const { summary } = draft;
  endBare(draft);
  const key = `end ${frame.message_id}`;
  const before = recall(draft, key);
  if (before === undefined) {
    ensureTurn(draft);
    addBefore(draft, { type: "step_finish" }, addSeparator);
  }
  const usage = frame.usage ?? before?.usage;
  const stop_reason = frame.stop_reason ?? before?.stop_reason;
  if (frame.usage !== undefined) summary.usage = countUsage(summary.usage, before?.usage, frame.usage);
  remember(draft, key, { stop_reason, usage });
  if (draft.progress.message_id === frame.message_id) draft.progress.message_id = undefined;
  const error_id = partId(frame.message_id, ERROR);
  if (frame.error !== undefined && isNew(draft, `part ${error_id}`)) {
    addMarker(draft);
    failed(draft, error_id, frame.message_id);
  }
  if (stop_reason === "error" && before?.stop_reason !== "error") {
    draft.progress.outcome = "failed";
    delete summary.activity;
  }
  if (stop_reason === "aborted" && before?.stop_reason !== "aborted") interrupt(draft);
  // That a text was the last word is remembered: where nobody says that the turn ended, it says so.
  if (summary.activity !== "text") delete summary.activity;
}
