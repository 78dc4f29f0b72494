import { statSync } from "node:fs";
import { WebSocket } from "ws";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { AgentState } from "../agent-state.ts";
import type { LiveEvent } from "../live-text/live-event.ts";
import { InputRefused, type TerminalInput } from "../terminal-input.ts";
import type { HookConnection, TerminalRequest } from "../terminal-request.ts";
import { createCalls } from "./calls.ts";
import { createLiveNotificationReader } from "./live-notification.ts";
import { createPatches } from "./patches.ts";
import { readServerRequest } from "./server-request.ts";
import { createThreadInput } from "./thread-input.ts";

/** Interval at which the socket is looked for while not connected, in milliseconds. Codex starts its server itself. */
const POLL_MS = 250;
/** Delay before a socket that failed is tried again, in milliseconds. It doubles with each failure. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;
/** Versions whose requests are answered. For others only the state is read. */
const TESTED = /^[^/]*\/0\.169\./;
/** Interval at which joining a working thread is retried, in milliseconds. */
const JOIN_AGAIN_MS = 500;

/** A second client of Codex's own app server, next to the terminal. It does not start, stop or change anything. */
export interface AppServer {
  /** The states of the loaded threads. */
  readonly states: ReadonlyMap<string, AgentState>;
  /** Reads pending requests again after `mayAnswer` changed. */
  refresh(): void;
  readonly input: TerminalInput;
  close(): void;
}

export interface AppServerOptions {
  /** Path of `app-server-control/app-server-control.sock` in Codex's folder. */
  socket: string;
  /** Whether requests may be answered. If not, only the state is read. */
  mayAnswer(): boolean;
  onStates(threads: readonly string[]): void;
  onRequest(asked: TerminalRequest, connection: HookConnection): void;
  /** Called with the live text of threads whose turn is running. */
  onLive(event: LiveEvent): void;
}

export function followAppServer(options: AppServerOptions): AppServer {
  const states = new Map<string, AgentState>();
  let delay = RETRY_MS;
  let connection: Connection | undefined;
  /** The socket that was tried last, and when it may be tried again. A new socket is tried at once. */
  let lastAttempt: { socket: string | undefined; again_at: number } | undefined;

  function connectIfNeeded() {
    if (connection !== undefined) return;
    const socket = socketIdentity(options.socket);
    const is_new = socket !== lastAttempt?.socket;
    if (socket === undefined || (!is_new && Date.now() < (lastAttempt?.again_at ?? 0))) return;
    if (is_new) delay = RETRY_MS;
    connect(socket);
  }
  function connect(socket: string) {
    connection = openConnection(options, states, {
      onOpen: () => {
        delay = RETRY_MS;
      },
      onClose() {
        connection = undefined;
        lastAttempt = { socket, again_at: Date.now() + delay };
        delay = Math.min(delay * 2, MAX_RETRY_MS);
        const gone = [...states.keys()];
        states.clear();
        options.onStates(gone);
      },
    });
  }
  const timer = setInterval(connectIfNeeded, POLL_MS);
  timer.unref();
  connectIfNeeded();

  return {
    states,
    refresh: () => connection?.refresh(),
    input: {
      accepts: (thread) => connection?.accepts(thread) === true,
      prompt: async (thread, text) => await (connection ?? NOT_CONNECTED).prompt(thread, text),
      stop: async (thread) => await (connection ?? NOT_CONNECTED).stop(thread),
    },
    close() {
      clearInterval(timer);
      connection?.close();
    },
  };
}

interface Connection extends TerminalInput {
  refresh(): void;
  close(): void;
}

