import type { FrameOf } from "../../frames/frame.ts";
import { partId } from "../../uuid.ts";
import {
  abort,
  complete,
  createPending,
  fail,
  isFinished,
  parseArguments,
  type RunningState,
  start,
  type ToolState,
} from "../tool-state.ts";
import type { TranscriptPartOf } from "../transcript.ts";
import {
  append,
  commonOf,
  ensureTurn,
  type Fold,
  lastTurn,
  locate,
  ownId,
  replace,
  retractionOf,
  revised,
  setGap,
  unusedId,
} from "./fold.ts";
import { grow, messageFor } from "./messages.ts";
import { resultStatus } from "./result-status.ts";

// The frames of tool calls: the call, its progress, its result, and its run.

/**
 * Adds a call, which runs once its arguments are complete. A repeat revises it. A result of this turn that arrived earlier is
 * paired with it.
 */
export function putCall(
  fold: Fold,
  frame: FrameOf<"message.tool_call_start"> | FrameOf<"message.tool_call">,
): void {
  const position = findCall(fold, frame);
  if (position !== undefined) {
    fold.touched = position;
    const part = fold.parts.at(position);
    if (part?.type === "tool_call" && frame.type === "message.tool_call")
      reviseCall(fold, position, part, frame);
    return;
  }
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  const arguments_json = frame.type === "message.tool_call" ? frame.arguments_json : "";
  const pending = createPending(arguments_json);
  const orphan = fold.positions.calls.get(frame.tool_call_id);
  const named = frame.part_id ?? ownId(message_id, fold.parts.length);
  const created = append(fold, {
    ...commonOf(fold, frame, unusedId(fold, message_id, named), message_id),
    type: "tool_call",
    tool_call_id: frame.tool_call_id,
    tool_name: frame.tool_name,
    arguments_json,
    state: frame.type === "message.tool_call" ? start(pending, frame.at) : pending,
  });
  // Its result came first. Results of earlier turns do not count: some agents restart their call ids in every turn.
  if (orphan !== undefined && orphan.call === undefined && orphan.result !== undefined) {
    const current = lastTurn(fold);
    if (current !== undefined && orphan.result >= current.first_part) pair(fold, created, orphan.result);
  }
}

/**
 * The call with the same id in the same message or turn. In a later turn the same id is another call, because some agents restart
 * their ids.
 */
function findCall(
  fold: Fold,
  frame: FrameOf<"message.tool_call_start"> | FrameOf<"message.tool_call">,
): number | undefined {
  const named = frame.part_id === undefined ? undefined : fold.positions.parts.get(frame.part_id);
  if (named !== undefined && fold.parts.at(named)?.type === "tool_call") return locate(fold, frame, named);
  const position = fold.positions.calls.get(frame.tool_call_id)?.call;
  const turn = lastTurn(fold);
  const isSameTurn = turn !== undefined && position !== undefined && position >= turn.first_part;
  const message_id = frame.message_id ?? fold.open.message_id;
  const isSame = isSameTurn || (position !== undefined && fold.parts.at(position)?.message_id === message_id);
  return locate(fold, frame, isSame ? position : undefined);
}

function reviseCall(
  fold: Fold,
  position: number,
  part: TranscriptPartOf<"tool_call">,
  frame: FrameOf<"message.tool_call">,
): void {
  const started = part.state.status !== "pending";
  if (started && part.arguments_json === frame.arguments_json && part.tool_name === frame.tool_name) return;
  const input = parseArguments(frame.arguments_json);
  const state: ToolState = started
    ? {
        ...part.state,
        input,
        // A call that ended under an earlier tool name.
        ...(part.state.status === "completed" && part.state.title === part.tool_name
          ? { title: frame.tool_name }
          : {}),
      }
    : start(createPending(frame.arguments_json, input), frame.at);
  const { truncated: _, ...rest } = part;
  replace(fold, position, {
    ...rest,
    tool_name: frame.tool_name,
    arguments_json: frame.arguments_json,
    state,
    ...(part.result_index === undefined ? {} : revised(fold, position, frame.at)),
    ...(part.source === undefined && frame.source !== undefined ? { source: frame.source } : {}),
    ...(frame.truncated === undefined ? {} : { truncated: frame.truncated }),
  });
}

