import { isDeepStrictEqual } from "node:util";
import type { McpServer } from "@agentclientprotocol/sdk";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { CodedError } from "../../model/text/coded-error.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import type { AgentHost } from "../agent.ts";
import type { AgentProcess } from "./agent-process.ts";
import { type Connection, request } from "./connection.ts";
import { authText, errorText, isAuthError, isUnknownMethod } from "./failures.ts";
import { type Announced, initialize } from "./initialize.ts";
import { AGENT_REQUESTS } from "./methods.ts";
import type { PromptCapabilities } from "./prompt.ts";
import { acpSessionOf, sessionMark } from "./session-marker.ts";

/** A running agent program with its connection and session. */
export interface RunningAgent {
  readonly process: AgentProcess;
  readonly connection: Connection;
  session_id: string;
  can: PromptCapabilities;
  can_close: boolean;
  label: string;
  /** Set before Verbatim stops the program, so that the exit is not reported as a crash. */
  isStopped: boolean;
}

/** The reason why a turn cannot begin, with a message for the user. */
export class StartFailure extends CodedError {}

/** A note from Verbatim itself. */
export interface OwnNote {
  title: DisplayText;
  text?: string;
  data?: unknown;
}

interface OpenOptions {
  host: AgentHost;
  command: string;
  label?: string;
  auth_method?: string;
  login?: string;
  mcp_servers?: readonly McpServer[];
  isOpenElsewhere?(session_id: string): Promise<boolean>;
  /** The agent's own id of the session, if this daemon has opened it before. */
  known_session: string | undefined;
  /** Emits a note. */
  note(body: OwnNote): void;
  /**
   * Called with `true` before a session is reopened, because the agent may repeat its history, and with `false` if that fails.
   */
  onReopen(is_running: boolean): void;
}

type Folder = { cwd: string; mcpServers: McpServer[] };

/** Opens a session in a running program: the agent's earlier session if there is one, otherwise a new session. */
export async function openSession(
  made: RunningAgent,
  options: OpenOptions,
): Promise<{ reply: JsonObject; is_new: boolean }> {
  const { host, auth_method, mcp_servers = [], known_session } = options;
  const announced = await initialize(made.connection);
  const { info: agentInfo, capabilities } = announced;
  describe(made, options, announced);
  const takes = asObject(capabilities.mcpCapabilities);
  // An agent may reject the whole session if one server uses a transport that it does not support.
  const refused = mcp_servers.filter((server) => "type" in server && takes?.[server.type] !== true);
  const folder = { cwd: host.cwd, mcpServers: mcp_servers.filter((server) => !refused.includes(server)) };
  try {
    if (auth_method !== undefined) {
      await request(made, AGENT_REQUESTS.authenticate, { methodId: auth_method });
    }
    const earlier = known_session ?? earlierSession(host);
    const reopened =
      earlier === undefined ? undefined : await reopen(made, earlier, announced, folder, options);
    const reply = reopened ?? (await begin(made, agentInfo, folder, options));
    for (const server of refused) noteRefused(made.label, server, options);
    return { reply: { ...reply, agentInfo }, is_new: reopened === undefined };
  } catch (error) {
    if (!isAuthError(error)) throw error;
    const { auth_methods: methods } = announced;
    throw new StartFailure(authText(made.label, error, { methods, login: options.login }));
  }
}

/** Records what the agent announces. */
function describe(
  made: RunningAgent,
  { label, command }: OpenOptions,
  { info, capabilities, can }: Announced,
): void {
  made.label = label ?? asText(info?.title) ?? asText(info?.name) ?? command;
  const prompts = asObject(capabilities.promptCapabilities);
  made.can = { image: prompts?.image === true, embeddedContext: prompts?.embeddedContext === true };
  made.can_close = can.close;
}

async function begin(
  made: RunningAgent,
  agent: JsonObject | undefined,
  folder: Folder,
  { host, note }: OpenOptions,
): Promise<JsonObject> {
  const reply = asObject(await request(made, AGENT_REQUESTS.newSession, folder));
  const id = asString(reply?.sessionId);
  if (id === undefined) throw new StartFailure(agentTitle("no_session_id", { agent: made.label }));
  made.session_id = id;
  host.claimAgentSession(id);
  const version = asText(agent?.version);
  note({
    title: agentTitle("session_begun", {
      agent: version === undefined ? made.label : `${made.label} ${version}`,
      session: id,
    }),
    data: sessionMark({ id, session_id: host.session_id, agent }),
  });
  if (version !== undefined) {
    const patch = { agent_version: version };
    host.emit({ type: "session.update", session_id: host.session_id, at: host.now(), patch });
  }
  return { ...reply };
}