const notConnected = async (): Promise<void> => {
  throw new InputRefused(daemonText("codex_not_running"));
};
const NOT_CONNECTED: Pick<TerminalInput, "prompt" | "stop"> = { prompt: notConnected, stop: notConnected };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the threads of a connection: its functions are short
function openConnection(
  { socket, mayAnswer, onStates, onRequest, onLive }: AppServerOptions,
  states: Map<string, AgentState>,
  { onOpen, onClose }: { onOpen(): void; onClose(): void },
): Connection {
  const web_socket = new WebSocket(`ws+unix://${socket}:/`, { perMessageDeflate: false });
  /** Functions that close the held requests of the server, by request id. */
  const open = new Map<string, () => void>();
  const subscribed = new Set<string>();
  /** Threads that Codex creates for titles. */
  const ephemeral = new Set<string>();
  const readLive = createLiveNotificationReader();
  const patches = createPatches();
  let is_tested = false;

  const send = (message: JsonObject) => {
    if (web_socket.readyState === WebSocket.OPEN) web_socket.send(JSON.stringify(message));
  };
  const calls = createCalls(send);

  async function begin() {
    const clientInfo = { name: "verbatim", title: "Verbatim", version: "1" };
    const hello = await calls.ask("initialize", { clientInfo, capabilities: { experimentalApi: true } });
    is_tested = TESTED.test(asString(hello?.userAgent) ?? "");
    send({ method: "initialized" });
    onOpen();
    // `thread/list` leaves out sub-agents.
    const loaded = await calls.ask("thread/loaded/list", {});
    for (const thread of asArray(loaded?.data))
      void calls.ask("thread/read", { threadId: thread }).then((read) => readThread(asObject(read?.thread)));
  }

  function readThread(thread: JsonObject | undefined) {
    const id = threadIdOf(thread?.id);
    if (id !== undefined && thread?.ephemeral === true) ephemeral.add(id);
    if (id === undefined || ephemeral.has(id)) return;
    setState(id, stateOf(asObject(thread?.status)));
  }

  function setState(id: string, state: AgentState | undefined) {
    if (state === undefined) states.delete(id);
    else states.set(id, state);
    onStates([id]);
    follow(id, state);
  }

  /** Subscribes only to threads that work or wait. The server then sends their live text, and sends their open requests again. */
  function follow(id: string, state: AgentState | undefined) {
    if (state?.busy !== true || !is_tested || !mayAnswer()) {
      onLive({ session_id: id, at: Date.now(), type: "turn_end" });
      if (subscribed.delete(id)) void calls.ask("thread/unsubscribe", { threadId: id });
    } else if (!subscribed.has(id)) {
      subscribed.add(id);
      // Joins a loaded thread. Threads that are not loaded never work.
      void calls.ask("thread/resume", { threadId: id, excludeTurns: true }).then((joined) => {
        if (joined !== undefined || web_socket.readyState !== WebSocket.OPEN) return;
        // A new thread can be joined once its first record is written.
        subscribed.delete(id);
        setTimeout(() => follow(id, states.get(id)), JOIN_AGAIN_MS).unref();
      });
    }
  }

  function readMessage(message: JsonObject) {
    const { id, method } = message;
    const params = asObject(message.params);
    if (typeof method !== "string") {
      calls.readReply(message);
    } else if (id !== undefined) readRequest(id, method, params);
    else readNotification(method, params, asNumber(message.emittedAtMs));
  }

  function readNotification(method: string, params: JsonObject | undefined, at: number | undefined) {
    const thread = threadIdOf(params?.threadId);
    if (thread !== undefined && subscribed.has(thread))
      for (const event of readLive(method, params, at ?? Date.now())) onLive(event);
    patches.follow(method, params);
    switch (method) {
      case "thread/started":
        readThread(asObject(params?.thread));
        break;
      case "thread/status/changed":
        if (thread !== undefined && !ephemeral.has(thread))
          setState(thread, stateOf(asObject(params?.status), at));
        break;
      case "thread/closed":
        if (thread !== undefined && !ephemeral.delete(thread)) setState(thread, undefined);
        break;
      case "serverRequest/resolved":
        open.get(JSON.stringify(params?.requestId))?.();
        break;
    }
  }

  /** Unknown requests are never answered: an error would count as a denial. */
  function readRequest(id: unknown, method: string, params: JsonObject | undefined) {
    const key = JSON.stringify(id);
    if (!mayAnswer() || open.has(key)) return;
    const asked = readServerRequest(method, params, patches.changesOf);
    if (asked === undefined) return;
    const listeners: (() => void)[] = [];
    open.set(key, () => {
      open.delete(key);
      for (const listener of listeners) listener();
    });
    onRequest(asked, {
      answer(result) {
        open.delete(key);
        send({ id, result });
      },
      release: () => void open.delete(key),
      onGone: (listener) => void listeners.push(listener),
    });
  }

  web_socket.on("open", () => void begin());
  web_socket.on("message", (data) => {
    const message = parsed(String(data));
    if (message !== undefined) readMessage(message);
  });
  // Errors are ignored: the connection is retried.
  web_socket.on("error", () => web_socket.terminate());
  web_socket.on("close", () => {
    for (const end of [...open.values()]) end();
    calls.end();
    for (const thread of states.keys()) onLive({ session_id: thread, at: Date.now(), type: "turn_end" });
    onClose();
  });

  const accepts = (thread: string): boolean => is_tested && mayAnswer() && states.has(thread);

  return {
    ...createThreadInput({ accepts, states, subscribed, callOrThrow: calls.callOrThrow }),
    refresh() {
      for (const [id, state] of states) follow(id, state);
    },
    close: () => web_socket.terminate(),
  };
}

/** Distinguishes a socket from an earlier one at the same path. `undefined`: there is no socket. */
function socketIdentity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino}:${found.ctimeMs}`;
}

const threadIdOf = (id: unknown): string | undefined => asText(id)?.toLowerCase();

function parsed(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** `undefined`: the thread is not loaded. */
function stateOf(status: JsonObject | undefined, at = Date.now()): AgentState | undefined {
  switch (status?.type) {
    case "active": {
      const flags = asArray(status.activeFlags);
      const waits_for = flags.includes("waitingOnApproval")
        ? "permission prompt"
        : flags.includes("waitingOnUserInput")
          ? "input needed"
          : undefined;
      return {
        by: "server",
        busy: true,
        ...(waits_for !== undefined && { waiting: { for: waits_for } }),
        since: at,
      };
    }
    case "idle":
    case "systemError":
      return { by: "server", busy: false, since: at };
    default:
      return undefined;
  }
}