/** Appends to the progress of a call. Ignored after its end, because the result is complete. */
export function growProgress(fold: Fold, frame: FrameOf<"message.tool_progress">): void {
  const position = locate(fold, frame, fold.positions.calls.get(frame.tool_call_id)?.call);
  const part = position === undefined ? undefined : fold.parts.at(position);
  fold.touched = position;
  if (position === undefined || part?.type !== "tool_call" || isFinished(part.state)) return;
  const grown = grow(fold, part, "progress", part.progress ?? "", frame);
  if (grown !== undefined) replace(fold, position, { ...part, progress: grown.text, ...grown.cut });
}

/**
 * Adds a result and ends the newest call with its id. Without a call it is shown on its own. A second result replaces the first.
 */
export function putResult(fold: Fold, frame: FrameOf<"message.tool_result">): void {
  const known = fold.positions.calls.get(frame.tool_call_id);
  const named = frame.part_id === undefined ? undefined : fold.positions.parts.get(frame.part_id);
  const isNamed = named !== undefined && fold.parts.at(named)?.type === "tool_result";
  const candidate = isNamed ? named : known?.result;
  // A page may be newer than the frames: its call may refer to a result that comes later.
  const isHere = candidate !== undefined && candidate < fold.parts.length;
  const earlier = locate(fold, frame, isHere ? candidate : undefined);
  const status = resultStatus(frame);
  const value = {
    tool_call_id: frame.tool_call_id,
    // History has an empty name if it is unknown.
    ...(frame.tool_name === undefined || frame.tool_name === "" ? {} : { tool_name: frame.tool_name }),
    is_error: status === "error",
    status,
    output_text: frame.output_text,
    ...(frame.output_end === undefined ? {} : { output_end: frame.output_end }),
    parts: frame.parts,
    ...(frame.ui_extra === undefined ? {} : { ui_extra: frame.ui_extra }),
    ...(frame.outcome === undefined ? {} : { outcome: frame.outcome }),
    ...(frame.permission === undefined ? {} : { permission: frame.permission }),
    ...(frame.background === undefined ? {} : { background: frame.background }),
  };
  if (earlier !== undefined) {
    fold.touched = earlier;
    const before = fold.parts.at(earlier);
    // The first result, which was counted, is not loaded.
    if (before?.type !== "tool_result") {
      setGap(fold, frame.tool_call_id, 0, 0);
      return;
    }
    const { truncated: _, output_end: __, outcome: ___, background: ____, ...rest } = before;
    replace(fold, earlier, {
      ...rest,
      ...value,
      ...(frame.at > 0 && { at: frame.at }),
      ...(retracts(value, before) ? revised(fold, earlier, frame.at) : {}),
      ...(frame.source === undefined ? {} : { source: frame.source }),
      ...(frame.truncated === undefined ? {} : { truncated: frame.truncated }),
    });
    if (before.call_index !== undefined) pair(fold, before.call_index, earlier);
    return;
  }
  const turn = ensureTurn(fold, frame.at, false);
  const message_id = frame.message_id ?? ownId(turn.id, fold.parts.length);
  const position = append(fold, {
    ...commonOf(fold, frame, unusedId(fold, message_id, frame.part_id ?? partId(message_id, 0)), message_id),
    type: "tool_result",
    ...value,
  });
  if (known?.call !== undefined) pair(fold, known.call, position);
}

/** Whether a result contradicts the previous one. Replacing an inferred end or adding details does not. */
function retracts(
  now: Pick<TranscriptPartOf<"tool_result">, "status" | "output_text" | "parts" | "ui_extra">,
  before: TranscriptPartOf<"tool_result">,
): boolean {
  if (before.status === "aborted" || before.background === true) return false;
  const { parts, ui_extra } = before;
  return (
    before.status !== now.status ||
    before.output_text !== now.output_text ||
    (parts.length > 0 && JSON.stringify(parts) !== JSON.stringify(now.parts)) ||
    (ui_extra !== undefined && JSON.stringify(ui_extra) !== JSON.stringify(now.ui_extra))
  );
}

