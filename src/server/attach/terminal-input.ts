/** Sends a person's words to agents that run in terminals. Sessions go by the agent's own ids. */
export interface TerminalInput {
  /** Whether the session takes prompts from here. */
  accepts(session_id: string): boolean;
  /** Begins a turn, or gives the words to the turn that runs. Throws `InputRefused`. */
  prompt(session_id: string, text: string): Promise<void>;
  /** Interrupts the turn that runs. Throws `InputRefused`. */
  stop(session_id: string): Promise<void>;
}

/** The agent did not take what was sent to it; the message says why, as a sentence. */
export class InputRefused extends Error {
  override readonly name = "InputRefused";
}
