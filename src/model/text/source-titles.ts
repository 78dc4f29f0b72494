import { codedTexts } from "./catalog.ts";

/** Parameters that may be absent. */
export type Optional<Name extends string, Value = string> = { [Key in Name]?: Value | undefined };

/** `: ` and a text, if there is one. */
export const after = (text: string | undefined): string => (text === undefined ? "" : `: ${text}`);

/**
 * The titles that readers of agents' records write: of markers, context, and records that they do not know. Those of several agents
 * come first.
 */
export const sourceTitles = {
  model_changed: ({ before, now }: { before: string; now: string }) => `Model changed: ${before} → ${now}`,
  error_without_message: "An error without a message",
  unknown_content: "Unknown kind of content",
  record_of_type: ({ type = "unknown" }: Optional<"type">) => `Record of type ${type}`,
  event_of_type: ({ type = "unknown" }: Optional<"type">) => `Event of type ${type}`,
  part_of_type: ({ type = "unknown" }: Optional<"type">) => `Part of type ${type}`,
  block_of_type: ({ type = "unknown" }: Optional<"type">) => `Block of type ${type}`,
  message_of_role: ({ role = "an unknown role" }: Optional<"role">) => `Message of ${role}`,
  plan_mode_entered: "Plan mode entered",
  plan_mode_left: "Plan mode left",
  plan_mode_cancelled: "Plan mode cancelled",
  permission_mode: ({ mode = "unknown" }: Optional<"mode">) => `Permission mode: ${mode}`,
  goal: ({ goal = "not recorded" }: Optional<"goal">) => `Goal: ${goal}`,
  goal_updated: ({ status }: Optional<"status">) => `Goal updated${after(status)}`,
  goal_cleared: "Goal cleared",
  context_cleared: "Context cleared",
  conversation_compacted: "Conversation compacted",
  conversation_compacted_tokens: ({ before, now }: { before: number; now: number }) =>
    `Conversation compacted: ${before} → ${now} tokens`,
  compaction_cancelled: "Compaction cancelled",
  retrying: ({ reason }: Optional<"reason">) => `Retrying the request${after(reason)}`,
  retrying_attempt: ({ attempt }: { attempt: string }) => `Retrying the request: attempt ${attempt}`,
  forked: "Forked: everything above was copied from another session",

  // Kimi Code
  swarm_mode_entered: "Swarm mode entered",
  swarm_mode_left: "Swarm mode left",
  old_results_removed: "Old tool results were removed from the context",
  skill_activated: ({ skill = "unknown" }: Optional<"skill">) => `Skill activated: ${skill}`,
  decided: ({ decision, action }: { decision: string; action: string }) => `${decision}: ${action}`,
  refused_action: ({ action = "a call" }: Optional<"action">) => `Refused: ${action}`,
  undone: ({ turns }: { turns: number }) =>
    `Undone: ${turns === 1 ? "the turn above is" : `${turns} turns above are`} no longer part of the conversation`,
};

/** A title of `sourceTitles` with its code. */
export const sourceTitle = codedTexts(sourceTitles);
