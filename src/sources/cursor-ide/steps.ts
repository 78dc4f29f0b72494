import type { Usage } from "../../model/messages/message.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { IdeState, IdeStep, Tokens } from "./state.ts";

/**
 * Continues the step, or begins one. Cursor does not record model calls: one begins where the model writes after its tool calls,
 * or where a tool call names another one.
 */
export function continueStep(
  state: IdeState,
  conversation: Conversation,
  { key, model, call }: { key: string; model: string | undefined; call?: { model_call: string | undefined } },
): IdeStep {
  const { step } = state;
  const differs =
    call === undefined
      ? step?.called === true
      : call.model_call !== undefined &&
        step?.model_call !== undefined &&
        call.model_call !== step.model_call;
  const continued = conversation.hasOpenStep && !differs ? step : undefined;
  const current = continued ?? { key, tokens: [] };
  if (continued === undefined) {
    endStep(state, conversation);
    conversation.step(key, { model });
    state.step = current;
  } else if (model !== undefined) conversation.nameModel(model);
  if (call !== undefined) current.called = true;
  if (call?.model_call !== undefined) current.model_call = call.model_call;
  return current;
}

/** Ends the open step with the tokens of its bubbles. */
export function endStep(state: IdeState, conversation: Conversation, how?: "aborted"): void {
  if (!conversation.hasOpenStep) return;
  const usage = usageOf(state.step);
  // A model call that was cut off has no end, unless its tokens are known.
  if (how === "aborted" && usage === undefined) return;
  conversation.endStep({ usage, ...(how !== undefined && { stop_reason: how }) });
}

/** The tokens of a step: the sum of those that its bubbles have. */
export function usageOf(step: IdeStep | undefined): Usage | undefined {
  const all = step?.tokens ?? [];
  if (all.length === 0) return undefined;
  const sum = (name: "input" | "output") => all.reduce((total, each) => total + each[name], 0);
  return { input: sum("input"), output: sum("output") };
}

/** Sets the tokens that one bubble of a step has. */
export function setTokens(step: IdeStep, tokens: Tokens): void {
  step.tokens = [...step.tokens.filter(({ id }) => id !== tokens.id), tokens];
}
