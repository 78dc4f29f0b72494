import { codedTexts } from "./catalog.ts";

/** Why calls neither succeeded nor failed, if their record has no reason of its own. */
export const outcomeReasons = {
  parallel_call_failed: "A parallel call failed or was stopped",
  run_end_not_recorded: "The file does not record how the run ended",
  command_interrupted: "The agent interrupted the command",
  refused_with: ({ option }: { option: string }) => `Refused: ${option}`,
  user_not_asked: ({ problem }: { problem: string }) => `The user could not be asked (${problem})`,
  not_answered_in_time: "Nobody answered in time",
  not_allowed: "It was not allowed",
};

/** A text of `outcomeReasons` with its code. */
export const outcomeReason = codedTexts(outcomeReasons);
