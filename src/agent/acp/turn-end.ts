import type { StopReason, Usage } from "../../model/messages/message.ts";
import { asObject, asString } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { countUsage } from "../../model/usage.ts";
import { openCalls, settle, settleRefused } from "./update-calls.ts";
import { endStep, flushAside, note, type UpdateState } from "./update-state.ts";
import { usageOfAnswer } from "./usage.ts";

/** Agents whose token counts are cumulative over the lifetime of their process. */
const SUMS_USAGE = new Set(["Copilot"]);

/** Ends a turn after the agent has replied to the prompt. */
export function endTurn(state: UpdateState, answer: unknown): { stop_reason: StopReason; refusal: boolean } {
  const { writer } = state;
  settleRefused(state);
  for (const call of openCalls(state)) {
    settle(state, call, "The agent ended its turn without reporting the end of this call");
  }
  closeTurn(state, asObject(answer)?.stopReason === "refusal" ? "failed" : "completed");
  const raw = asString(asObject(answer)?.stopReason) ?? "";
  const reported = turnUsage(state, answer);
  if (reported !== undefined) {
    if (writer.message_id === undefined) {
      state.step = { had_calls: false };
      writer.startMessage();
    }
    const priced = reported.cost === undefined ? {} : { cost: reported.cost };
    state.step.usage = state.step.usage === undefined ? reported : { ...priced, ...state.step.usage };
  }
  const refusal = raw === "refusal";
  const stop_reason = refusal ? "error" : raw === "max_tokens" ? "length" : "stop";
  endStep(state, { stop_reason, ...(raw === "" ? {} : { stop_reason_raw: raw }) });
  if (raw === "max_turn_requests") note(state, "note", agentTitle("agent_step_limit"), answer);
  return { stop_reason, refusal };
}

/** Ends a failed turn and everything that is open in it. */
export function failTurn(state: UpdateState, call_text: string): void {
  for (const call of openCalls(state)) {
    if (call.refused === undefined) settle(state, call, call_text);
  }
  settleRefused(state);
  closeTurn(state, "failed");
  endStep(state, { stop_reason: "error" });
}

/** Ends a turn that the user stopped. */
export function interruptTurn(state: UpdateState, reason: string): void {
  const { writer } = state;
  for (const call of openCalls(state))
    settle(state, call, call.refused?.text ?? "", { kind: "stopped", by: "person" });
  closeTurn(state, "interrupted");
  writer.dropMessage();
  state.step = { had_calls: false };
  writer.put({ type: "interrupt", reason });
}

function closeTurn(state: UpdateState, status: TurnStatus): void {
  state.ended = status;
  flushAside(state);
  state.writer.endPart();
  for (const [id, text] of state.compactions) {
    note(state, "note", agentTitle("unfinished_summary"), { compactionId: id }, text);
  }
  state.compactions.clear();
  // Calls are kept for the lifetime of the session, but without their content, which is in the history.
  for (const call of state.ofTurn) {
    const { facts } = call;
    facts.content = [];
    delete facts.rawInput;
    delete facts.rawOutput;
    call.isForgotten = true;
  }
  state.ofTurn = [];
  state.inTurn = false;
}

/** The tokens of the turn as reported in the agent's reply, and its cost; `undefined`: neither is known. */
function turnUsage(state: UpdateState, answer: unknown): Usage | undefined {
  const reported = usageOfAnswer(answer);
  const paid = state.cost.reported - state.cost.counted;
  state.cost.counted = state.cost.reported;
  const priced = paid > 0 ? { cost: paid } : {};
  if (reported === undefined) return paid > 0 ? { input: 0, output: 0, ...priced } : undefined;
  if (!SUMS_USAGE.has(state.agent_name)) return { ...reported, ...priced };
  const turn = countUsage(reported, state.summed, { input: 0, output: 0 });
  state.summed = reported;
  return { ...turn, ...priced };
}
