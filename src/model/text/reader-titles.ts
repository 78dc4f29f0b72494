import { after, joined, type Optional, tokens, tokensBefore } from "./title-words.ts";

/** The decisions about a call that Copilot CLI records. `approved-by-settings`: `approved`, but not by a person. */
const copilotDecisions: ReadonlyMap<string, string> = new Map([
  ["approved", "allowed"],
  ["approved-by-settings", "allowed by the settings"],
  ["approved-for-session", "allowed for the session"],
  ["approved-for-location", "allowed for the folder"],
  ["denied-interactively-by-user", "refused by the user"],
  ["denied-by-rules", "refused by a rule"],
  ["denied-by-content-exclusion-policy", "refused by a content exclusion"],
  ["denied-by-permission-request-hook", "refused by a hook"],
  [
    "denied-no-approval-rule-and-could-not-request-from-user",
    "refused: no rule allows it, and the user could not be asked",
  ],
  ["cancelled", "withdrawn"],
]);

/** What a branch of a session's tree abandons. `turns`: 0: a part of a turn; absent: nothing. */
function abandoned(turns: number | undefined): string {
  if (turns === undefined) return "";
  if (turns === 0) return ": the rest of its turn is abandoned";
  return turns === 1 ? ": 1 turn above is abandoned" : `: ${turns} turns above are abandoned`;
}

type TaskFacts = Optional<"model"> & Optional<"steps" | "seconds", number>;

/** The facts of an ended task of klaude-code. */
const taskFacts = ({ model, steps, seconds }: TaskFacts): string =>
  after(
    joined([
      model,
      steps === undefined ? undefined : steps === 1 ? "1 step" : `${steps} steps`,
      seconds === undefined ? undefined : `${seconds.toFixed(1)} s`,
    ]),
  );

