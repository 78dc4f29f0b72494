import { titleOf } from "../parts/content.ts";
import { codedTexts } from "./catalog.ts";
import type { DisplayText } from "./display-text.ts";

/** Reasons of interrupts that Verbatim writes, and common ones that agents write, which are recorded as text. */
const interruptTitles = {
  interrupted_by_user: "Interrupted by the user",
  interrupted_during_call: "Interrupted by the user during a tool call",
  interrupt_cancelled: "Cancelled",
  interrupt_stopped: "Stopped",
  stopped_during_call: "Stopped during a tool call",
  stopped_by_user: "Stopped by the user",
  stopped_by_user_during_call: "Stopped by the user during a tool call",
  stopped_from_other_device: "Stopped from another device",
  stopped_at_credit_limit: "Stopped at the credit limit",
  interrupt_aborted: "Aborted",
  operation_aborted: "Operation aborted",
  request_cancelled: "Request cancelled.",
  permission_refused: "Permission refused",
  plan_rejected: "Plan rejected",
  question_declined: "Question declined",
  interrupted_by_daemon_end: "Interrupted: The daemon ended",
  interrupted_by_session_end: "Interrupted: The session was closed",
  interrupted_by_next_turn: "Interrupted: replaced",
  interrupted_by_review_end: "Interrupted: review ended",
  interrupted_by_budget: "Interrupted: budget limited",
};

/** The titles that the reducer writes: of markers, and why calls were aborted. */
export const foldTitles = {
  ...interruptTitles,
  interrupted: "Interrupted",
  interrupted_by: ({ reason }: { reason: string }) => `Interrupted: ${reason}`,
  error: "Error",
  context: "Context",
  system_prompt: "System prompt",
  agent_ended: "The agent ended while this was running",
  turn_ended: "The turn ended while this was running",
  end_not_recorded: "Its end was not recorded",
};

/** A title of `foldTitles` with its code. */
export const foldTitle = codedTexts(foldTitles);

const interruptCodes = new Map(Object.entries(interruptTitles).map(([code, text]) => [text, code]));

/** The title of an interrupt. It has a code, unless its reason is an uncommon one that says itself that something was stopped. */
export function interruptTitle(reason: string | undefined): DisplayText {
  const line = reason === undefined ? undefined : titleOf(reason);
  if (line === undefined) return foldTitle("interrupted");
  const isTitle = /interrupt|stop|refus|declin|reject|abort|cancel/i.test(line);
  const by = foldTitle("interrupted_by", { reason: line });
  const text = isTitle ? line.charAt(0).toUpperCase() + line.slice(1) : by.text;
  const code = interruptCodes.get(text);
  if (code !== undefined) return { text, code };
  return isTitle ? text : by;
}
