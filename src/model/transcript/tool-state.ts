import * as z from "zod";
import { filePart, imageFilePart, imageUrlPart } from "../messages/part.ts";
import { type CallOutcome, callOutcome } from "../parts/outcome.ts";
import { milliseconds, optional, record } from "../record.ts";
import { textCode } from "../text/coded-text.ts";
import { type DisplayText, textFields } from "../text/display-text.ts";

const metadata = z.record(z.string(), z.unknown());
const finishedTime = record({ start: milliseconds, end: milliseconds });

/**
 * The states of a tool call: `pending` → `running` → `completed`, `error` or `aborted` (refused, stopped, or unknown). `input`:
 * the parsed arguments, or the raw text if it is not JSON. An unknown time is 0.
 */
export const toolState = z.discriminatedUnion("status", [
  record({ status: z.literal("pending"), input: z.unknown(), raw: z.string() }),
  record({
    status: z.literal("running"),
    input: z.unknown(),
    title: optional(z.string()),
    metadata: optional(metadata),
    time: record({ start: milliseconds }),
  }),
  record({
    status: z.literal("completed"),
    input: z.unknown(),
    output: z.string(),
    title: z.string(),
    metadata,
    time: finishedTime,
    attachments: optional(z.array(z.discriminatedUnion("type", [imageUrlPart, imageFilePart, filePart]))),
  }),
  record({
    status: z.literal("error"),
    input: z.unknown(),
    error: z.string(),
    metadata: optional(metadata),
    time: finishedTime,
  }),
  record({
    status: z.literal("aborted"),
    input: z.unknown(),
    /** The reason, if known: an interrupt, a denied permission, a crash. */
    reason: optional(z.string()),
    /** If Verbatim wrote the reason. */
    reason_code: optional(textCode),
    outcome: optional(callOutcome),
    metadata: optional(metadata),
    time: finishedTime,
  }),
]);
export type ToolState = z.infer<typeof toolState>;

type StateOf<Status extends ToolState["status"]> = Extract<ToolState, { status: Status }>;
export type PendingState = StateOf<"pending">;
export type RunningState = StateOf<"running">;
export type CompletedState = StateOf<"completed">;
export type FailedState = StateOf<"error">;
export type AbortedState = StateOf<"aborted">;

const VALID_TRANSITIONS: Record<ToolState["status"], readonly ToolState["status"][]> = {
  pending: ["running", "aborted"],
  running: ["completed", "error", "aborted"],
  completed: [],
  error: [],
  aborted: [],
};

/** An invalid transition of a tool call. Repeating a transition is valid and has no effect. */
export class InvalidStateTransition extends Error {
  override readonly name = "InvalidStateTransition";
  readonly current_status: ToolState["status"];
  readonly attempted_status: ToolState["status"];
  readonly valid_transitions: readonly ToolState["status"][];

  constructor(current: ToolState["status"], attempted: ToolState["status"]) {
    const valid = VALID_TRANSITIONS[current];
    super(
      `A tool call that is ${current} cannot become ${attempted}; ` +
        (valid.length > 0 ? `it can become ${valid.join(" or ")}` : "it has already ended"),
    );
    this.current_status = current;
    this.attempted_status = attempted;
    this.valid_transitions = valid;
  }
}

/** Parses arguments; returns the text itself if it is not JSON. Empty text means `{}`. */
export function parseArguments(raw: string): unknown {
  if (raw.trim() === "") return {};
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** The initial state of a call. `raw`: the text of its arguments, byte for byte. */
export function createPending(raw: string, input: unknown = parseArguments(raw)): PendingState {
  return { status: "pending", input, raw };
}

/** pending → running. `at`: milliseconds since 1970. */
export function start(state: ToolState, at: number, title?: string): RunningState {
  if (state.status === "running") return state;
  if (state.status !== "pending") throw new InvalidStateTransition(state.status, "running");
  return {
    status: "running",
    input: state.input,
    ...(title === undefined ? {} : { title }),
    time: { start: at },
  };
}

/** running → completed. `output` may be empty, because a successful command may print nothing. */
export function complete(
  state: ToolState,
  end: {
    output: string;
    at: number;
    title: string;
    metadata?: Record<string, unknown>;
    attachments?: CompletedState["attachments"];
  },
): CompletedState {
  if (state.status === "completed") return state;
  if (state.status !== "running") throw new InvalidStateTransition(state.status, "completed");
  return {
    status: "completed",
    input: state.input,
    output: end.output,
    title: end.title,
    metadata: { ...state.metadata, ...end.metadata },
    time: { start: state.time.start, end: end.at },
    ...(end.attachments === undefined || end.attachments.length === 0
      ? {}
      : { attachments: end.attachments }),
  };
}

/** running → error. An empty description is replaced. */
export function fail(state: ToolState, error: string, at: number): FailedState {
  if (state.status === "error") return state;
  if (state.status !== "running") throw new InvalidStateTransition(state.status, "error");
  return {
    status: "error",
    input: state.input,
    error: error === "" ? "The tool failed without an error message" : error,
    ...(state.metadata === undefined ? {} : { metadata: state.metadata }),
    time: { start: state.time.start, end: at },
  };
}

/** pending or running → aborted: it was refused or stopped, or its end is unknown. `at`: milliseconds since 1970. */
export function abort(
  state: ToolState,
  at: number,
  reason?: DisplayText,
  outcome?: CallOutcome,
): AbortedState {
  if (state.status === "aborted") return state;
  if (state.status !== "running" && state.status !== "pending") {
    throw new InvalidStateTransition(state.status, "aborted");
  }
  return {
    status: "aborted",
    input: state.input,
    ...(reason === undefined ? {} : textFields("reason", reason)),
    ...(outcome === undefined ? {} : { outcome }),
    ...(state.status === "pending" || state.metadata === undefined ? {} : { metadata: state.metadata }),
    time: { start: state.status === "pending" ? at : state.time.start, end: at },
  };
}

/** Whether the call has ended. */
export function isFinished(state: ToolState): state is CompletedState | FailedState | AbortedState {
  return VALID_TRANSITIONS[state.status].length === 0;
}
