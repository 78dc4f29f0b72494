import type { Message } from "../model/messages/message.ts";
import type { Provider, ToolDefinition } from "../providers/provider.ts";
import type { AgentHost } from "./agent.ts";
import type { CallRunner } from "./calls.ts";
import type { PermissionRule } from "./permissions.ts";
import type { Tool } from "./tool.ts";
import type { TurnEmitter } from "./turn-emitter.ts";

/** Options of Verbatim's own agent. */
export interface LoopOptions {
  host: AgentHost;
  provider: Provider;
  /** The model's id for the provider. */
  model: string;
  tools: readonly Tool[];
  /** The session's own array of rules, initially the configured ones. Rules that the user adds in the session are appended. */
  rules?: PermissionRule[];
  /** The size of a model's context in tokens; `undefined`: unknown. */
  contextLimit?: (model: string) => number | undefined;
  /** Maximum number of model calls per turn. */
  step_limit?: number;
  /** Grace period for a stopped tool, in milliseconds. */
  stop_within_ms?: number;
}

/** The state of a session's agent. */
export interface Loop extends Pick<LoopOptions, "host" | "provider" | "tools" | "contextLimit"> {
  readonly emitter: TurnEmitter;
  readonly runner: CallRunner;
  /** The definitions of the tools, sorted so that requests have a stable prefix, which providers cache. */
  readonly definitions: readonly ToolDefinition[];
  readonly step_limit: number;
  /** The model of the next call. */
  model: string;
  /** The cached context, with the length of the history from which it was built. */
  latest: { length: number; messages: readonly Message[] } | undefined;
}
