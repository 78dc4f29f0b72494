import type { Prompt } from "../../agent/agent.ts";
import type { Host } from "./host.ts";
import type { Recorder } from "./record/recorder.ts";

/** What users and senders do with the sessions. */
export interface SessionActions {
  /** A queued prompt with its full text. Rejects with `Refused` if there is none. */
  waiting(id: string, message_id: string): Promise<Prompt>;
  /** These methods reject with `Refused`. All but `stop` resolve once the change is on disk. All are idempotent. */
  start(
    session_id: string,
    given: { agent: string; model?: string; cwd: string; prompt: Prompt },
  ): Promise<void>;
  send(id: string, prompt: Prompt, when: "queue" | "steer"): Promise<void>;
  /** `withdrawal_id`: see `Host`. */
  withdraw(id: string, message_id: string, withdrawal_id?: string): Promise<void>;
  /** See `Host`. */
  beginHeld(id: string, message_id: string): Promise<void>;
  /** Resolves once the stop was requested; the end of the turn may take a while. `turn_id`: only stop that turn. */
  stop(id: string, turn_id?: string): Promise<void>;
  compact(id: string): Promise<void>;
  setModel(id: string, model: string): Promise<void>;
  answer(
    id: string,
    request_id: string,
    given: Parameters<Host["answer"]>[1],
  ): Promise<ReturnType<Host["answer"]>>;
  fork(id: string, given: { session_id: string; before: string; prompt?: Prompt }): Promise<void>;
  rewind(id: string, before: string): Promise<void>;
  /** Loads a session's record, if there is one, so that `pushed` can return it until other work runs. */
  load(session_id: string): Promise<void>;
  /** The record of a pushed session, which is loaded. Creates the session if it is new. */
  pushed(session_id: string, agent: string): Recorder;
}
