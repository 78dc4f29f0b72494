import type { Frame } from "../model/frames/frame.ts";
import type { HistoryEvent } from "../model/messages/history.ts";
import type { Part } from "../model/messages/part.ts";
import type { Answer, Request } from "../model/request.ts";

/** A prompt from the user or a parent agent. */
export interface Prompt {
  /** The id of the user message, chosen by the sender. Sending a prompt with the same id again has no effect. */
  message_id: string;
  parts: Part[];
}

/** How a turn ended. */
export type TurnOutcome = "completed" | "failed" | "interrupted";

/** Options of a run, which is a session that a tool call of another session starts. */
export interface RunOptions {
  tool_call_id: string;
  /** The kind of agent, as named by the model. */
  name?: string;
  /** The task in a few words. */
  task?: string;
  prompt: string;
}

/** The result of a run, for the model that started it and for the card of its call. */
export interface RunReport {
  session_id: string;
  outcome: TurnOutcome;
  /** The run's last text. */
  text: string;
  /** Whether the last step had no text, so that `text` is from an earlier one. */
  is_earlier?: boolean;
  tokens?: number;
  tool_calls: number;
  duration_ms: number;
}

/**
 * What a session provides to its agent. The host stores and publishes what the agent does. The frames that an agent emits are its
 * only output.
 */
export interface AgentHost {
  readonly session_id: string;
  /** Absolute path of the session's folder. */
  readonly cwd: string;
  /** Nesting depth: 0 for a session that the user started, 1 for its runs, and so on. */
  readonly depth: number;
  /** Path of an existing folder for the complete outputs and images of this session and of those that it was forked from. */
  readonly files: string;
  /** Absolute path of the data folder with keys and histories. File tools must not access it, except for `files`. */
  readonly private_folder: string;
  now(): number;
  /**
   * Stores an external agent's own id of the session. `false`: another session of this daemon has the agent's session open, so it
   * must not be opened again.
   */
  claimAgentSession(id: string): boolean;
  /** Emits frames in order. `session_id` must be the session's. */
  emit(frame: Frame): void;
  /** Resolves when everything emitted is on disk. Await it before irreversible actions. */
  stored(): Promise<void>;
  /** The history so far, including the emitted frames up to the last complete message. */
  history(): readonly HistoryEvent[];
  /**
   * Shows a request to the user and waits for the answer. Calls with the same `request_id` wait for the same answer. A request
   * that was open when the daemon ended is open again after a restart. Resolves with `undefined` if nobody answers in time or the
   * signal is aborted. The host emits `request.open` and `request.close`.
   */
  ask(request: Request, signal: AbortSignal): Promise<Answer | undefined>;
  /** Returns prompts to be added to the running turn, each one once. The host has emitted them as queued `user.message`s. */
  takeSteering(): Prompt[];
  /** Starts a sub-agent in its own session, which is recorded before it starts. An abort stops it and all its runs. */
  startRun(options: RunOptions, signal: AbortSignal): Promise<RunReport>;
}

/** Drives a session: either Verbatim's own loop or an external agent. */
export interface Agent {
  /**
   * Runs one turn. The host has emitted `turn.start` and the prompt's `user.message`, and emits `turn.end`. The agent emits
   * everything in between, including `interrupt` after an abort. Never rejects: a failure is an `error` frame and the outcome
   * `failed`.
   */
  run(prompt: Prompt, signal: AbortSignal): Promise<TurnOutcome>;
  /**
   * Resumes a turn that was waiting for an answer when the daemon ended. The host has ended the calls that may have run. The
   * other calls are still open. Absent: not supported.
   */
  resume?(signal: AbortSignal): Promise<TurnOutcome>;
  /** Summarizes the context in a turn of its own. Absent: not supported. */
  compact?(signal: AbortSignal): Promise<TurnOutcome>;
  /** Sets the model for the following calls. Absent: not supported. */
  setModel?(model: string): void;
  /** Ends all processes and connections. */
  close(): Promise<void>;
}
