import type { SessionSummary } from "../../model/session.ts";
import type { SessionConfig, SessionState } from "../../store/history/session-config.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { Host } from "./host.ts";
import type { Recorder } from "./record/recorder.ts";

/** A managed or pushed session. Keeps only its row while it is idle and has no viewers. */
export interface ManagedSession {
  readonly id: string;
  /** The values when the session was last loaded. */
  summary: SessionSummary;
  config: SessionConfig;
  state: SessionState;
  has_pending: boolean;
  recorder?: Recorder;
  /** Set while its record is being read. */
  loading?: Promise<Recorder>;
  host?: Host;
  view?: SessionView;
  used_at: number;
}

/** The settings of a session as of now. */
export const configOf = ({ recorder, config }: ManagedSession): SessionConfig => recorder?.config ?? config;

/** The sessions that continue an external agent's session, by the agent's own id. */
export const withAgentSession = (
  entries: ReadonlyMap<string, ManagedSession>,
  agent_session: string,
): ManagedSession[] =>
  [...entries.values()].filter((entry) => configOf(entry).agent_session === agent_session);
