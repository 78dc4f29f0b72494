import type { Frame } from "../model/frames/frame.ts";
import type { HistoryEvent } from "../model/messages/history.ts";
import type { Part } from "../model/messages/part.ts";
import type { Answer, Request } from "../model/request.ts";

/** What a person (or a parent agent) asks for. */
export interface Prompt {
  /** The id of the user message, made by whoever sends it: a prompt sent twice is one prompt. */
  message_id: string;
  parts: Part[];
}

/** How a turn ended. */
export type TurnOutcome = "completed" | "failed" | "interrupted";

/** A run: a session that a tool call of another session started. */
export interface RunOptions {
  tool_call_id: string;
  /** Kind of agent, as the model named it. */
  name?: string;
  /** What it is to do, in a few words. */
  task?: string;
  prompt: string;
}

/** What came of a run: for the model that started it, and for the card of its call. */
export interface RunReport {
  session_id: string;
  outcome: TurnOutcome;
  /** The run's last text. */
  text: string;
  /** Its last step said nothing: the text is of one before. */
  is_earlier?: boolean;
  tokens?: number;
  tool_calls: number;
  duration_ms: number;
}

/**
 * What a session gives the agent that drives it. The session stores, shows and remembers; the agent works. Everything that an
 * agent does reaches the world as a frame given to `emit`.
 */
export interface AgentHost {
  readonly session_id: string;
  /** Absolute path of the session's folder. */
  readonly cwd: string;
  /** 0 for a session that a person started, 1 for its runs, and so on. */
  readonly depth: number;
  /** Folder of the session's own for whole outputs and images, its own and those of the sessions that it was forked from. Exists. */
  readonly files: string;
  /** Absolute path of the daemon's own folder, with keys and histories: file tools do not go into it, `files` excepted. */
  readonly private_folder: string;
  now(): number;
  /** Takes frames in order; `session_id` must be the session's. */
  emit(frame: Frame): void;
  /** Resolves when all that was emitted is on disk: await it before anything that cannot be taken back. */
  stored(): Promise<void>;
  /** The history so far, with what was emitted up to the last message that was ended. */
  history(): readonly HistoryEvent[];
  /**
   * Asks a person, in the transcript where it is called, and waits. The same `request_id` again waits for the same answer. A
   * request that was open when the daemon ended is open again after it. Resolves with `undefined` when nobody answered in
   * time or the signal was aborted; the host emits `request.open` and `request.close`.
   */
  ask(request: Request, signal: AbortSignal): Promise<Answer | undefined>;
  /** Prompts that are to go into the running turn now; taken once. The host has emitted them as queued `user.message`s. */
  takeSteering(): Prompt[];
  /** Starts a sub-agent in a session of its own, recorded before it starts; an abort stops it and all below it. */
  startRun(options: RunOptions, signal: AbortSignal): Promise<RunReport>;
}

/** What drives one session: Verbatim's own loop, or an agent behind a protocol. */
export interface Agent {
  /**
   * One turn. The host has emitted `turn.start` and the prompt's `user.message`, and emits `turn.end`; everything between is
   * the agent's, `interrupt` after an abort included. Never rejects: a failure is an `error` frame and the outcome `failed`.
   */
  run(prompt: Prompt, signal: AbortSignal): Promise<TurnOutcome>;
  /**
   * Goes on with a turn that the daemon's end cut off while it waited for an answer. The host has settled the calls that may
   * have run; those that are still open are taken up again. Absent: it cannot.
   */
  resume?(signal: AbortSignal): Promise<TurnOutcome>;
  /** Summarises what came before to make room, as a turn of its own would. Absent: it cannot. */
  compact?(signal: AbortSignal): Promise<TurnOutcome>;
  /** The session's model from the next call on. Absent: it cannot be changed. */
  setModel?(model: string): void;
  /** Ends processes and connections. */
  close(): Promise<void>;
}
