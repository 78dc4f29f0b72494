import { CodedError } from "../../model/text/coded-error.ts";

/** Sends prompts to agents that run in terminals. Sessions are named by the agent's own ids. */
export interface TerminalInput {
  /** Whether the session accepts prompts. */
  accepts(session_id: string): boolean;
  /** Begins a turn, or steers the running one. Throws `InputRefused`. */
  prompt(session_id: string, text: string): Promise<void>;
  /** Interrupts the running turn. Throws `InputRefused`. */
  stop(session_id: string): Promise<void>;
}

/** The agent did not accept a prompt or a stop. The message is a sentence with the reason. */
export class InputRefused extends CodedError {
  override readonly name = "InputRefused";
}
