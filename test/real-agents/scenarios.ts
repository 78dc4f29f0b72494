import type { Block, Scenario } from "./model-server.ts";

/** Agents that are driven in a terminal. */
export type AgentName = "claude-code" | "codex" | "opencode";

/** The call by which a model asks this agent to run a shell command, so that the agent asks the person first. */
export function shellCall(agent: AgentName, command: string): Block {
  switch (agent) {
    case "claude-code":
      return { tool: "Bash", input: { command, description: "Run a command" } };
    case "codex":
      return {
        tool: "exec_command",
        input: { cmd: command, sandbox_permissions: "require_escalated", justification: "May I run this?" },
      };
    case "opencode":
      return { tool: "bash", input: { command, description: "Run a command" } };
  }
  return agent satisfies never;
}

const COLOURS = [
  { label: "Red", description: "Like a rose" },
  { label: "Blue", description: "Like the sea" },
  { label: "Green", description: "Like grass" },
];

/** A question of which several options may be chosen. */
function questionCall(agent: "claude-code" | "opencode"): Block {
  const question = { question: "Which colours?", header: "Colours", options: COLOURS };
  return agent === "claude-code"
    ? { tool: "AskUserQuestion", input: { questions: [{ ...question, multiSelect: true }] } }
    : { tool: "question", input: { questions: [{ ...question, multiple: true }] } };
}

/** The file that Claude Code wants its plan in. It names it in the request. */
const planFile = (request: string): string =>
  /\/[^\s"\\]*\/plans\/[\w-]+\.md/.exec(request)?.[0] ?? "plan.md";

export const SCENARIOS = (agent: AgentName): Record<string, Scenario> => ({
  touch: [
    [{ think: "A file is wanted." }, { text: "I make the file." }, shellCall(agent, "touch made.txt")],
    [{ text: "That was it." }],
  ],
  slow: [[{ text: "I begin.\n\nIt takes long.\n\n" }, { pause: 600_000 }]],
  failure: [[{ text: "I look first." }, shellCall(agent, "true")], [{ status: 400 }]],
  ...(agent === "codex" ? {} : { question: [[questionCall(agent)], [{ text: "Thank you." }]] }),
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
  parent: [
    [
      { text: "A helper makes it." },
      {
        tool: "Agent",
        input: {
          description: "Make a file",
          prompt: "[[scenario:child]] Make a file",
          subagent_type: "general-purpose",
        },
      },
    ],
    [{ text: "The helper is done." }],
  ],
  // A sub-agent's request is held only while a page shows its session: the pause lets the page open it.
  child: [
    [{ text: "I help." }, { pause: 5_000 }, shellCall(agent, "touch helped.txt")],
    [{ text: "It helped." }],
  ],
});
