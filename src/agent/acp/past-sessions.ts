import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Frame } from "../../model/frames/frame.ts";
import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { titleOf } from "../../model/parts/content.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { CodedError } from "../../model/text/coded-error.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { titleFields } from "../../model/text/titles.ts";
import { startProcess } from "./agent-process.ts";
import { type Connection, connect, request } from "./connection.ts";
import { authText, errorText, exitText, isAuthError, isUnknownMethod } from "./failures.ts";
import { type Announced, initialize } from "./initialize.ts";
import { AGENT_REQUESTS } from "./methods.ts";
import { createReplay } from "./replay.ts";
import { sessionMark } from "./session-marker.ts";

// Each of these functions starts the agent's program, sends its requests, and stops the program. No session stays open.

/** How the agent's program is started. */
export interface AcpProgram {
  command: string;
  args: readonly string[];
  /** The program's complete environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** The agent's name in the configuration. */
  label: string;
  /** The id of one of the logins that the agent offers. */
  auth_method?: string;
  /** The command with which users log in. */
  login?: string;
}

/** A session as listed by the agent. */
export interface PastSession {
  /** The agent's own id of the session. */
  id: string;
  /** Absolute path of its folder. */
  cwd: string;
  /** One line of at most 200 characters. */
  title?: string;
  /** Milliseconds since 1970. */
  updated_at?: number;
}

/**
 * How the agent's sessions can be opened: with their history (`session/load`), without it (`session/resume`), or not at all.
 */
export type Opens = "with_history" | "without_history" | "no";

export interface PastSessionsPage {
  opens: Opens;
  sessions: PastSession[];
  /** The agent's cursor of the next page. Absent: there is none. */
  next?: string;
}

/**
 * `no_list`, `no_open`: the agent does not announce the method. `agent_failed`: it could not be started, exited, failed, or did
 * not answer in time. The message contains the remedy.
 */
export class PastSessionsFailure extends CodedError {
  override readonly name = "PastSessionsFailure";
  readonly code: "no_list" | "no_open" | "agent_failed";
  constructor(code: PastSessionsFailure["code"], message: DisplayText) {
    super(message);
    this.code = code;
  }
}

/** Time limit for an agent to start and list its sessions, in milliseconds. */
const LIST_LIMIT_MS = 30_000;
/** Time limit for an agent to start and send a whole history, in milliseconds. */
const OPEN_LIMIT_MS = 120_000;
/** Time limit for an agent to close a session, in milliseconds. Then its program is stopped. */
const CLOSE_LIMIT_MS = 1_000;
/** Time limit for a program to exit after it has closed its output, in milliseconds. */
const END_LIMIT_MS = 2_000;
/** Number of sessions after which no further page is requested. An agent's page may have any size. */
const ENOUGH = 50;
const MAX_PAGES = 20;

/**
 * Lists sessions of the agent in the agent's order. Rejects with a `PastSessionsFailure`, also if the signal is aborted. `cwd`:
 * lists only the sessions of this folder, which must exist. The program is started in it, otherwise in `folder`.
 */
export async function listPastSessions(
  program: AcpProgram,
  { folder, cwd, cursor }: { folder: string; cwd?: string | undefined; cursor?: string | undefined },
  signal: AbortSignal,
  limit_ms = LIST_LIMIT_MS,
): Promise<PastSessionsPage> {
  const { label } = program;
  return await withAgent(program, { cwd: cwd ?? folder, signal, limit_ms }, async (connection, { can }) => {
    if (!can.list) {
      throw new PastSessionsFailure("no_list", daemonText("past_no_list", { agent: label }));
    }
    const sessions: PastSession[] = [];
    let next = cursor;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const asked = next;
      const params = { ...(cwd !== undefined && { cwd }), ...(asked !== undefined && { cursor: asked }) };
      const reply = asObject(await request({ connection }, AGENT_REQUESTS.listSessions, params));
      sessions.push(...asArray(reply?.sessions).flatMap(readSession));
      next = asText(reply?.nextCursor);
      if (next === asked) next = undefined;
      if (next === undefined || sessions.length >= ENOUGH) break;
    }
    const opens: Opens = can.load ? "with_history" : can.resume ? "without_history" : "no";
    return { opens, sessions, ...(next !== undefined && { next }) };
  });
}

function readSession(value: unknown): PastSession[] {
  const item = asObject(value);
  const id = asText(item?.sessionId);
  const cwd = asText(item?.cwd);
  if (id === undefined || cwd === undefined) return [];
  const title = titleOf(asText(item?.title) ?? "");
  const updated_at = Date.parse(asText(item?.updatedAt) ?? "");
  return [{ id, cwd, ...(title !== undefined && { title }), ...(updated_at > 0 && { updated_at }) }];
}

/** A past session whose history is to be read. */
export interface PastSessionToRead {
  /** The agent's own id of the session. */
  id: string;
  /** Absolute path of its folder. */
  cwd: string;
  /** The id of Verbatim's session that continues it. */
  session_id: string;
  /** Whether the past session is also read from the agent's files, so that its messages are already counted there. */
  is_inherited: boolean;
}

