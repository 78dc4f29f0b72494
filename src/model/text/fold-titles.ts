import { codedTexts } from "./catalog.ts";

/** The titles that the reducer writes: of markers, and why calls were aborted. */
export const foldTitles = {
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
