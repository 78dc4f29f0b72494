import type { RunOptions, RunReport } from "../../agent/agent.ts";
import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import type { SessionPatch, SessionSummary } from "../../model/session.ts";
import { emptySummary } from "../../model/transcript/summarize.ts";
import type { Notice } from "../../store/contract.ts";
import type { SessionConfig } from "../../store/history/session-config.ts";
import { createList, type SessionList } from "../sessions/list.ts";
import { fieldsOf } from "../sessions/row.ts";
import { createSessionView } from "../sessions/session-view.ts";
import type { OpenSession } from "../sessions/sessions.ts";
import type { Agents } from "./agents.ts";
import { controlOf, createHost, type Host } from "./host.ts";
import { type ManagedSession, withAgentSession } from "./managed-session.ts";
import type { CommitQueue } from "./record/commit-queue.ts";
import { filesFolder } from "./record/raw-events.ts";
import type { Recorder } from "./record/recorder.ts";
import { createSessionRecords } from "./session-records.ts";

/** Row changes within this time are published together, in milliseconds. */
const PUBLISH_MS = 50;

/** Durations in milliseconds. */
export interface RegistryTiming {
  /** A session without viewers whose agent was inactive for this time keeps only its row. */
  idle: number;
  /** A pushed session with an open turn that received nothing for this time is shown as failed. */
  silence: number;
  /** Interval at which statuses that depend on time are updated. */
  tick: number;
}
const TIMING: RegistryTiming = { idle: 300_000, silence: 900_000, tick: 10_000 };

interface RegistryOptions {
  commit_queue: CommitQueue;
  /** The data folder. */
  folder: string;
  agents: Agents;
  now: () => number;
  answer_within?: number;
  timing?: Partial<RegistryTiming>;
  report(error: unknown): void;
  startRun(parent: ManagedSession, run: RunOptions, signal: AbortSignal): Promise<RunReport>;
  /** Called with frames once they are on disk. */
  onFrames?(id: string, frames: readonly Frame[]): void;
}

/** All sessions of the store: their rows, and the records of those that are viewed or running. */
export interface SessionRegistry {
  readonly entries: ReadonlyMap<string, ManagedSession>;
  readonly list: SessionList;
  /** Notices about records that cannot be read. */
  readonly notices: readonly Notice[];
  rowOf(entry: ManagedSession): SessionSummary;
  /**
   * Loads the session's record, and rejects with `Refused` if it cannot be read. Idle sessions are unloaded, so it must be called
   * again after waiting for something else.
   */
  load(entry: ManagedSession): Promise<Recorder>;
  /** The host of a loaded session. */
  hostOf(entry: ManagedSession): Host;
  /** The folder of the session's files. */
  filesOf(id: string): string;
  /** Creates a session. `inherited`: history from another session. */
  begin(
    id: string,
    config: SessionConfig,
    patch: SessionPatch,
    inherited?: readonly HistoryEvent[],
  ): ManagedSession;
  open(id: string): Promise<OpenSession | undefined>;
  /** Closes all agents. Does not close the store. */
  close(): Promise<void>;
}

