import { codedTexts } from "./catalog.ts";
import { after, type Optional } from "./title-words.ts";

/** `Hook Stop`, or what a hook without a name is called. */
const hook = (name: string | undefined, unnamed: string): string =>
  name === undefined ? unnamed : `Hook ${name}`;

/** `12,345`. No `toLocaleString`: its first use costs as much as reading a megabyte. */
const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** The titles that the reader of Claude Code writes. */
export const claudeCodeTitles = {
  // Records without the expected content
  claude_unreadable_line: "Unreadable line",
  unreadable_answer: "Unreadable answer of the model",
  unreadable_message: "Unreadable message",
  assistant_line_without_message: "assistant line without a message",
  user_line_without_message: "user line without a message",
  attachment_of_type: ({ type = "unknown" }: Optional<"type">) => `Attachment of type ${type}`,
  notice_of_type: ({ type = "none" }: Optional<"type">) => `System notice of type ${type}`,

  // Errors and models
  claude_api_error: "API error",
  claude_run_failed: "The run failed",
  fell_back: ({ from = "one model", to = "another" }: Optional<"from" | "to">) =>
    `Fell back from ${from} to ${to}`,
  model_refused: ({ reason }: Optional<"reason">) => `The model refused${after(reason)}`,
  refusal_answered_again: ({ from, to }: Optional<"from" | "to">) =>
    `The model refused: answered again${to === undefined ? "" : ` by ${to}`}${from === undefined ? "" : ` instead of ${from}`}`,
  api_retry: ({
    status,
    attempt,
    most,
    seconds,
    reason,
  }: Optional<"status" | "attempt" | "most" | "seconds", number> & Optional<"reason">) => {
    const of = most === undefined ? "" : ` of ${most}`;
    const retry = attempt === undefined ? "" : `, retry ${attempt}${of}`;
    const wait = seconds === undefined ? "" : ` in ${seconds} s`;
    return `API error${status === undefined ? "" : ` ${status}`}${retry}${wait}${after(reason)}`;
  },

  // Hooks
  hook_said: ({ name, text }: Optional<"name"> & { text: string }) => `${hook(name, "Hook")}: ${text}`,
  hook_added_context: ({ name }: Optional<"name">) => `${hook(name, "Hook")} added context`,
  hook_context: ({ name, text }: Optional<"name"> & { text: string }) =>
    `Context from ${name === undefined ? "a hook" : `hook ${name}`}: ${text}`,
  hook_blocked: ({ name, text }: Optional<"name" | "text">) =>
    `${hook(name, "A hook")} blocked this${after(text)}`,
  hook_cancelled: ({ name, text }: Optional<"name" | "text">) =>
    `${hook(name, "A hook")} was cancelled${after(text)}`,
  claude_hook_failed: ({ name, text }: Optional<"name" | "text">) =>
    `${hook(name, "A hook")} failed${after(text)}`,
  hook_ended_turn: ({ name, text }: Optional<"name" | "text">) =>
    `${hook(name, "A hook")} ended the turn${after(text)}`,
  stop_hook_continued: ({ message }: { message: string }) => `A stop hook kept the agent going: ${message}`,
  stop_hook_ended_turn: ({ message }: Optional<"message">) => `A stop hook ended the turn${after(message)}`,
  stop_hook_said: ({ message }: Optional<"message">) => `A stop hook said${after(message)}`,
  stop_hook_failed: ({ message }: Optional<"message">) => `A stop hook failed${after(message)}`,

  // Context
  file_attached: ({ name = "a file" }: Optional<"name">) => `Attached ${name}`,
  folder_attached: ({ name = "a folder" }: Optional<"name">) => `Attached ${name}`,
  changed_outside: ({ name = "a file" }: Optional<"name">) => `Changed outside of the agent: ${name}`,
  read_before_compaction: ({ name = "a file" }: Optional<"name">) => `Read before the compaction: ${name}`,
  file_read_in_part: "A file was read in part",
  from_editor: ({ name = "a file" }: Optional<"name">) => `From the editor: ${name}`,
  editor_context: ({ text }: { text: string }) => `From the editor: ${text}`,
  memory_file: ({ name = "a file" }: Optional<"name">) => `Memory: ${name}`,
  instruction_files: ({ names }: { names: string }) => `Instructions: ${names}`,
  instruction_files_removed: ({ names }: { names: string }) => `Instructions removed: ${names}`,
  instructions_loaded: ({ text }: { text: string }) => `Instructions loaded: ${text}`,
  mcp_instructions: ({ names }: { names: string }) => `MCP instructions: ${names}`,
  mcp_instructions_removed: ({ names }: { names: string }) => `MCP instructions removed: ${names}`,
  plan_kept: ({ name = "a file" }: Optional<"name">) => `Plan: ${name}`,
  structured_output: "Structured output",
  plan_mode_on: "Plan mode on",
  plan_mode_off: "Plan mode off",
  auto_mode_on: "Auto mode on",
  auto_mode_off: "Auto mode off",
  diagnostics: ({ first, more }: { first: string; more: number }) =>
    `Diagnostics: ${first}${more === 0 ? "" : ` and ${more} more`}`,
  command_expansion: ({ command }: { command: string }) => `Expansion of ${command}`,
  context_added: ({ text }: { text: string }) => `Context added: ${text}`,
  tagged_context_added: ({ tag, text }: { tag: string; text: string }) => `Context added (${tag}): ${text}`,
  added_around_task: ({ text }: { text: string }) => `Added around the task: ${text}`,

  // Compactions
  conversation_summary: "Summary of the conversation so far",
  old_outputs_dropped: ({ saved }: Optional<"saved", number>) =>
    `Old tool outputs dropped from the context${saved === undefined ? "" : `, ${grouped(saved)} tokens saved`}`,
  part_summarized: "Part of the conversation was summarized",
  /** `trigger`: `manual` or `auto`. `before`, `now`: numbers of tokens. */
  compacted_by: ({ trigger, before, now }: Optional<"trigger"> & Optional<"before" | "now", number>) => {
    const how = trigger === "manual" ? " by command" : trigger === "auto" ? " automatically" : "";
    const rest = now === undefined ? "" : `, ${grouped(now)} after`;
    return `Conversation compacted${how}${before === undefined ? "" : `, ${grouped(before)} tokens before${rest}`}`;
  },

  // Notes
  goal_met: ({ goal }: Optional<"goal">) => `Goal met${after(goal)}`,
  goal_set: ({ goal }: Optional<"goal">) => `Goal set${after(goal)}`,
  goal_not_met: ({ goal }: Optional<"goal">) => `Goal not met yet${after(goal)}`,
  program_note: ({ text }: { text: string }) => `Note from the agent's program: ${text}`,
  recap: ({ text }: { text: string }) => `Recap: ${text}`,
  bridge_status: ({ text }: { text: string }) => `Bridge status: ${text}`,
  model_change: ({ text }: { text: string }) => `Model change: ${text}`,
  background_agents_stopped: "The user stopped all background agents",
  timer_fired: ({ prompt = "a timer fired" }: Optional<"prompt">) => `Scheduled: ${prompt}`,
  slash_command: ({ command }: { command: string }) => `Command ${command}`,
  command_note: ({ text }: { text: string }) => `Command: ${text}`,
  command_output: ({ text }: { text: string }) => `Command output: ${text}`,
  claude_shell_output: ({ text }: { text: string }) => `Shell output: ${text}`,
  shell_error_output: ({ text }: { text: string }) => `Shell error output: ${text}`,
  permission_mode_changed: ({ before, now }: { before: string; now: string }) =>
    `Permission mode: ${before} → ${now}`,
  queued_not_sent: ({ prompt }: { prompt: string }) => `Queued prompt, no record that it was sent: ${prompt}`,
  claude_rewound_turns: ({ turns }: { turns: number }) =>
    `Rewound to an earlier prompt: ${turns === 1 ? "the turn above is" : `${turns} turns above are`} abandoned`,
  concurrent_turn: ({ beginning }: { beginning: string }) =>
    `Another process also writes this session. The following belongs to the turn “${beginning}”`,
  copied_above: "Everything above was copied from another session",
  continued_elsewhere: "The conversation continues in another session",
  ended_by_model: "The model ended the conversation",
  memory_saved: ({ names }: { names: string }) => `Memory saved: ${names}`,
  max_turns_reached: ({ turns }: Optional<"turns", number>) =>
    turns === undefined ? "Stopped at the limit of turns" : `Stopped after ${turns} turns`,
  teammates_shut_down: ({ count }: { count: number }) =>
    count === 1 ? "A teammate shut down" : `${count} teammates shut down`,
  pull_request: ({ name }: { name: string }) => `Pull request ${name}`,

  // Notices of `claude -p` and the Agent SDK. `limit`: `five_hour`, `seven_day`
  claude_rate_limit_reached: ({ limit }: Optional<"limit">) => `Rate limit reached${after(limit)}`,
  claude_rate_limit_near: ({ limit }: Optional<"limit">) => `Rate limit nearly reached${after(limit)}`,
  permission_denied: ({ tool = "a tool", reason }: Optional<"tool" | "reason">) =>
    `Permission denied for ${tool}${after(reason)}`,
  summary_of_calls: ({ text }: { text: string }) => `Summary of the calls: ${text}`,
  claude_suggested_prompt: ({ prompt }: { prompt: string }) => `Suggested prompt: ${prompt}`,
  sign_in_failed: ({ error }: { error: string }) => `Sign-in failed: ${error}`,
  mirror_failed: ({ error }: { error: string }) => `The session could not be mirrored: ${error}`,
  plugin_not_installed: ({ name }: Optional<"name">) =>
    `${name === undefined ? "A plugin" : `Plugin ${name}`} was not installed`,
};

/** A title of `claudeCodeTitles` with its code. */
export const claudeCodeTitle = codedTexts(claudeCodeTitles);
