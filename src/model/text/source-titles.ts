import { codedTexts } from "./catalog.ts";
import { foldTitles } from "./fold-titles.ts";
import { readerTitles } from "./reader-titles.ts";
import { after, joined, type Optional, tokensBefore } from "./title-words.ts";

interface ShellFacts {
  exit?: number | "cancelled" | undefined;
  cut?: "yes" | undefined;
  hidden?: "yes" | undefined;
}

/**
 * The titles that readers of agents' records write: of markers, context, and records that they do not know. Those here are of
 * several agents.
 */
export const sourceTitles = {
  ...readerTitles,
  model_changed: ({ before = "unknown", now = "unknown" }: Optional<"before" | "now">) =>
    `Model changed: ${before} → ${now}`,
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
  line_of_type: ({ type = "unknown" }: Optional<"type">) => `Line of type ${type}`,
  item_of_type: ({ type = "unknown" }: Optional<"type">) => `Item of type ${type}`,
  content_of_type: ({ type = "unknown" }: Optional<"type">) => `Content of type ${type}`,
  record_named: ({ name }: { name: string }) => `Record ${name}`,
  unreadable_line: "Unreadable line",
  unreadable_record: "Unreadable record",
  request_failed: "The request failed",
  turn_failed: ({ reason }: Optional<"reason">) => `The turn failed${after(reason)}`,
  context_from: ({ agent, reason }: { agent: string } & Optional<"reason">) =>
    `Context from ${agent}${after(reason)}`,
  reminder_from: ({ agent }: { agent: string }) => `Reminder from ${agent}`,
  skill: ({ skill = "unknown" }: Optional<"skill">) => `Skill: ${skill}`,
  context_compacted: ({ before }: Optional<"before", number>) => `Context compacted${tokensBefore(before)}`,
  rewound: "Rewound",
  shell_output: ({ exit, cut, hidden }: ShellFacts) => {
    const facts = [
      exit === "cancelled" ? exit : exit === undefined ? undefined : `exit ${exit}`,
      cut === "yes" ? "cut" : undefined,
      hidden === "yes" ? "not shown to the model" : undefined,
    ];
    return `Shell output${after(joined(facts))}`;
  },
};

/** A title of `sourceTitles` or `foldTitles` with its code. */
export const sourceTitle = codedTexts({ ...foldTitles, ...sourceTitles });