/** The titles that the reader of one agent writes, or of two related ones. */
export const readerTitles = {
  // Amp
  files_for_model: "Files for the model",
  note: "Note",
  related_thread: ({
    type = "related",
    role,
    thread = "unknown thread",
  }: Optional<"type" | "role" | "thread">) => `${type}${role === undefined ? "" : ` (${role})`}: ${thread}`,

  // Antigravity
  conversation_summarized: "Conversation summarized",
  earlier_conversations: "Earlier conversations",
  note_to_model: "Note to the model",
  knowledge: "Knowledge",
  message_to_agent: "Message to the agent",
  step_of_type: ({ type = "unknown" }: Optional<"type">) => `Step of type ${type}`,
  still_running: ({ tool = "A tool" }: Optional<"tool">) => `${tool} is still running`,

  // ATIF, and lists of chat messages
  continues_trajectory: ({ trajectory }: { trajectory: string }) => `Continues the trajectory ${trajectory}`,
  continues_in: ({ trajectory }: { trajectory: string }) => `Continues in ${trajectory}`,
  system: "System",
  copied_context: "Copied context",
  prompt_of_previous_trajectory: "Prompt of the previous trajectory",
  step_of_source: ({ source = "an unknown source" }: Optional<"source">) => `Step of ${source}`,
  trajectory_of_sub_agent: "A sub-agent's trajectory",
  observation: "Observation",
  reminder_from_the_agent: "Reminder from the agent",
  item_not_message: "Item that is not a message",

  // Cline, and Roo Code
  message_of_kind: ({ kind = "unknown" }: Optional<"kind">) => `Message of kind ${kind}`,
  summary_of_conversation: "Summary of the conversation",
  request_sent_again: "Request sent again",
  response_interrupted: ({ by }: { by: string }) => `Response interrupted by ${by}`,

  // Copilot Chat
  attached_by_editor: "Attached by VS Code",
  references_of_answer: "Used references",
  message_for_model: "Message as sent to the model",
  similar_code: "Code similar to public code",

  // Copilot CLI
  context_truncated: ({ removed }: Optional<"removed", number>) =>
    `Context truncated${after(removed === undefined ? undefined : `${tokens(removed)} removed`)}`,
  context_being_compacted: "Context is being compacted",
  compaction_failed: ({ reason }: Optional<"reason">) => `Compaction failed${after(reason)}`,
  rewound_to_event: "Rewound to an earlier event",
  developer_message: "Developer message",
  attachment: "Attachment",
  sub_agent_failed: "The sub-agent failed",
  model_call_failed: "A model call failed",
  tools_of_provider: "Tools that the provider ran",
  notice: "Notice",
  warning: ({ message = "unknown" }: Optional<"message">) => `Warning: ${message}`,
  mode_changed: ({ before = "unknown", now = "unknown" }: Optional<"before" | "now">) =>
    `Mode: ${before} → ${now}`,
  permission_recovery: ({ status = "unknown" }: Optional<"status">) =>
    `Recovery from a refused permission: ${status}`,
  model_unavailable: ({ model = "unknown" }: Optional<"model">) => `Model no longer available: ${model}`,
  limits_changed: "Limits of the session changed",
  plan_file: ({ operation = "unknown" }: Optional<"operation">) => `Plan file: ${operation}`,
  workspace_file: ({ operation = "unknown", path = "unknown" }: Optional<"operation" | "path">) =>
    `Workspace file ${operation}: ${path}`,
  prompt_scheduled: ({ prompt = "unknown" }: Optional<"prompt">) => `Prompt scheduled: ${prompt}`,
  scheduled_prompt_cancelled: ({ id }: { id: string }) => `Scheduled prompt cancelled: ${id}`,
  autopilot_objective: ({ operation = "unknown" }: Optional<"operation">) =>
    `Autopilot objective: ${operation}`,
  handed_over: ({ source = "unknown" }: Optional<"source">) => `Handed over from ${source}`,
  remote_control_on: "Remote control switched on",
  remote_control_off: "Remote control switched off",
  task_completed: "Task completed",
  task_not_completed: "Task not completed",
  model_routing_failed: ({ reason = "unknown" }: Optional<"reason">) => `Model routing failed: ${reason}`,
  models_chosen: ({ model = "unknown" }: Optional<"model">) => `Models chosen: ${model}`,
  combined_answer: ({ outcome = "unknown" }: Optional<"outcome">) =>
    `Combined answer of the models: ${outcome}`,
  model_in_role: ({ model = "unknown", role = "unknown" }: Optional<"model" | "role">) =>
    `${model} as ${role}`,
  model_in_role_failed: ({
    model = "unknown",
    role = "unknown",
    reason = "unknown",
  }: Optional<"model" | "role" | "reason">) => `${model} as ${role} failed: ${reason}`,
  agent_selected: ({ agent = "unknown" }: Optional<"agent">) => `Agent selected: ${agent}`,
  default_agent_selected: "Default agent selected",
  tools_loaded: ({ tools }: { tools: string }) => `Tools loaded: ${tools}`,
  canvas: ({ title = "unknown" }: Optional<"title">) => `Canvas: ${title}`,
  session_resumed: "Session resumed",
  session_ended: "Session ended",
  session_ended_in_error: "The session ended in an error",
  permission_requested: ({ request }: { request: string }) => `Permission requested: ${request}`,
  permission_decided: ({ request, decision }: Optional<"request"> & { decision: string }) =>
    `Permission requested${after(request)} (${copilotDecisions.get(decision) ?? decision})`,
  hook: ({ hook = "unknown" }: Optional<"hook">) => `Hook ${hook}`,
  hook_failed: ({ hook = "unknown", reason }: Optional<"hook" | "reason">) =>
    `Hook ${hook} failed${after(reason)}`,

  // Cursor
  line_of_kind: ({ kind = "an unknown kind" }: Optional<"kind">) => `Line of ${kind}`,
  turn_ended_with: ({ status }: { status: string }) => `The turn ended: ${status}`,

  // Cursor (IDE)
  prompt_not_stored: "A prompt that Cursor no longer has",

  // Droid
  hook_status: ({ hook, status = "ran" }: { hook: string } & Optional<"status">) => `Hook ${hook}: ${status}`,

  // Gemini CLI
  session_context: "Session context",
  sent_with_output: "Sent with tool output",
  continue: "Continue",
  context_compressed: "Context compressed",

  // goose
  message_for_model_only: "Message for the model only",
  content_not_object: "Content that is not an object",
  notification: "Notification",
  asked_user: "Asked the user",
  user_answered: "The user answered",
  asked_for_approval: ({ tool = "a tool" }: Optional<"tool">) => `Asked for approval: ${tool}`,

  // Hermes Agent
  observed_message: "Chat message not meant for the agent",

  // Inspect
  target: ({ target }: { target: string }) => `Target: ${target}`,
  sample_failed: "The sample failed",
  limit_reached: ({ limit = "unknown" }: Optional<"limit">) => `Limit reached: ${limit}`,
  interrupted_by_limit: "Interrupted by a limit",
  sample_retried: ({ reason }: Optional<"reason">) => `The sample was run again${after(reason)}`,
  info: ({ source }: Optional<"source">) => `Info${source === undefined ? "" : ` from ${source}`}`,
  approval: ({ decision = "unknown" }: Optional<"decision">) => `Approval: ${decision}`,
  approval_of_result: ({ decision = "unknown" }: Optional<"decision">) =>
    `Approval of the result: ${decision}`,
  score: ({ name, value = "none" }: Optional<"name" | "value">) =>
    `Score${name === undefined ? "" : ` ${name}`}: ${value}`,
  score_edited: ({ name, value = "unchanged" }: Optional<"name" | "value">) =>
    `Score${name === undefined ? "" : ` ${name}`} edited: ${value}`,

  // Kimi Code
  summary_of_earlier_conversation: "Summary of the earlier conversation",
  hook_output: "Hook output",
  retry_context: "Retry",
  swarm_mode_entered: "Swarm mode entered",
  swarm_mode_left: "Swarm mode left",
  tower_mode_entered: "Tower mode entered",
  tower_mode_left: "Tower mode left",
  old_results_removed: "Old tool results were removed from the context",
  skill_activated: ({ skill = "unknown" }: Optional<"skill">) => `Skill activated: ${skill}`,
  decided: ({ decision, action = "a call" }: { decision: string } & Optional<"action">) =>
    `${decision}: ${action}`,
  refused_action: ({ action = "a call" }: Optional<"action">) => `Refused: ${action}`,
  undone: ({ turns }: { turns: number }) =>
    `Undone: ${turns === 1 ? "the turn above is" : `${turns} turns above are`} no longer part of the conversation`,

  // Kimi CLI
  step_interrupted: "The step was interrupted. Kimi CLI does not record the error",
  plan_shown: ({ path }: Optional<"path">) => `Plan${after(path)}`,
  side_answer: "Answer to the side question",
  side_question_failed: "The side question failed",

  // klaude-code
  reminder: ({ about }: Optional<"about">) => `Reminder${after(about)}`,
  rewound_by_model: ({ items }: { items: number }) =>
    items === 0
      ? "Rewound by the model"
      : `Rewound by the model: ${items === 1 ? "1 item is withdrawn" : `${items} items are withdrawn`}`,
  rewound_into_fork:
    "Rewound: everything above was copied from another session, the rest of it is summarized",
  prompt_withdrawn: "A prompt was withdrawn",
  task_done: (facts: TaskFacts) => `Task done${taskFacts(facts)}`,
  task_stopped: (facts: TaskFacts) => `Task stopped${taskFacts(facts)}`,
  files_were_changed: ({ files }: { files: number }) =>
    `Changed ${files === 1 ? "1 file" : `${files} files`}`,
  while_away: "While you were away",
  suggested_prompt: "Suggested prompt",
  side_question: ({ question = "" }: Optional<"question">) => `Side question: ${question}`,

  // opencode
  agent_failed: "The agent failed",
  agent: ({ agent = "unknown" }: Optional<"agent">) => `Agent: ${agent}`,
  sub_task: ({ task = "" }: Optional<"task">) => `Sub-task: ${task}`,
  attempt_failed: ({ attempt }: Optional<"attempt", number>) => `Attempt ${attempt ?? ""} failed`,
  context_compacted_by_agent: "Context compacted by the agent",
  files_changed: ({ files }: { files: number }) => `Files changed: ${files}`,

  // OpenHands
  event_of_kind: ({ kind }: { kind: string }) => `Event of kind ${kind}`,
  message_of_the: ({ source = "program" }: Optional<"source">) => `Message of the ${source}`,
  paused_by_user: "Paused by the user",
  condensed: "Condensed",
  condensation_requested: "Condensation requested",

  // pi
  entry_of_type: ({ type = "unknown" }: Optional<"type">) => `Entry of type ${type}`,
  thinking_level: ({ level = "unknown" }: Optional<"level">) => `Thinking level: ${level}`,
  context_compacted_by_extension: ({ before }: Optional<"before", number>) =>
    `Context compacted by an extension${tokensBefore(before)}`,
  summary_of_branch: "Summary of an abandoned branch",
  from_extension: ({ type = "unknown" }: Optional<"type">) => `From an extension: ${type}`,
  label: ({ label }: { label: string }) => `Label: ${label}`,
  label_removed: "Label removed",
  entry_left_out: "An earlier entry was left out of the context",
  entry_replaced: "An earlier entry was replaced in the context",
  copied_entries: "Copied from the session that this one continues. The tokens are counted there",
  own_entries: "The session's own entries begin here",
  continued_from_branch: ({ turns }: Optional<"turns", number>) =>
    `Continued from an abandoned branch${abandoned(turns)}`,
  went_back: ({ turns }: Optional<"turns", number>) => `Went back to an earlier entry${abandoned(turns)}`,
  nested_calls: ({ calls, incomplete }: { calls: number } & Optional<"incomplete">) =>
    `${calls === 1 ? "1 call" : `${calls} calls`} that the tool made, without their output` +
    (incomplete === undefined ? "" : " (incomplete record)"),

  // oh-my-pi
  service_tier: ({ tiers = "default" }: Optional<"tiers">) => `Service tier: ${tiers}`,
  mode_entered: ({ mode = "unknown" }: Optional<"mode">) => `Mode: ${mode}`,
  usual_mode: "Back to the usual mode",
  rules_injected: ({ rules }: { rules: string }) => `Rules added to the context: ${rules}`,
  files_mentioned: "Files that the prompt mentions",
  exited: ({ reason }: Optional<"reason">) => `The agent's process ended${after(reason)}`,

  // Qwen Code
  unknown_part: "Unknown kind of part",
  system_record_of_subtype: ({ subtype }: { subtype: string }) => `System record of subtype ${subtype}`,
  rewound_turns: ({ turns }: { turns: number }) =>
    `Rewound: ${turns === 1 ? "the turn above is" : `${turns} turns above are`} abandoned`,
  rewound_to_prompt: "Rewound to an earlier prompt",
  answer_without_end: "This answer has no recorded end: it was stopped, or the stream ended early",
  context_compacted_tokens: ({ before, now }: { before: number; now: number }) =>
    `Context compacted: ${before} → ${now} tokens`,
  continues_session: "Continues another session",
  attached: ({ files }: { files: string }) => `Attached: ${files}`,
  attached_unreadable: ({ files }: { files: string }) => `Attached: ${files} could not be read`,
  background_task_ended: "A background task ended",
  goal_unnamed: "Goal",
  reminder_of_media: "Reminder of earlier media",
  recording_incomplete: "Qwen Code could not record all of this session",
  output_of: ({ command }: { command: string }) => `Output of ${command}`,
  sub_agent_not_recorded: "Qwen Code records neither the prompt of a sub-agent nor the results of its tools",

  // SWE-agent
  demonstration: ({ role = "message" }: Optional<"role">) => `Demonstration (${role})`,
  run_ended: ({ status = "status not recorded" }: Optional<"status">) => `The run ended: ${status}`,

  // Streams that programs push
  stream_cut: "The stream ended early. The rest was never sent.",
  stream_failed: "The stream reported a failure",
  stream_line: ({ line }: { line: number }) => `Line ${line}`,
  event_without_type: "An event without a type",
  step_named: ({ step = "unnamed" }: Optional<"step">) => `Step: ${step}`,
  state: "State",
  state_changed: "State changed",
  activity: "Activity",
  activity_changed: ({ activity = "Activity" }: Optional<"activity">) => `${activity} changed`,
  activity_added: ({ activity = "Activity" }: Optional<"activity">) =>
    `${activity}, which does not replace the earlier content`,
  custom_event: "Custom event",
  custom_content: "Custom content",
  result_of_run: "Result of the run",
  run_waits: "The run is waiting for a person",
  run_failed: ({ code }: Optional<"code">) => `The run failed${code === undefined ? "" : ` (${code})`}`,
  answer_to: ({ question = "an interrupt", status = "unknown" }: Optional<"question" | "status">) =>
    `Answer to ${question}: ${status}`,
  all_messages: ({ messages }: { messages: number }) => `All ${messages} messages, as the source has them`,
  sub_agent_run_ended: ({ name = "A sub-agent" }: Optional<"name">) => `${name} ended`,
  sub_agent_run_waits: ({ name = "A sub-agent" }: Optional<"name">) => `${name} waits for a person`,
  sub_agent_run_failed: ({ name = "A sub-agent", reason = "no reason given" }: Optional<"name" | "reason">) =>
    `${name} failed: ${reason}`,
  sub_agent_run_did_not_end: ({ name = "A sub-agent" }: Optional<"name">) => `${name} did not end`,
  citations: "Citations",
  source: ({ source = "unnamed" }: Optional<"source">) => `Source: ${source}`,
  message_metadata: "Message metadata",
  call_waits: "The call is waiting for approval",
  call_approved: "The call was approved",
  call_refused: "The call was refused",
  approval_answered: "The approval was answered",
};
