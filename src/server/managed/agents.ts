import type { PastSessionsPage, PastSessionToRead } from "../../agent/acp/past-sessions.ts";
import type { Agent, AgentHost } from "../../agent/agent.ts";
import type { Frame } from "../../model/frames/frame.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import type { AgentsReply } from "../../protocol.ts";
import type { SessionConfig } from "../../store/history/session-config.ts";

/** A kind of agent with which sessions can be started. */
export interface AgentKind {
  /** Its entry in the list of agents. */
  readonly entry: AgentsReply["agents"][number];
  /** Whether prompts can be added to the running turn. */
  readonly can_steer: boolean;
  /** Whether the history is its complete state, so that it can be closed and created again at any time, forked and rewound. */
  readonly from_history: boolean;
  /** Whether it can resume a turn that was interrupted by the end of the daemon while it waited for an answer. */
  readonly can_resume: boolean;
  readonly can_compact: boolean;
  readonly can_switch_model: boolean;
  /** Checks a model, as far as possible without calling it. Resolves with the problem, if any. */
  problemOf?(model: string): Promise<DisplayText | undefined>;
  /** Sessions that the agent itself stores. Absent: it stores none. The methods reject with a `PastSessionsFailure`. */
  readonly past?: {
    /** Lists a page of sessions. `cwd`: only those in this folder; `cursor`: `next` of the previous page. */
    list(
      options: { cwd?: string | undefined; cursor?: string | undefined },
      signal: AbortSignal,
    ): Promise<PastSessionsPage>;
    /** The history of one of them, as frames of the session that continues it. */
    read(options: PastSessionToRead, signal: AbortSignal): Promise<readonly Frame[]>;
  };
  /** Creates a session's agent when its first turn begins. May reject with a message for the user. */
  create(config: SessionConfig, host: AgentHost): Agent | Promise<Agent>;
}

/** All kinds of agents in the current configuration. */
export interface Agents {
  list(): readonly AgentKind[];
  find(id: string): AgentKind | undefined;
}
