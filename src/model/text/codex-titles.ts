import { codedTexts, textsOf } from "./catalog.ts";
import { after, type Optional } from "./title-words.ts";

/** The titles of text that Codex injects under the user's role. */
export const injectedTitles = {
  agents_md: "AGENTS.md instructions",
  environment: "Environment",
  user_instructions: "User instructions",
  codex_instructions: "Instructions",
  permissions: "Permissions",
  collaboration_mode: "Collaboration mode",
  recommended_plugins: "Recommended plugins",
  codex_skill: ({ name }: Optional<"name">) => `Skill${after(name)}`,
  user_shell_command: "User shell command",
  codex_context: ({ name }: Optional<"name">) => `Context from Codex${after(name)}`,
  sub_agent: "Sub-agent",
  codex_interrupted: "Interrupted",
  user_action: "User action",
  injected_message: "Injected message",
  codex_hook: "Hook",
};

/** The titles that the reader of Codex writes. */
export const codexTitles = {
  ...injectedTitles,
  /** Several injected texts. `titles`: see `textsOf`. */
  injected_texts: ({ titles }: { titles: string }) => textsOf(injectedTitles, titles).join(", "),

  // Records
  codex_unreadable_line: "Unreadable line",
  content_of_unknown_type: "Content of an unknown type",

  // Other agents
  message_to: ({ recipient = "another agent" }: Optional<"recipient">) => `Message to ${recipient}`,
  message_from: ({ author = "another agent" }: Optional<"author">) => `Message from ${author}`,
  answer_from: ({ author = "another agent" }: Optional<"author">) => `Answer from ${author}`,
  sub_agent_state: ({ name = "", state = "reported" }: Optional<"name" | "state">) =>
    `Sub-agent ${name} ${state}`.replaceAll(/ +/g, " "),

  // The conversation
  turns_rolled_back: ({ turns }: { turns: number }) =>
    turns === 1 ? "The last turn was rolled back" : `The last ${turns} turns were rolled back`,
  turn_undone: "Undone",
  undo_failed: "Undo failed",
  codex_rewound:
    "Rewound to an earlier prompt. The turns before it are in the session that this one continues",
  records_before: ({ records }: Optional<"records", number>) =>
    `${records === undefined ? "The records" : `${records} records`} before this are in the session that this one continues`,
  records_copied: ({ records }: { records: number }) =>
    `${records === 1 ? "1 record" : `${records} records`} copied from another session`,
  codex_context_compacted: ({ window }: Optional<"window", number>) =>
    `Context compacted${window === undefined ? "" : ` (window ${window})`}`,

  // Notes
  review: ({ hint }: Optional<"hint">) => `Review${after(hint)}`,
  review_finished: "Review finished",
  sleep: ({ seconds }: Optional<"seconds", number>) =>
    seconds === undefined ? "Slept" : `Slept ${seconds} s`,
  codex_goal: ({ goal, status }: Optional<"goal" | "status">) =>
    `Goal${after(goal)}${status === undefined ? "" : ` (${status})`}`,
  stream_broke: "The stream broke",
  voice_started: "Voice conversation started",
  voice_ended: "Voice conversation ended",
  voice_failed: "Voice conversation failed",
  voice_user: "Said by the user",
  voice_assistant: "Said by the assistant",
  codex_warning: "Warning",
  guardian: ({ status }: { status: string }) => `Guardian: ${status}`,
  codex_shell_output: ({ exit_code, first = "none" }: Optional<"exit_code", number> & Optional<"first">) =>
    `Shell output${exit_code === undefined ? "" : ` (exit code ${exit_code})`}: ${first}`,
};

/** A title of `codexTitles` with its code. */
export const codexTitle = codedTexts(codexTitles);
