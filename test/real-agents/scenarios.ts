import type { Block, Scenario } from "./model-server.ts";

/** Agents that are driven through whole turns in a terminal. */
export type AgentName = "claude-code" | "codex" | "opencode";
/** Agents that play scenarios. */
export type ScriptedAgent = AgentName | "qwen-code" | "copilot-cli";

/** The call by which a model asks this agent to run a shell command, so that the agent asks the person first. */
export function shellCall(agent: ScriptedAgent, command: string): Block {
  switch (agent) {
    case "claude-code":
      return { tool: "Bash", input: { command, description: "Run a command" } };
    case "codex":
      return {
        tool: "exec_command",
        input: { cmd: command, sandbox_permissions: "require_escalated", justification: "May I run this?" },
      };
    case "opencode":
    case "copilot-cli":
      return { tool: "bash", input: { command, description: "Run a command" } };
    case "qwen-code":
      return {
        tool: "run_shell_command",
        input: { command, description: "Run a command", is_background: false },
      };
  }
  return agent satisfies never;
}

const COLOURS = [
  { label: "Red", description: "Like a rose" },
  { label: "Blue", description: "Like the sea" },
  { label: "Green", description: "Like grass" },
];

/** A question. Several of its options may be chosen, except with Codex. */
function questionCall(agent: AgentName): Block {
  const question = { question: "Which colours?", header: "Colours", options: COLOURS };
  switch (agent) {
    case "claude-code":
      return { tool: "AskUserQuestion", input: { questions: [{ ...question, multiSelect: true }] } };
    case "opencode":
      return { tool: "question", input: { questions: [{ ...question, multiple: true }] } };
    case "codex":
      return { tool: "request_user_input", input: { questions: [{ ...question, id: "colours" }] } };
  }
  return agent satisfies never;
}

/** The file for Claude Code's plan, which the request names. */
const planFile = (request: string): string =>
  /\/[^\s"\\]*\/plans\/[\w-]+\.md/.exec(request)?.[0] ?? "plan.md";

export const SCENARIOS = (agent: ScriptedAgent): Record<string, Scenario> => ({
  touch: [
    [{ think: "A file is wanted." }, { text: "I make the file." }, shellCall(agent, "touch made.txt")],
    [{ text: "That was it." }],
  ],
  greeting: [[{ text: "Hello." }]],
  slow: [[{ text: "I begin.\n\nIt takes long.\n\n" }, { pause: 600_000 }]],
  failure: [[{ text: "I look first." }, shellCall(agent, "true")], [{ status: 400 }]],
  ...(asksQuestions(agent) && {
    question: [[questionCall(agent)], [{ text: "Thank you." }]],
    parent: parentOf(agent),
  }),
  plan: [
    [
      { text: "I plan." },
      {
        tool: "Write",
        input: (request) => ({ file_path: planFile(request), content: "# Plan\n\n1. Paint it\n" }),
      },
    ],
    [{ tool: "ExitPlanMode", input: {} }],
    [{ text: "The answer to the plan has come." }],
  ],
  order: [[{ tool: "mcp__shop__order", input: {} }], [{ text: "It is ordered." }]],
  child: [[{ text: "I help." }, shellCall(agent, "touch helped.txt")], [{ text: "It helped." }]],
});

const asksQuestions = (agent: ScriptedAgent): agent is AgentName =>
  agent !== "qwen-code" && agent !== "copilot-cli";

/** A sub-agent does the work. */
function parentOf(agent: AgentName): Scenario {
  const description = "Make a file";
  const prompt = "[[scenario:child]] Make a file";
  const said = { text: "A helper makes it." };
  const done = [{ text: "The helper is done." }];
  switch (agent) {
    case "claude-code":
      return [
        [said, { tool: "Agent", input: { description, prompt, subagent_type: "general-purpose" } }],
        done,
      ];
    case "opencode":
      return [[said, { tool: "task", input: { description, prompt, subagent_type: "general" } }], done];
    case "codex":
      return [
        [said, { tool: "spawn_agent", namespace: "multi_agent_v1", input: { message: prompt } }],
        [
          {
            tool: "wait_agent",
            namespace: "multi_agent_v1",
            input: (request) => ({ targets: [spawnedAgent(request)], timeout_ms: 60_000 }),
          },
        ],
        done,
      ];
  }
  return agent satisfies never;
}

/** The id of the sub-agent in the result of Codex's `spawn_agent`, which is JSON in a string of the request. */
const spawnedAgent = (request: string): string =>
  /\\"agent_id\\":\\"([\w-]+)\\"/.exec(request)?.[1] ?? "unknown";