/** Emits a note that a server is not passed on. Only once per session, which may be opened many times. */
function noteRefused(label: string, server: McpServer, { host, note }: OpenOptions): void {
  const title = agentTitle("mcp_server_not_passed", { server: server.name });
  if (host.history().some((event) => isTitled(event, title))) return;
  const kind = "type" in server && server.type === "sse" ? "server-sent events" : "HTTP";
  note({ title, text: `${label} does not support MCP servers over ${kind}` });
}

/** Whether an event has this title. Events of earlier versions have no codes. */
function isTitled(event: HistoryEvent, { text, code, params }: CodedText): boolean {
  if (!("title" in event)) return false;
  const known = event.title_code;
  if (known === undefined) return event.title === text;
  return known.code === code && isDeepStrictEqual(known.params, params);
}

/** Reopens the agent's earlier session; `undefined`: that failed, and a note was emitted. */
async function reopen(
  made: RunningAgent,
  sessionId: string,
  { can }: Announced,
  folder: Folder,
  { host, isOpenElsewhere, onReopen, note }: OpenOptions,
): Promise<JsonObject | undefined> {
  // A second process on the same session would write to the same history.
  if (await isOpenElsewhere?.(sessionId)) {
    throw new StartFailure(agentTitle("session_open_in_process", { agent: made.label, session: sessionId }));
  }
  if (!host.claimAgentSession(sessionId)) {
    throw new StartFailure(agentTitle("session_open_in_verbatim", { agent: made.label, session: sessionId }));
  }
  const methods = [
    // `session/resume` is preferred because it does not repeat the history.
    ...(can.resume ? [AGENT_REQUESTS.resumeSession] : []),
    ...(can.load ? [AGENT_REQUESTS.loadSession] : []),
  ];
  let why = "it cannot open earlier sessions";
  for (const method of methods) {
    onReopen(true);
    try {
      const reply = asObject(await request(made, method, { sessionId, ...folder })) ?? {};
      made.session_id = sessionId;
      return reply;
    } catch (error) {
      if (isAuthError(error)) throw error;
      onReopen(false);
      why = errorText(error);
      // Qwen Code announces `session/resume` but does not support it.
      if (!isUnknownMethod(error)) break;
    }
  }
  note({
    title: agentTitle("starts_without_memory", { agent: made.label }),
    text: why,
    data: { sessionId },
  });
  return undefined;
}

/** The agent's own id of this session, from the history. A fork must not use that of its parent, although it has its history. */
function earlierSession(host: AgentHost): string | undefined {
  for (const event of host.history().toReversed()) {
    const marked = acpSessionOf(event);
    if (marked?.session_id === host.session_id) return marked.id;
  }
  return undefined;
}

/** Whether an update repeats the history of a reopened session. */
export function isPast(kind: unknown): boolean {
  return (
    kind === "user_message_chunk" ||
    kind === "agent_message_chunk" ||
    kind === "agent_thought_chunk" ||
    kind === "tool_call" ||
    kind === "tool_call_update" ||
    kind === "plan"
  );
}

/** The id of the option that sets the model, if the agent has one. */
export function modelOption(reply: JsonObject): string | undefined {
  const option = asArray(reply.configOptions)
    .map(asObject)
    .find((item) => item?.category === "model");
  return asString(option?.id);
}

/**
 * The cost of the agent's current session in USD, as the sum of its steps; `undefined`: the session was imported with a history
 * whose cost the agent did not report.
 */
export function costOf(history: readonly HistoryEvent[]): number | undefined {
  let cost: number | undefined = 0;
  for (const event of history) {
    const marked = acpSessionOf(event);
    if (marked !== undefined) cost = marked.is_past ? marked.cost : 0;
    else if ("usage" in event && cost !== undefined) cost += event.usage?.cost ?? 0;
  }
  return cost;
}
