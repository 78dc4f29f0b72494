/** What an agent's own server says of a session that it has open. Times in milliseconds since 1970. */
export interface AgentState {
  /** Whether a turn is in progress, including one that waits for its user. */
  busy: boolean;
  /** It waits for its user; `for`: in the words of Claude Code's register, which all agents share here. */
  waiting?: { for: string };
  since: number;
}