/**
 * Opens a past session and closes it again. Returns its history as frames of the session `session_id`. They end with a marker
 * that lets an agent of that session continue it. Rejects with a `PastSessionsFailure`. The caller must ensure that no other
 * process has the session open.
 */
export async function readPastSession(
  program: AcpProgram,
  { id, cwd, session_id, is_inherited }: PastSessionToRead,
  signal: AbortSignal,
  limit_ms = OPEN_LIMIT_MS,
): Promise<Frame[]> {
  const { label } = program;
  const replay = createReplay({ session_id, is_inherited });
  const onUpdate = (params: JsonObject): void => {
    const update = asObject(params.update);
    if (update !== undefined && params.sessionId === id) replay.push(update);
  };
  const options = { id, cwd, signal, limit_ms, onUpdate };
  return await withAgent(program, options, async (connection, { can, info }) => {
    const params = { sessionId: id, cwd, mcpServers: [] };
    const open = (method: string) => request({ connection }, method, params);
    let has_history = can.load;
    let reply: unknown;
    if (can.load) {
      reply = await open(AGENT_REQUESTS.loadSession).catch((error: unknown) => {
        if (!can.resume || !isUnknownMethod(error)) throw error;
        has_history = false;
        return open(AGENT_REQUESTS.resumeSession);
      });
    } else if (can.resume) reply = await open(AGENT_REQUESTS.resumeSession);
    else {
      throw new PastSessionsFailure("no_open", daemonText("past_no_open", { agent: label }));
    }
    if (can.close) {
      const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
      // Ignore failures, because the program is stopped next.
      await request({ connection }, AGENT_REQUESTS.closeSession, { sessionId: id }, limit).catch(() => {});
    }
    const version = asText(info?.version);
    const named = { agent: version === undefined ? label : `${label} ${version}`, session: id };
    const { cost } = replay;
    return replay.end(reply, {
      type: "marker",
      kind: "note",
      part_id: randomUUID(),
      ...titleFields(agentTitle(has_history ? "history_sent" : "opened_without_history", named)),
      text: has_history
        ? "The next prompt continues this session. How the turns above ended is not known."
        : `${label} does not send earlier messages, but it remembers them. The next prompt continues the session.`,
      data: sessionMark({
        id,
        session_id,
        agent: info,
        is_past: true,
        ...(cost !== undefined && { cost }),
      }),
    });
  });
}

interface ConversationOptions {
  /** The session that is opened, for error messages. Absent: the sessions are listed. */
  id?: string;
  /** The folder in which the program is started. */
  cwd: string;
  signal: AbortSignal;
  limit_ms: number;
  onUpdate?(params: JsonObject): void;
}

/** Starts the program, initializes it, logs in if a login is configured, calls `use`, and stops the program. */
async function withAgent<Result>(
  { command, args, env, label, auth_method, login }: AcpProgram,
  { id, cwd, signal, limit_ms, onUpdate = () => {} }: ConversationOptions,
  use: (connection: Connection, announced: Announced) => Promise<Result>,
): Promise<Result> {
  const failed = (message: DisplayText) => new PastSessionsFailure("agent_failed", message);
  const process = startProcess({ command, args, cwd, env });
  const connection = await connect(process, { ...SILENT, onUpdate });
  let announced: Announced | undefined;
  const done = new AbortController();
  const work = async (): Promise<Result> => {
    announced = await initialize(connection);
    if (auth_method !== undefined)
      await request({ connection }, AGENT_REQUESTS.authenticate, { methodId: auth_method });
    return await use(connection, announced);
  };
  const gone = async (): Promise<never> => {
    throw failed(exitText(label, command, await process.ended, process.errorOutput(), "again").text);
  };
  const overdue = async (): Promise<never> => {
    const isStopped = await delay(limit_ms, false, { signal: AbortSignal.any([signal, done.signal]) }).catch(
      () => true,
    );
    throw failed(
      isStopped
        ? daemonText("past_stopped", { agent: label, id })
        : daemonText("past_overdue", { agent: label, id, seconds: limit_ms / 1000, command }),
    );
  };
  const exit = gone();
  exit.catch(() => {});
  try {
    return await Promise.race([work(), exit, overdue()]);
  } catch (error) {
    if (error instanceof PastSessionsFailure) throw error;
    // When a program exits, its connection breaks too. The exit is the better explanation.
    const { pid, stdout } = process.child;
    if ((stdout.readableEnded || pid === undefined) && (await process.endsWithin(END_LIMIT_MS)))
      return await exit;
    if (isAuthError(error))
      throw failed(authText(label, error, { methods: announced?.auth_methods, login, retry: "again" }).text);
    throw failed(daemonText("past_failed", { agent: label, id, error: errorText(error) }));
  } finally {
    done.abort();
    await process.stop();
    connection.close();
  }
}

/** Outside of a turn, the user is not asked and nothing is shown. */
const SILENT = {
  onUnknown() {},
  onNoise() {},
  onPermission: (): Promise<RequestPermissionResponse> =>
    Promise.resolve({ outcome: { outcome: "cancelled" } }),
  onElicitation: () => Promise.resolve({ action: "cancel" as const }),
};
