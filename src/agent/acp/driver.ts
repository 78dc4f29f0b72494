import { randomUUID } from "node:crypto";
import type { McpServer } from "@agentclientprotocol/sdk";
import type { Frame } from "../../model/frames/frame.ts";
import type { AgentHost } from "../agent.ts";
import type { Life } from "./open-session.ts";
import type { UpdateReader } from "./update-reader.ts";

/** Time for which text after a turn is buffered before it is shown. */
const LATE_MS = 100;

/** What an agent needs to be started. */
export interface AcpAgentOptions {
  host: AgentHost;
  command: string;
  args: readonly string[];
  /** All of the program's environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** The operator's name for the agent. Absent: the agent's own name, or its command. */
  label?: string;
  /** The id of one of the logins that the agent offers. Absent: no login is requested. */
  auth_method?: string;
  mcp_servers?: readonly McpServer[];
  /** Whether another process has the agent's session open. Absent: it cannot be known. */
  isOpenElsewhere?(session_id: string): Promise<boolean>;
  /** Time for which a stopped agent may not answer before its program is killed, in milliseconds. */
  cancel_limit_ms?: number;
}

/** The agent of a session while it is driven. */
export interface Driver {
  readonly options: AcpAgentOptions;
  readonly reader: UpdateReader;
  life: Life | undefined;
  known_session: string | undefined;
  /** While a session is loaded, its updates repeat the history. */
  isReplaying: boolean;
  wanted_model: string | undefined;
  model_option: string | undefined;
  turn: AbortSignal | undefined;
  /** Open requests and their calls. */
  readonly waiting: Set<{ tool_call_id: string | undefined; wait: AbortController }>;
  /** Shows text that arrived after the turn. */
  late: NodeJS.Timeout | undefined;
}

/** Emits frames of the agent. */
export function emit(driver: Driver, frames: readonly Frame[]): void {
  for (const frame of frames) driver.options.host.emit(frame);
  // An agent may go on without an answer. A call that has ended needs none.
  for (const { tool_call_id, wait } of driver.waiting)
    if (tool_call_id !== undefined && driver.reader.hasEnded(tool_call_id)) wait.abort();
}

/** Shows text that arrives after the turn, with a delay, because it arrives in many chunks. */
export function emitLate(driver: Driver): void {
  const { reader } = driver;
  if (!reader.hasLate || driver.late !== undefined) return;
  driver.late = setTimeout(() => {
    driver.late = undefined;
    emit(driver, reader.flushLate());
  }, LATE_MS);
}

/** Emits a note of Verbatim's own. */
export function emitOwn(driver: Driver, body: { title: string; text?: string; data?: unknown }): void {
  const { host } = driver.options;
  const part_id = randomUUID();
  host.emit({
    type: "marker",
    kind: "note",
    part_id,
    session_id: host.session_id,
    at: host.now(),
    ...body,
  });
}

/** Emits the reason why a turn failed. */
export function emitError(driver: Driver, message: string): void {
  const { host } = driver.options;
  host.emit({ type: "error", session_id: host.session_id, at: host.now(), message, can_retry: true });
}
