import type { FrameWriter } from "../../model/frames/frame-writer.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import type { LateText } from "./late-text.ts";
import type { Settings } from "./settings.ts";
import type { CallFacts } from "./tool-call.ts";

/** The reasons for skipping an update. Every update that is not skipped becomes a frame. */
export const SKIPPED = {
  empty_chunk: "a chunk without text",
  usage_chunk: "token counts of a step, which its end repeats",
  prompt_echo: "an echo of the prompt",
  repeated: "an exact repetition of an earlier update",
  after_result: "progress of a call that has ended",
  replayed: "the past of a loaded session, which the history already contains",
  aside: "text of a sub-agent, which the next note contains",
  sub_agent_usage: "token counts of a sub-agent, which its result includes",
  compaction_running: "a compaction that has not ended",
  not_offered: "a request for a capability that was not offered; it was refused",
} as const;
/** Why an update was skipped. */
export type Skipped = keyof typeof SKIPPED;

/** A call of the agent. */
export interface Call {
  readonly facts: CallFacts;
  state: "new" | "started" | "called" | "ended";
  arguments_json: string;
  /** The name under which the call was shown. */
  shown_name?: string;
  /** All output that has been shown so far. */
  progress: string;
  /** The output in the agent's last update. */
  output: string;
  metadata: string;
  refused?: CodedText;
  /** Whether the user is being asked whether the call may run, so that it has not started. */
  isAsked: boolean;
  /** Whether the call's turn has ended, so that its content is only in the history. */
  isForgotten?: boolean;
  /** Whether the agent itself made the call, not a sub-agent. Only then does the next step begin after its end. */
  readonly counts: boolean;
}

/** The state of a session according to its updates so far, and the writer of its frames. */
export interface UpdateState {
  readonly writer: FrameWriter;
  newId(): string;
  readonly skipped: Partial<Record<Skipped, number>>;
  readonly calls: Map<string, Call>;
  /** The calls that have not ended. There are few of them, regardless of the length of the session. */
  readonly open: Set<Call>;
  ofTurn: Call[];
  inTurn: boolean;
  readonly settings: Settings;
  readonly late: LateText;
  /** How the last turn ended. */
  ended: TurnStatus;
  /** Whether something was opened after the turn ended. The turn then counts as running until that ends. */
  isReopened: boolean;
  /** Output of unannounced calls that arrived after the turn, by call id. */
  readonly strays: Map<string, { part_id: string; text: string }>;
  cancelling: boolean;
  /** The prompt, which the agent may echo. */
  echo: string;
  /** State of the open message. */
  step: { had_calls: boolean; text_key?: string; thought_key?: string; usage?: Usage };
  /** Whether thoughts have the id of their message, known once a text has the id of a thought. Some agents use separate ids. */
  thoughts_name_messages: boolean;
  /**
   * Text of sub-agents since the last update of another kind. Texts of several sub-agents are interleaved, so it is not a part.
   */
  aside: { thinking: string; text: string } | undefined;
  readonly compactions: Map<string, string>;
  commands: string;
  plan: string;
  /** The session's cost in USD as last reported by the agent, and how much of it was already attributed to steps. */
  cost: { reported: number; counted: number; is_unknown?: boolean };
  /** The cumulative usage in the agent's last reply, to be subtracted from that in the next one. */
  summed: Usage | undefined;
  agent_name: string;
}

/** Counts a skipped update. */
export function skip(state: UpdateState, why: Skipped): void {
  state.skipped[why] = (state.skipped[why] ?? 0) + 1;
}

/** Emits the text of sub-agents since the last update of another kind. */
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
    ...titleFields(agentTitle("text_of_sub_agents")),
    text: [thinking, text].filter((said) => said !== "").join("\n\n"),
    data: { thinking, text },
  });
}

/** Emits an unknown update. It does not end the open text, which continues to grow at its position. */
export function putUnknown(state: UpdateState, raw: unknown, title: DisplayText, error?: string): void {
  flushAside(state);
  state.writer.put({
    type: "unknown",
    part_id: state.newId(),
    raw,
    ...titleFields(title),
    ...(error === undefined ? {} : { error }),
  });
}

/** Writes a note. */
export function note(
  state: UpdateState,
  kind: "note" | "notification" | "compaction",
  title: DisplayText,
  raw: unknown,
  text?: string,
): void {
  flushAside(state);
  state.writer.put({
    type: "marker",
    kind,
    part_id: state.newId(),
    ...titleFields(title),
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
