import { codedTexts } from "./catalog.ts";
import type { DisplayText } from "./display-text.ts";

/** Common reasons of interrupts, which readers and agents give as text. */
const interruptTitles = {
  interrupted_by_user: "Interrupted by the user",
  interrupted_during_call: "Interrupted by the user during a tool call",
  interrupt_cancelled: "Cancelled",
  interrupt_stopped: "Stopped",
  stopped_during_call: "Stopped during a tool call",
  stopped_by_user: "Stopped by the user",
  stopped_by_user_during_call: "Stopped by the user during a tool call",
  stopped_from_other_device: "Stopped from another device",
  operation_aborted: "Operation aborted",
  permission_refused: "Permission refused",
  plan_rejected: "Plan rejected",
  question_declined: "Question declined",
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

/** The title of an interrupt, with its code if the reason is a common one. */
export function interruptReason(reason: string): DisplayText {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  const code = interruptCodes.get(text);
  return code === undefined ? text : { text, code };
}
