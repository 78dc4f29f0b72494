import type { Agent, AgentHost } from "../../agent/agent.ts";
import type { AgentsReply } from "../../protocol.ts";
import type { SessionConfig } from "./session-config.ts";

/** A kind of agent that sessions can be started with. */
export interface AgentKind {
  /** How it is listed. */
  readonly entry: AgentsReply["agents"][number];
  /** Prompts can go into the running turn. */
  readonly can_steer: boolean;
  /** All that it knows is in the history: it can be ended and made again at any time, forked and rewound. */
  readonly from_history: boolean;
  /** It can go on with a turn that the daemon's end cut off while it waited for an answer. */
  readonly can_resume: boolean;
  readonly can_compact: boolean;
  readonly can_switch_model: boolean;
  /** What is wrong with a model, as far as that can be said before it is asked. */
  problemOf?(model: string): Promise<string | undefined>;
  /** Makes the agent of one session, when its first turn begins; may reject with what a person can be told. */
  create(config: SessionConfig, host: AgentHost): Agent | Promise<Agent>;
}

/** All kinds of agents that there are, as they are configured now. */
export interface Agents {
  list(): readonly AgentKind[];
  find(id: string): AgentKind | undefined;
}
