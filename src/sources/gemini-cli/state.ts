import type { Frame } from "../../model/frames/frame.ts";
import type { SessionLinkFacts } from "../contract.ts";
import { sessionIdOf } from "../conversation/session-id.ts";

/** State of a Gemini CLI session between records. */
export interface GeminiState {
  session_id?: string;
  /** From the file's path: the session that started this run, and the run's name. */
  parent?: string;
  stem: string;
  isRun: boolean;
  at: number;
  started_at?: number;
  /** `type:id` of the messages so far, newest last. */
  messages: string[];
  /** Messages that a rewind retracted. The agent may write them again. */
  rewound: string[];
  /** The model of the last message that names one. */
  model?: string;
  /** The model's last message, which is the step of its calls. */
  last?: string;
  /** Recently emitted calls, and recently ended ones. */
  started: string[];
  ended: string[];
  calls: SessionLinkFacts["calls"];
  /** The last part is an interrupt. */
  interrupted?: boolean | undefined;
  context_told?: boolean;
  /** Length and start of the summary that last replaced the model's context. Later mirrors of the context begin with it too. */
  compressed?: string;
  /** Frames buffered before the first message of the conversation, without which the file is not a session. Absent after it. */
  held?: Frame[] | undefined;
}

/** A session's id in Verbatim, from the agent's id or the name of the file. */
export const idOf = (name: string): string => sessionIdOf("gemini-cli", name);
