import { randomUUID } from "node:crypto";
import type { McpServer } from "@agentclientprotocol/sdk";
import type { Frame } from "../../model/frames/frame.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { messageFields, titleFields } from "../../model/text/titles.ts";
import type { AgentHost } from "../agent.ts";
import type { OwnNote, RunningAgent } from "./open-session.ts";
import type { UpdateReader } from "./update-reader.ts";

/** Time for which text after a turn is buffered before it is shown, in milliseconds. */
const LATE_MS = 100;

/** What an agent needs to be started. */
export interface AcpAgentOptions {
  host: AgentHost;
  command: string;
  args: readonly string[];
  /** The program's complete environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** The agent's name in the configuration. Absent: the name that it announces, or its command. */
  label?: string;
  /** The id of one of the logins that the agent offers. Absent: no login is requested. */
  auth_method?: string;
  /** The command with which users log in. Absent: it is not known. */
  login?: string;
  mcp_servers?: readonly McpServer[];
  /** Whether another process has the agent's session open. Absent: this cannot be determined. */
  isOpenElsewhere?(session_id: string): Promise<boolean>;
  /** Time limit for an agent to answer after it was told to stop, in milliseconds. Then its program is killed. */
  cancel_limit_ms?: number;
}

/** The state of a session's agent. */
export interface Driver {
  readonly options: AcpAgentOptions;
  readonly reader: UpdateReader;
  agent: RunningAgent | undefined;
  known_session: string | undefined;
  /** Whether a session is being loaded, during which updates repeat the history. */
  isReplaying: boolean;
  wanted_model: string | undefined;
  model_option: string | undefined;
  turn: AbortSignal | undefined;
  /** Open requests and their calls. */
  readonly waiting: Set<{ tool_call_id: string | undefined; wait: AbortController }>;
  /** Timer that emits text that arrived after the turn. */
  late: NodeJS.Timeout | undefined;
}

/** Emits frames of the agent. */
export function emit(driver: Driver, frames: readonly Frame[]): void {
  for (const frame of frames) driver.options.host.emit(frame);
  // An agent may continue without waiting for the answer. A call that has ended needs none.
  for (const { tool_call_id, wait } of driver.waiting)
    if (tool_call_id !== undefined && driver.reader.hasEnded(tool_call_id)) wait.abort();
}

/** Emits text that arrives after the turn with a delay, because it arrives in many chunks. */
export function emitLate(driver: Driver): void {
  const { reader } = driver;
  if (!reader.hasLate || driver.late !== undefined) return;
  driver.late = setTimeout(() => {
    driver.late = undefined;
    emit(driver, reader.flushLate());
  }, LATE_MS);
}

/** Emits a note from Verbatim itself. */
export function emitOwn(driver: Driver, { title, ...rest }: OwnNote): void {
  const { host } = driver.options;
  const part_id = randomUUID();
  host.emit({
    type: "marker",
    kind: "note",
    part_id,
    session_id: host.session_id,
    at: host.now(),
    ...titleFields(title),
    ...rest,
  });
}

/** Emits the reason why a turn failed. */
export function emitError(driver: Driver, message: DisplayText): void {
  const { host } = driver.options;
  host.emit({
    type: "error",
    session_id: host.session_id,
    at: host.now(),
    ...messageFields(message),
    can_retry: true,
  });
}
