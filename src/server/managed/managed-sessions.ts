import { randomUUID } from "node:crypto";
import type { Notice } from "../../store/contract.ts";
import type { OpenedHistory } from "../../store/history/contract.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { createActionChecks, otherSession } from "./action-checks.ts";
import { createActions } from "./actions.ts";
import type { Agents } from "./agents.ts";
import { createForkActions } from "./fork-actions.ts";
import { createManagedRecords } from "./managed-records.ts";
import { createPastSessions, type KnownSession, type PastSessions } from "./past-sessions.ts";
import { createCommitQueue } from "./record/commit-queue.ts";
import type { Recorder } from "./record/recorder.ts";
import { recoverInterrupted } from "./recovery.ts";
import { createRuns } from "./runs.ts";
import type { SessionActions } from "./session-actions.ts";
import { factsOf, recentSettings } from "./session-facts.ts";
import { createSessionRegistry, type RegistryTiming, type SessionRegistry } from "./session-registry.ts";

interface ManagedSessionsOptions {
  /** The data folder, for the sessions' files. */
  folder: string;
  /** Closed together with the sessions. */
  history: OpenedHistory;
  agents: Agents;
  now?: () => number;
  /** Default timeout of approvals and questions, in milliseconds. Absent: none. */
  answer_within?: number;
  timing?: Partial<RegistryTiming>;
  /** Whether another source has a session with this id. If so, none is created here. */
  isInOtherSource?(id: string): boolean;
  /** What is known about sessions of external agents, by the agents' ids. Absent: nothing. */
  findSessions?(ids: readonly string[]): Promise<ReadonlyMap<string, KnownSession>>;
  /** Notices in addition to those of the commit queue. */
  notices?: () => readonly Notice[];
  report?: (error: unknown) => void;
}

/** The sessions that this daemon runs, and those that are pushed to it. */
export interface ManagedSessions extends Sessions, SessionActions {
  /** Whether this daemon can run and record sessions: no other daemon does, and the disk is usable. */
  readonly writable: boolean;
  /** Whether another daemon uses the data folder. */
  readonly taken: boolean;
  readonly agents: Agents;
  /** Sessions that external agents store themselves. */
  readonly past: PastSessions;
  /** Ids of the sessions with a running turn, as of now. Their rows are updated a moment later. */
  readonly working: readonly string[];
  /** The settings of earlier sessions, newest first. */
  recent(): { agent: string; model?: string; cwd: string }[];
}

/** Lists the stored sessions, and recovers those that were running when the daemon ended. */
export async function createManagedSessions(options: ManagedSessionsOptions): Promise<ManagedSessions> {
  const now = options.now ?? Date.now;
  const report = options.report ?? (() => {});
  const { agents } = options;
  const commit_queue = createCommitQueue(options.history);
  const frame_listeners = new Set<Parameters<NonNullable<Sessions["watchFrames"]>>[0]>();
  const registry = createSessionRegistry({
    commit_queue,
    folder: options.folder,
    agents,
    now,
    report,
    ...(options.answer_within === undefined ? {} : { answer_within: options.answer_within }),
    ...(options.timing === undefined ? {} : { timing: options.timing }),
    startRun: (parent, run, signal) => runs.start(parent, run, signal),
    onFrames(id, frames) {
      for (const listener of frame_listeners) listener(id, frames, id);
    },
  });
  const { entries, list, rowOf, load, hostOf, begin, open } = registry;
  const checks = createActionChecks({ ...options, entries, commit_queue });
  const { available, checkNew, stored } = checks;
  const runs = createRuns({ entries, begin, load, hostOf, now });
  const past = createPastSessions({
    entries,
    available(agent) {
      checks.writable();
      return available(agent);
    },
    findSessions: options.findSessions ?? (async () => new Map()),
    async begin(session_id, { agent, id, cwd, title }, frames) {
      if (entries.has(session_id)) throw otherSession();
      checkNew(session_id);
      const created_at = now();
      const config = { agent, kind: "hosted", cwd, depth: 0, created_at, agent_session: id } as const;
      const facts = { ...factsOf(config, available(agent)), ...(title !== undefined && { title }) };
      const recorder = await load(begin(session_id, config, facts));
      for (const frame of frames) recorder.emit(frame);
      await stored(session_id);
    },
  });
  const records = createManagedRecords(registry, commit_queue.path);
  const actions = createActions({ registry, agents, runs, checks, now });
  const fork_actions = createForkActions({ registry, agents, checks, now });

  if (commit_queue.writable) await recover(registry, { agents, now, report }, commit_queue.flush);

  for (const id of entries.keys()) list.mark(id);
  list.publish();

  return {
    epoch: randomUUID(),
    writable: commit_queue.writable,
    taken: commit_queue.taken,
    agents,
    past,
    get working() {
      return [...entries.values()].filter(({ host }) => host?.working).map(({ id }) => id);
    },
    get seq() {
      return list.seq;
    },
    list: () => list.sorted,
    get(id) {
      const entry = entries.get(id);
      return entry && rowOf(entry);
    },
    open,
    ...records,
    status: () => ({
      index: { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0, done: true },
      notices: [...commit_queue.notices, ...registry.notices, ...(options.notices?.() ?? [])],
      roots: [],
    }),
    ...(commit_queue.retry && { retry: commit_queue.retry }),
    subscribe: list.subscribe,
    watchFrames(listener) {
      frame_listeners.add(listener);
      return () => frame_listeners.delete(listener);
    },
    recent: () => recentSettings(entries),
    ...actions,
    ...fork_actions,
    async close() {
      past.close();
      await registry.close();
      await commit_queue.close();
    },
  };
}

/** Resumes or finalizes the sessions that were running when the daemon ended. */
async function recover(
  { entries, load, hostOf }: SessionRegistry,
  { agents, now, report }: { agents: Agents; now: () => number; report(error: unknown): void },
  flush: () => Promise<void>,
): Promise<void> {
  const cut_off = [...entries.values()].filter(
    ({ config, has_pending, summary }) =>
      config.kind === "hosted" && (has_pending || summary.status === "running"),
  );
  const sessions: Recorder[] = [];
  for (const entry of cut_off) {
    try {
      sessions.push(await load(entry));
    } catch (error) {
      // A session that cannot be read is reported by the notices and on its page.
      if (!(error instanceof Refused)) report(error);
      entry.summary = { ...entry.summary, status: "failed" };
    }
  }
  const resumed = recoverInterrupted({
    sessions,
    canResume: (agent) => agents.find(agent)?.can_resume === true,
    now,
  });
  await flush();
  for (const { id } of resumed) {
    const entry = entries.get(id);
    if (!entry) continue;
    await load(entry);
    hostOf(entry).resume();
  }
}