/** Loads the rows of all sessions from the store. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the sessions: its functions are short
export function createSessionRegistry(options: RegistryOptions): SessionRegistry {
  const { commit_queue, agents, now, report } = options;
  const timing = { ...TIMING, ...options.timing };
  const entries = new Map<string, ManagedSession>();
  let closed = false;

  for (const row of commit_queue.sessions) {
    const { id, summary, config, state, has_pending } = row;
    entries.set(id, { id, summary, config, state, has_pending, used_at: now() });
  }

  const list = createList({
    delay: PUBLISH_MS,
    prepare() {},
    dependentsOf: () => [],
    rowOf(id) {
      const entry = entries.get(id);
      // A pushed session may begin with facts only.
      if (!entry || (entry.recorder?.summary ?? entry.summary).parts === 0) return undefined;
      return { row: rowOf(entry), growing: isPushedAndOpen(entry) };
    },
  });

  const records = createSessionRecords(commit_queue, (entry, frames) => {
    options.onFrames?.(entry.id, frames);
    list.mark(entry.id);
  });

  function rowOf(entry: ManagedSession): SessionSummary {
    const { config, state, recorder, host } = entry;
    const row = fieldsOf(recorder?.summary ?? entry.summary);
    if (config.kind === "pushed") {
      if (row.status === "running" && now() - row.last_activity_at > timing.silence) row.status = "failed";
      return row;
    }
    const kind = agents.find(config.agent)?.entry;
    if (kind?.kind === "acp") row.agent_name = kind.title;
    if (!commit_queue.writable) return row;
    row.control = host?.control ?? controlOf(agents.find(config.agent), recorder?.state ?? state, "idle");
    const requests = host?.requests ?? [];
    if (requests.length > 0) row.requests = [...requests];
    return row;
  }

  async function load(entry: ManagedSession): Promise<Recorder> {
    const recorder = await records.load(entry);
    entry.used_at = now();
    return recorder;
  }

  function hostOf(entry: ManagedSession): Host {
    entry.used_at = now();
    if (entry.host) return entry.host;
    const { recorder } = entry;
    if (!recorder) throw new Error(`The record of session ${entry.id} is not loaded.`);
    const host = createHost({
      recorder,
      now,
      report,
      kind: () => agents.find(recorder.config.agent),
      files: filesOf(entry.id),
      private_folder: options.folder,
      ...(options.answer_within === undefined ? {} : { answer_within: options.answer_within }),
      startRun: (run, signal) => options.startRun(entry, run, signal),
      isAgentSessionOpen: (id) =>
        withAgentSession(entries, id).some((other) => other !== entry && other.host?.has_agent === true),
      changed: () => list.mark(entry.id),
    });
    entry.host = host;
    return host;
  }

  const filesOf = (id: string) => filesFolder(options.folder, id);

  function begin(
    id: string,
    config: SessionConfig,
    patch: SessionPatch,
    inherited?: readonly HistoryEvent[],
  ): ManagedSession {
    const entry: ManagedSession = {
      id,
      config,
      state: { queue: [], withdrawn: [] },
      summary: emptySummary(id, config.agent, config.created_at),
      has_pending: false,
      used_at: now(),
    };
    entries.set(id, entry);
    records.begin(entry, inherited).emit({
      type: "session.update",
      session_id: id,
      at: config.created_at,
      patch,
    });
    return entry;
  }

  /** Unloads a session that is idle and has no viewers. */
  function unload(entry: ManagedSession) {
    const { recorder, host, view } = entry;
    if (!recorder || host?.working || view?.watched || now() - entry.used_at < timing.idle) return;
    if (view && now() - view.used_at < timing.idle) return;
    if (host && agents.find(entry.config.agent)?.from_history === false) return;
    const is_receiving = isPushedAndOpen(entry) && rowOf(entry).status === "running";
    if (!recorder.is_stored || is_receiving) return;
    void host?.close();
    view?.dispose();
    entry.summary = fieldsOf(recorder.summary);
    entry.config = recorder.config;
    entry.state = recorder.state;
    delete entry.recorder;
    delete entry.host;
    delete entry.view;
  }

  const ticker = setInterval(() => {
    for (const entry of entries.values()) unload(entry);
    list.markGrowth();
  }, timing.tick);

  async function open(id: string): Promise<OpenSession | undefined> {
    const entry = entries.get(id);
    if (!entry || closed) return undefined;
    if (!entry.view) {
      // Another daemon is writing, so the record is read again next time.
      if (!commit_queue.writable) delete entry.recorder;
      const recorder = await load(entry);
      if (closed) return undefined;
      entry.view ??= createSessionView({
        id,
        buffer: recorder.buffer,
        now,
        summary: () => rowOf(entry),
        reopen: () => open(id),
      });
    }
    entry.view.used_at = now();
    entry.used_at = now();
    return entry.view;
  }

  return {
    entries,
    list,
    get notices() {
      return records.notices;
    },
    rowOf,
    load,
    hostOf,
    filesOf,
    begin,
    open,
    async close() {
      closed = true;
      clearInterval(ticker);
      list.close();
      // Closing one host also ends its runs. Reject prompts first, so that no run is recorded as stopped by the user.
      for (const { host } of entries.values()) host?.rejectPrompts();
      await Promise.all([...entries.values()].map(({ host }) => host?.close()));
    },
  };
}

function isPushedAndOpen({ config, recorder, summary }: ManagedSession): boolean {
  return config.kind === "pushed" && (recorder?.summary ?? summary).status === "running";
}
