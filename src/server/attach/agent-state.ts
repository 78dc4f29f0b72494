import type { TerminalPlace } from "../../model/session.ts";

/** The state of a session as reported by the agent's own server or its hooks. Times in milliseconds since 1970. */
export interface AgentState {
  by: "server" | "hook";
  /** Whether a turn is in progress, including one that waits for the user. */
  busy: boolean;
  /** Waits for the user. `for`: the reason in the wording of Claude Code's process registry, used here for all agents. */
  waiting?: { for: string };
  since: number;
  /** The terminal of the agent that waits, if it is known. */
  terminal?: TerminalPlace;
}
