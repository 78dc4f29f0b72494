import { createContext, useContext, useEffect } from "react";
import { useStore } from "zustand";
import { createStore, type StoreApi } from "zustand/vanilla";
import { isOpenedSession } from "../../model/opened-session.ts";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import { IN_PIECES, type StatusReply, sessionsChannel } from "../../protocol.ts";
import { type AnswerLock, createAnswerLock } from "../api/answer-lock.ts";
import { type Ask, createAsk } from "../api/ask.ts";
import { type Batch, type Connection, createLive, type Live, type LiveOptions } from "../api/live.ts";
import { createSettings, type Settings } from "./settings.ts";

/** The rows of all sessions. The map is mutated (thousands of rows, many changes): `version` increases with each change. */
export interface SessionRows {
  readonly version: number;
  readonly loaded: boolean;
  readonly byId: ReadonlyMap<string, SessionSummary>;
  /** Ids of the runs that each session started. */
  readonly runs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids of the sessions that wait for the user. */
  readonly waiting: ReadonlySet<string>;
}

/** All data of the page. One per page; tests create their own for a test server. */
export interface Client {
  /** Sends requests; `apiOf` has a method for each. */
  readonly ask: Ask;
  readonly live: Live;
  /** Whether this page is unlocked to answer agents. */
  readonly answer_lock: StoreApi<AnswerLock>;
  readonly rows: StoreApi<SessionRows>;
  /** Rows of sessions in opened files, which are not in the list. */
  readonly opened: StoreApi<Pick<SessionRows, "byId" | "runs">>;
  readonly settings: StoreApi<Settings>;
  /** The daemon's status. `outdated`: it serves another version of the page. */
  readonly status: StoreApi<{ readonly reply?: StatusReply; readonly outdated: boolean }>;
  refreshStatus(): Promise<void>;
  close(): void;
}

interface ClientOptions {
  /** The origin of the daemon, such as `http://127.0.0.1:4777`. */
  origin: string;
  /** The path of the page's entry script. Absent in development. */
  build?: string;
  openSocket?: LiveOptions["openSocket"];
}

/** Timeout of a status request, in milliseconds. */
const STATUS_MS = 10_000;

export function createClient({ origin, build, openSocket }: ClientOptions): Client {
  const ask = createAsk(origin);
  const askStatus = async (): Promise<StatusReply | "unauthorized" | "offline"> => {
    try {
      // Sent after each reconnection. Without a timeout, unanswered requests would use up the browser's connections to this host.
      const response = await ask("/api/status", AbortSignal.timeout(STATUS_MS));
      if (response.ok) return await response.json();
      return response.status === 401 ? "unauthorized" : "offline";
    } catch {
      return "offline";
    }
  };
  const live = createLive({
    url: `${origin.replace(/^http/, "ws")}/api/live?${IN_PIECES}`,
    async probe() {
      const reply = await askStatus();
      return typeof reply === "string" ? reply : "ok";
    },
    ...(openSocket === undefined ? {} : { openSocket }),
  });
  const settings = createSettings();

  const byId = new Map<string, SessionSummary>();
  const runs = new Map<string, Set<string>>();
  const waiting = new Set<string>();
  const opened = createStore<Pick<SessionRows, "byId" | "runs">>(() => ({
    byId: new Map(),
    runs: new Map(),
  }));
  const rows = createStore<SessionRows>(() => ({ version: 0, loaded: false, byId, runs, waiting }));
  const remove = (id: string): void => {
    const parent = byId.get(id)?.parent?.session_id;
    if (parent !== undefined) runs.get(parent)?.delete(id);
    byId.delete(id);
    waiting.delete(id);
  };
  const put = (row: SessionSummary): void => {
    const before = byId.get(row.id)?.parent?.session_id;
    const parent = row.parent?.session_id;
    if (before !== undefined && before !== parent) runs.get(before)?.delete(row.id);
    if (parent !== undefined) {
      const siblings = runs.get(parent) ?? new Set();
      runs.set(parent, siblings.add(row.id));
    }
    byId.set(row.id, row);
    if (isWaiting(row)) waiting.add(row.id);
    else waiting.delete(row.id);
  };
  const applyRows = (batch: Batch): void => {
    if (batch.snapshot?.sessions === undefined && batch.rows.length === 0) return;
    if (batch.snapshot?.sessions !== undefined) {
      byId.clear();
      runs.clear();
      waiting.clear();
      for (const row of batch.snapshot.sessions) put(row);
    }
    for (const { changed, removed } of batch.rows) {
      for (const row of changed) put(row);
      for (const id of removed) remove(id);
    }
    rows.setState(({ version }) => ({ version: version + 1, loaded: true }));
  };
  live.subscribe(sessionsChannel, applyRows);

  const status = createStore<{ reply?: StatusReply; outdated: boolean }>(() => ({ outdated: false }));
  return {
    ask,
    live,
    answer_lock: createAnswerLock(),
    rows,
    opened,
    settings,
    status,
    async refreshStatus() {
      const reply = await askStatus();
      if (typeof reply === "string") return;
      const outdated = build !== undefined && reply.build !== undefined && reply.build !== build;
      status.setState({ reply, outdated });
    },
    close: live.close,
  };
}

/** Adds the rows of sessions in opened files. They are kept until the page is closed. */
export function keepOpenedRows({ opened }: Pick<Client, "opened">, found: readonly SessionSummary[]): void {
  opened.setState(({ byId, runs }) => {
    const all = new Map([...byId, ...found.map((row) => [row.id, row] as const)]);
    const below = new Map(runs);
    for (const { id, parent } of found)
      if (parent) below.set(parent.session_id, new Set([...(below.get(parent.session_id) ?? []), id]));
    return { byId: all, runs: below };
  });
}

/** The store that has the rows of a session and of its runs. */
export const rowsOf = (client: Client, session_id: string): Client["opened"] =>
  isOpenedSession(session_id) ? client.opened : client.rows;

const ClientContext = createContext<Client | undefined>(undefined);
export const ClientProvider = ClientContext.Provider;

/** The page's client. Throws without a `ClientProvider` above. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error("useClient needs a ClientProvider above it.");
  return client;
}

export const useConnection = (): Connection => useStore(useClient().live.connection);

/** The value of a setting, and its setter. */
export function useSetting<Name extends keyof Settings>(
  name: Name,
): [Settings[Name], (value: Settings[Name]) => void] {
  const { settings } = useClient();
  const value = useStore(settings, (all) => all[name]);
  return [value, (next) => settings.setState({ ...settings.getState(), [name]: next })];
}

/** The live row of a session; `undefined` while it is not known. */
export function useRow(id: string | undefined): SessionSummary | undefined {
  return useStore(rowsOf(useClient(), id ?? ""), (rows) =>
    id === undefined ? undefined : rows.byId.get(id),
  );
}

/** Polls the daemon's status: now, after each reconnection, every second while it indexes, and every 30 s otherwise. */
export function useStatus(): { reply?: StatusReply; outdated: boolean } {
  const client = useClient();
  const status = useStore(client.status);
  const indexing = status.reply !== undefined && !status.reply.index.done;
  const { status: connection } = useConnection();
  useEffect(() => {
    if (connection === "lost" || connection === "unauthorized") return;
    void client.refreshStatus();
    const timer = setInterval(() => void client.refreshStatus(), indexing ? 1_000 : 30_000);
    return () => clearInterval(timer);
  }, [client, indexing, connection]);
  return status;
}
