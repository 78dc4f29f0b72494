import { codedTexts } from "./catalog.ts";

/** What starts an agent that has ended: `prompt` (the next one), or `again` (the user has to try again). */
const nextStart = (retry: string): string =>
  retry === "prompt" ? "The next prompt starts it again" : "Try again";

/** The last sentence about a program that has ended. */
const runIt = (retry: string, command: string): string =>
  `${nextStart(retry)}; if it ends again, run ${command} in a terminal to see why.`;

/** The titles that Verbatim's own agent writes, its drivers of other agents, and the daemon. */
export const agentTitles = {
  // Verbatim's own agent
  model_is: ({ model }: { model: string }) => `Model: ${model}`,
  output_limit_reached: "The model stopped at its output limit",
  step_limit_reached: ({ steps }: { steps: number }) => `The turn reached its limit of ${steps} steps`,
  send_prompt_to_continue: "Send a prompt to continue.",
  agent_turn_failed: "The turn failed",
  nothing_to_summarize: "There is nothing to summarize",
  summarizing_conversation: "Summarizing the conversation to free context space",
  context_summarized: "Conversation summarized to free context space",
  summary_stopped: "The summary was stopped",
  conversation_not_summarized: "The conversation could not be summarized",
  arguments_of_unstarted_call: "Arguments of a call that never started",
  deltas_of_unstarted_block: "Deltas of a block that never started",
  content: "Content",

  // Sessions of the daemon
  context_rewound: ({ turns }: { turns: number }) =>
    `Rewound to an earlier prompt: ${turns === 1 ? "the turn above is" : `${turns} turns above are`} out of the agent's context`,
  agent_cannot_compact: "This agent cannot compact its context.",
  agent_cannot_resume: "This agent cannot resume an interrupted turn.",
  session_agent_closed: "The session's agent was closed.",
  agent_not_configured: ({ agent }: { agent: string }) =>
    `The agent ${JSON.stringify(agent)} is no longer configured.`,
  choose_model: ({ provider }: { provider: string }) => `Choose a model of ${provider}.`,
  rest_not_shown: "The rest of this session is not shown",
  not_indexed_yet: ({ size }: { size: string }) => `The ${size} before this are not indexed yet`,

  // Agents that are driven over ACP: what they send
  mode_is: ({ mode }: { mode: string }) => `Mode: ${mode}`,
  agent_notice: "Notice",
  agent_commands: ({ count }: { count: number }) =>
    `The agent has ${count} ${count === 1 ? "command" : "commands"}`,
  agent_summarized: "The agent summarized the conversation so far",
  agent_could_not_summarize: "The agent could not summarize the conversation",
  unfinished_summary: "Unfinished summary",
  agent_step_limit: "The agent ended the turn at its own step limit",
  text_of_sub_agents: "Text of sub-agents",
  sent_after_turn: "Sent after the turn ended",
  started_after_turn: "Started after the turn ended",
  output_after_turn: "Output of an unannounced call, sent after the turn ended",
  prompt_repeated: "Prompt repeated by the agent",
  unnamed_update: "An update without a name",
  unnamed_message: "A message",
  update_not_object: "Update that is not an object",
  unknown_plan: "Plan in an unknown format",
  unknown_usage: "Usage in an unknown format",
  unknown_kind_of_content: "Content of an unknown kind",
  call_without_id: "A tool call without an id",
  form_not_shown: "A form that cannot be shown",
  permission_not_answerable: "A permission request that cannot be answered",
  of_another_session: "Of another session",
  line_not_message: "Line that is not a message",

  // Agents that are driven over ACP: what Verbatim does
  session_begun: ({ agent, session }: { agent: string; session: string }) =>
    `${agent} began its session ${session}`,
  history_sent: ({ agent, session }: { agent: string; session: string }) =>
    `${agent} sent the history above, of its session ${session}`,
  opened_without_history: ({ agent, session }: { agent: string; session: string }) =>
    `${agent} opened its session ${session} without its history`,
  starts_without_memory: ({ agent }: { agent: string }) =>
    `${agent} starts without memory of the conversation above`,
  mcp_server_not_passed: ({ server }: { server: string }) => `The MCP server ${server} is not handed over`,
  model_not_changed: ({ agent }: { agent: string }) => `The model of ${agent} could not be changed`,
  image_not_sent: "Not sent: an image (the agent does not accept images)",
  image_file_not_sent: ({ path }: { path: string }) => `Not sent: ${path} (the agent does not accept images)`,
  unreadable_file_not_sent: ({ path }: { path: string }) => `Not sent: ${path} (cannot be read)`,
  attachment_not_sent: ({ name = "attachment" }: { name?: string | undefined }) =>
    `Not sent: ${name} (the agent does not accept attachments)`,
  part_not_sent: ({ type }: { type: string }) => `Not sent: a part of the type ${type}`,

  // Agents that are driven over ACP: their failures
  login_required: ({ agent, reason }: { agent: string; reason: string }) =>
    `${agent} requires a login: ${reason}`,
  program_missing: ({ agent, command }: { agent: string; command: string }) =>
    `${agent} cannot be started: there is no program ${command}, or the session's folder no longer exists. Install it, or correct the command in the agent's configuration.`,
  not_started: ({ agent, command, reason }: { agent: string; command: string; reason: string }) =>
    `${agent} cannot be started (${command}): ${reason}`,
  killed_unrecorded: ({ agent, reason, retry }: { agent: string; reason: string; retry: string }) =>
    `${agent} was killed: its messages could not be recorded (${reason}). ${nextStart(retry)}.`,
  killed_for_long_message: ({
    agent,
    characters,
    retry,
  }: {
    agent: string;
    characters: number;
    retry: string;
  }) =>
    `${agent} was killed: it sent a message of more than ${new Intl.NumberFormat("en").format(characters)} characters. ${nextStart(retry)}.`,
  ended_with_exit_code: ({
    agent,
    code = "unknown",
    command,
    retry,
  }: {
    agent: string;
    code?: number | string | undefined;
    command: string;
    retry: string;
  }) => `${agent} ended with exit code ${code}. ${runIt(retry, command)}`,
  ended_by_signal: ({
    agent,
    signal,
    command,
    retry,
  }: {
    agent: string;
    signal: string;
    command: string;
    retry: string;
  }) => `${agent} ended by the signal ${signal}. ${runIt(retry, command)}`,
  session_not_opened: ({ agent, reason }: { agent: string; reason: string }) =>
    `${agent} could not open a session: ${reason}`,
  no_session_id: ({ agent }: { agent: string }) => `${agent} opened a session but returned no session id.`,
  session_open_in_process: ({ agent, session }: { agent: string; session: string }) =>
    `The session ${session} of ${agent} is open in another process. Close it there, then send the prompt again.`,
  session_open_in_verbatim: ({ agent, session }: { agent: string; session: string }) =>
    `The session ${session} of ${agent} is open in another session of Verbatim. Send the prompt there.`,
  prompt_refused: ({ agent }: { agent: string }) =>
    `${agent} refused to continue with this prompt and removed it from its context. Rephrase the prompt.`,
};

/** A title of `agentTitles` with its code. */
export const agentTitle = codedTexts(agentTitles);
