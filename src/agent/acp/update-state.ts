import type { FrameWriter } from "../../model/frames/frame-writer.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import type { LateText } from "./late-text.ts";
import type { Settings } from "./settings.ts";
import type { CallFacts } from "./tool-call.ts";

/** Updates without a frame, and why. Every other update has one. */
export const SKIPPED = {
  empty_chunk: "a chunk without text",
  usage_chunk: "a step's tokens, which its end says",
  prompt_echo: "the prompt, said back",
  repeated: "said before, word for word",
  after_result: "progress of a call that has ended",
  replayed: "a loaded session's past, which is in the history already",
  aside: "words of a sub-agent, which the next note holds",
  sub_agent_usage: "a sub-agent's tokens, which its result sums up",
  compaction_running: "a compaction that has not ended",
  not_offered: "a request for what was not offered; it was answered so",
} as const;
/** Why an update has no frame. */
export type Skipped = keyof typeof SKIPPED;

/** A call of the agent. */
export interface Call {
  readonly facts: CallFacts;
  state: "new" | "started" | "called" | "ended";
  arguments_json: string;
  /** The name under which it was shown. */
  shown_name?: string;
  /** All output that was shown so far. */
  progress: string;
  /** The output as the agent sent it last. */
  output: string;
  metadata: string;
  refused?: string;
  /** The user is asked whether it may run. It has not started. */
  isAsked: boolean;
  /** Its turn is over: its content is only in the history. */
  isForgotten?: boolean;
  /** It belongs to the open message. The next step can begin after its end. */
  readonly counts: boolean;
}

/** What the updates of a session have told so far, and where its frames go. */
export interface UpdateState {
  readonly writer: FrameWriter;
  newId(): string;
  readonly skipped: Partial<Record<Skipped, number>>;
  readonly calls: Map<string, Call>;
  /** The calls that have not ended. Few, however long the session is. */
  readonly open: Set<Call>;
  ofTurn: Call[];
  inTurn: boolean;
  readonly settings: Settings;
  readonly late: LateText;
  /** How the last turn ended. */
  ended: TurnStatus;
  /** Something was opened in a turn that had ended. The turn is running until that ends. */
  isReopened: boolean;
  /** Output of unannounced calls after the turn, by call id. */
  readonly strays: Map<string, { part_id: string; text: string }>;
  cancelling: boolean;
  /** The prompt, which the agent may echo. */
  echo: string;
  /** Of the open message. */
  step: { had_calls: boolean; text_key?: string; thought_key?: string; usage?: Usage };
  /** Some agents give each thought an id of its own. A thought's id identifies the message only if its text has the same id. */
  thoughts_name_messages: boolean;
  /** Text of sub-agents since the last update of another kind. It is mixed and belongs to no part. */
  aside: { thinking: string; text: string } | undefined;
  readonly compactions: Map<string, string>;
  commands: string;
  plan: string;
  /** The session's cost in USD as last reported by the agent, and the share that steps already have. */
  cost: { reported: number; counted: number; is_unknown?: boolean };
  /** The usage in the agent's last answer, from which the next one counts on. */
  summed: Usage | undefined;
  agent_name: string;
}

/** Counts an update without a frame. */
export function skip(state: UpdateState, why: Skipped): void {
  state.skipped[why] = (state.skipped[why] ?? 0) + 1;
}

/** Shows the text of sub-agents since the last update of another kind. */
export function flushAside(state: UpdateState): void {
  const { writer } = state;
  if (state.aside === undefined) return;
  const { thinking, text } = state.aside;
  state.aside = undefined;
  writer.endPart();
  writer.put({
    type: "marker",
    kind: "note",
    part_id: state.newId(),
    title: "Said by sub-agents",
    text: [thinking, text].filter((said) => said !== "").join("\n\n"),
    data: { thinking, text },
  });
}

/** Shows an update that is not known. It does not split the agent's text: a continued text grows where it began. */
export function putUnknown(state: UpdateState, raw: unknown, title: string, error?: string): void {
  flushAside(state);
  state.writer.put({
    type: "unknown",
    part_id: state.newId(),
    raw,
    title,
    ...(error === undefined ? {} : { error }),
  });
}

/** Writes a note. */
export function note(
  state: UpdateState,
  kind: "note" | "notification" | "compaction",
  title: string,
  raw: unknown,
  text?: string,
): void {
  flushAside(state);
  state.writer.put({
    type: "marker",
    kind,
    part_id: state.newId(),
    title,
    ...(text === undefined || text === "" ? {} : { text }),
    data: raw,
  });
}

/** Ends the open message. */
export function endStep(
  state: UpdateState,
  ending: { stop_reason?: StopReason; stop_reason_raw?: string } = {},
): void {
  const { usage } = state.step;
  state.writer.endMessage({ ...ending, ...(usage === undefined ? {} : { usage }) });
  state.step = { had_calls: false };
}
