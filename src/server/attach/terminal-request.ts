import type { Answer, Request } from "../../model/request.ts";
import type { DisplayText } from "../../model/text/display-text.ts";

/** A request of an agent in a terminal, while its hook waits for an answer. */
export interface TerminalRequest {
  /** The agent's own session id. */
  session_id: string;
  agent: string;
  cwd?: string;
  /** An approval request, or one request per question of a form. */
  requests: readonly Request[];
  /** The agent opens its own dialog only after the hook has ended. */
  hides_dialog: boolean;
  /** The source that reveals an answer in the terminal: the agent itself, or its process registry. */
  ends_by: "agent" | "register";
  /** Whether it comes from the session's main thread, which has one request at a time. */
  is_main: boolean;
  /** Why an answer to one of the requests cannot be sent. `undefined`: it can. */
  problemOf?(request_id: string, answer: Answer): DisplayText | undefined;
  /** Whether the answers suffice for a reply. Absent: once each request is answered. */
  isComplete?(answers: ReadonlyMap<string, Answer>): boolean;
  /** The hook's output for the answers, by request id. */
  replyTo(answers: ReadonlyMap<string, Answer>): unknown;
}

/** The connection to the hook process or to the agent's server. */
export interface HookConnection {
  /** Sends an answer to the agent and closes the connection. */
  answer(reply: unknown): void;
  /** Leaves the decision to the terminal and closes the connection. */
  release(): void;
  /** Calls the listener if the other side closes the connection before it was answered or released. */
  onGone(listener: () => void): void;
}
