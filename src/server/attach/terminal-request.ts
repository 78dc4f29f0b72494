import type { Answer, Request } from "../../model/request.ts";

/** Something that an agent in a terminal asks, while its hook waits for an answer. */
export interface TerminalRequest {
  /** The session's id in the agent's own words. */
  session_id: string;
  agent: string;
  cwd?: string;
  /** One request for an approval, one for each question of a form. */
  requests: readonly Request[];
  /** The agent opens its own dialog only after the hook has ended. */
  hides_dialog: boolean;
  /** Who says that the terminal has answered: the agent itself, or nobody, so that its register is looked at. */
  ends_by: "agent" | "register";
  /** Asked by the session's main thread, which asks one thing at a time. */
  is_main: boolean;
  /** The hook's output for the answers, by the request's id. */
  replyTo(answers: ReadonlyMap<string, Answer>): unknown;
}

/** The connection to the hook's process, or to the agent's server. */
export interface HookConnection {
  /** Passes an answer to the agent. Ends the connection. */
  answer(reply: unknown): void;
  /** Leaves the decision to the terminal. Ends the connection. */
  release(): void;
  /** Calls the listener when the other side ends before it was answered or released. */
  onGone(listener: () => void): void;
}