/** Pairs a call and its result. The result's status ends the call, and it is retracted with the call. */
function pair(fold: Fold, call_index: number, result_index: number): void {
  const call = fold.parts.at(call_index);
  const result = fold.parts.at(result_index);
  // One of them, which may be retracted, is not loaded.
  if (call === undefined || result === undefined) setGap(fold, fold.base.session_id, 0, 0);
  if (result?.type !== "tool_result") return;
  const isRetracted = result.retracted === undefined && call?.retracted !== undefined;
  if (result.call_index !== call_index || isRetracted)
    replace(fold, result_index, { ...result, call_index, ...(isRetracted && retractionOf(call)) });
  if (call?.type === "tool_call") {
    replace(fold, call_index, withoutProgress({ ...call, state: settle(call, result), result_index }));
  }
}

/** Removes the progress, because the result contains the whole output. */
function withoutProgress({
  progress: _,
  ...part
}: TranscriptPartOf<"tool_call">): TranscriptPartOf<"tool_call"> {
  if (part.truncated?.progress === undefined) return part;
  const { truncated, ...rest } = part;
  const { progress: __, ...cut } = truncated;
  return { ...rest, ...(Object.keys(cut).length > 0 ? { truncated: cut } : {}) };
}

/** Ends the call with its result. A second result replaces the first. */
function settle(call: TranscriptPartOf<"tool_call">, result: TranscriptPartOf<"tool_result">): ToolState {
  const at = result.at ?? call.at ?? 0;
  const running = runningAgain(call.state, call.at ?? at);
  if (result.background === true) return { ...running, metadata: { ...running.metadata, background: true } };
  switch (result.status) {
    case "success":
      return complete(running, {
        output: result.output_text,
        at,
        title: call.tool_name,
        attachments: result.parts.filter((part) => part.type !== "unknown"),
      });
    case "error":
      return fail(running, result.output_text, at);
    case "aborted":
      return abort(running, at, result.output_text === "" ? undefined : result.output_text, result.outcome);
    default:
      return result.status satisfies never;
  }
}

function runningAgain(state: ToolState, at: number): RunningState {
  if (state.status === "pending") return start(state, at);
  if (state.status === "running") return state;
  return {
    status: "running",
    input: state.input,
    ...(state.metadata === undefined ? {} : { metadata: state.metadata }),
    time: { start: state.time.start },
  };
}

/** Links a call to the run that it started. Does nothing without a call or run in the frame. */
export function linkRun(fold: Fold, frame: FrameOf<"task.start">): void {
  const { sub_agent } = frame;
  if (frame.tool_call_id === undefined || sub_agent === undefined) return;
  changeCall(fold, frame.tool_call_id, frame, (part) => ({ ...part, run: sub_agent }));
}

/** Adds fields to the metadata of a call. A pending call becomes running. */
export function putMetadata(fold: Fold, frame: FrameOf<"task.metadata">): void {
  const { metadata } = frame;
  if (frame.tool_call_id === undefined || typeof metadata !== "object" || metadata === null) return;
  changeCall(fold, frame.tool_call_id, frame, (part) => {
    // Metadata implies that the call is running.
    const state = part.state.status === "pending" ? start(part.state, frame.at) : part.state;
    const length = metadataLength(part, frame.truncated?.metadata, metadata);
    return {
      ...part,
      state: { ...state, metadata: { ...state.metadata, ...metadata } },
      ...(length !== undefined && { truncated: { ...part.truncated, [METADATA]: length } }),
    };
  });
}

/** The name of a call's metadata among its truncated fields. */
const METADATA = "state.metadata";

/** The full length of a call's metadata as JSON after an update; `undefined`: all of it is here. `whole`: that of the update. */
function metadataLength(
  { state, truncated }: TranscriptPartOf<"tool_call">,
  whole: number | undefined,
  update: object,
): number | undefined {
  const before = truncated?.[METADATA];
  if (whole === undefined && before === undefined) return undefined;
  const known = "metadata" in state && Object.keys(state.metadata ?? {}).length > 0;
  const added = whole ?? JSON.stringify(update).length;
  if (!known) return added;
  // Two objects in one share a pair of braces, and are joined by a comma.
  return (before ?? JSON.stringify(state.metadata).length) + added - 1;
}

function changeCall(
  fold: Fold,
  tool_call_id: string,
  frame: { part_index?: number },
  change: (part: TranscriptPartOf<"tool_call">) => TranscriptPartOf<"tool_call">,
): void {
  const position = locate(fold, frame, fold.positions.calls.get(tool_call_id)?.call);
  const part = position === undefined ? undefined : fold.parts.at(position);
  fold.touched = position;
  if (position !== undefined && part?.type === "tool_call") replace(fold, position, change(part));
}
