import { randomUUID } from "node:crypto";
import type { Prompt } from "../../agent/agent.ts";
import { keptPath } from "../../agent/paths.ts";
import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { keptOutputOf } from "../../model/parts/kept-output.ts";
import type { SessionPatch } from "../../model/session.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import type { Notice } from "../../store/contract.ts";
import { readAttachment, readResultFile, readResultPiece } from "../files/raw-records.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { AgentKind, Agents } from "./agents.ts";
import { historyBefore, inheritFiles, rewindFrames } from "./fork.ts";
import type { Host } from "./host.ts";
import { createPastSessions, type KnownSession, type PastSessions } from "./past-sessions.ts";
import { createCommitQueue } from "./record/commit-queue.ts";
import { recordOf } from "./record/raw-events.ts";
import type { Recorder } from "./record/recorder.ts";
import { recoverInterrupted } from "./recovery.ts";
import { createRuns } from "./runs.ts";
import type { SessionConfig } from "./session-config.ts";
import {
  configOf,
  createSessionRegistry,
  type ManagedSession,
  type RegistryTiming,
} from "./session-registry.ts";

/** Maximum time an action waits for a failing disk. The action itself continues. */
const DISK_LIMIT = 10_000;
const MAX_RECENT = 10;

interface ManagedSessionsOptions {
  /** The data folder. */
  folder: string;
  agents: Agents;
  now?: () => number;
  /** Default timeout of approvals and questions, in milliseconds. Absent: none. */
  answer_within?: number;
  timing?: Partial<RegistryTiming>;
  /** See `DatabaseOptions`. */
  check_limit?: number;
  /** Whether another source has a session with this id. If so, none is created here. */
  isInOtherSource?(id: string): boolean;
  /** What is known about sessions of external agents, by the agents' ids. Absent: nothing. */
  knowSessions?(ids: readonly string[]): Promise<ReadonlyMap<string, KnownSession>>;
  /** Notices in addition to those of the commit queue. */
  notices?: () => readonly Notice[];
  report?: (error: unknown) => void;
}

/** The sessions that this daemon runs, and those that are pushed to it. */
export interface ManagedSessions extends Sessions {
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
  /** A queued prompt with its full text. Throws `Refused` if there is none. */
  waiting(id: string, message_id: string): Prompt;
  /** These methods reject with `Refused`. All but `stop` resolve once the change is on disk. All are idempotent. */
  start(
    session_id: string,
    given: { agent: string; model?: string; cwd: string; prompt: Prompt },
  ): Promise<void>;
  send(id: string, prompt: Prompt, when: "queue" | "steer"): Promise<void>;
  /** `withdrawal_id`: see `Host`. */
  withdraw(id: string, message_id: string, withdrawal_id?: string): Promise<void>;
  /** See `Host`. */
  beginHeld(id: string, message_id: string): Promise<void>;
  /** Resolves once the stop was requested; the end of the turn may take a while. `turn_id`: only stop that turn. */
  stop(id: string, turn_id?: string): Promise<void>;
  compact(id: string): Promise<void>;
  setModel(id: string, model: string): Promise<void>;
  answer(
    id: string,
    request_id: string,
    given: Parameters<Host["answer"]>[1],
  ): Promise<ReturnType<Host["answer"]>>;
  fork(id: string, given: { session_id: string; before: string; prompt?: Prompt }): Promise<void>;
  rewind(id: string, before: string): Promise<void>;
  /** The record of a pushed session. Creates the session if it is new. */
  pushed(session_id: string, agent: string): Recorder;
}

/** Opens `history.db` in the data folder, and recovers the sessions that were running when the daemon ended. */
export function createManagedSessions(options: ManagedSessionsOptions): ManagedSessions {
  const now = options.now ?? Date.now;
  const report = options.report ?? (() => {});
  const { agents } = options;
  const commit_queue = createCommitQueue({
    folder: options.folder,
    now,
    ...(options.check_limit === undefined ? {} : { check_limit: options.check_limit }),
  });
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
  const { entries, list, rowOf, record, hostOf, begin, open } = registry;
  const runs = createRuns({ entries, begin, hostOf, now });
  const past = createPastSessions({
    entries,
    available(agent) {
      writable();
      return available(agent);
    },
    know: options.knowSessions ?? (async () => new Map()),
    async begin(session_id, { agent, id, cwd, title }, frames) {
      if (entries.has(session_id)) throw otherSession();
      checkNew(session_id);
      const created_at = now();
      const config = { agent, kind: "hosted", cwd, depth: 0, created_at, agent_session: id } as const;
      const facts = { ...factsOf(config, available(agent)), ...(title !== undefined && { title }) };
      const recorder = record(begin(session_id, config, facts));
      for (const frame of frames) recorder.emit(frame);
      await stored(session_id);
    },
  });

  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const index = view && positionOf(view.transcript, part_id);
    return index === undefined ? undefined : view?.transcript.parts.at(index);
  }

  function checkNew(session_id: string) {
    if (options.isInOtherSource?.(session_id) !== true) return;
    throw new Refused(409, "session_id", "A session in an agent's file has this id.", "Choose another UUID.");
  }

  // --- User actions ------------------------------------------------------------------------------------------------

  function check(id: string): ManagedSession {
    writable();
    const entry = entries.get(id);
    if (!entry)
      throw new Refused(404, "no_session", "There is no such session.", "Reload the list of sessions.");
    if (entry.config.kind === "pushed") {
      throw new Refused(
        409,
        "pushed",
        "This session is pushed by another program. Verbatim does not run its agent.",
      );
    }
    return entry;
  }

  function writable() {
    if (commit_queue.writable) return;
    const [why] = commit_queue.notices;
    const message = `No sessions can be run. ${why?.text ?? ""}`.trim();
    throw new Refused(409, "read_only", message, why?.remedy);
  }

  /** An action is confirmed once it is on disk. */
  async function stored(id: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<"overdue">((resolve) => {
      timer = setTimeout(() => resolve("overdue"), DISK_LIMIT);
    });
    const how = await Promise.race([commit_queue.stored(id), overdue]);
    clearTimeout(timer);
    if (how === "overdue") {
      throw new Refused(
        503,
        "disk",
        "The change is not on disk yet: the data folder cannot be written.",
        commit_queue.write_error?.remedy ?? "Free some disk space. The change is stored then.",
      );
    }
  }

  function available(agent: string): AgentKind {
    const kind = agents.find(agent);
    if (!kind) throw new Refused(400, "agent", `\`agent\`: unknown agent ${JSON.stringify(agent)}.`);
    const { unavailable } = kind.entry;
    if (unavailable) throw new Refused(409, "unavailable", unavailable.message, unavailable.remedy);
    return kind;
  }

  function checkImages(kind: AgentKind | undefined, { parts }: Prompt) {
    if (kind?.entry.takes_images === false && parts.some(({ type }) => type !== "text")) {
      throw new Refused(400, "images", "`prompt.images`: this agent does not accept images.");
    }
  }

  /** Returns `undefined` if the model cannot be checked: the session then begins without waiting. */
  function checkModel(kind: AgentKind | undefined, model: string | undefined): Promise<void> | undefined {
    if (model === undefined) return undefined;
    return kind?.problemOf?.(model).then((problem) => {
      if (problem !== undefined) throw new Refused(400, "model", `\`model\`: ${problem}`);
    });
  }

  const otherSession = () => new Refused(409, "session_id", "`session_id`: another session has this id.");

  function findPart(recorder: Recorder, before: string) {
    const cut = historyBefore(recorder.history(), before);
    if (cut) return cut;
    throw new Refused(
      400,
      "before",
      "`before`: no turn of the session begins with this prompt.",
      "Use the id of a prompt's part or message.",
    );
  }

  if (commit_queue.writable) recover();

  /** Resumes or finalizes the sessions that were running when the daemon ended. */
  function recover() {
    const cut_off = [...entries.values()].filter(
      ({ config, has_pending, summary }) =>
        config.kind === "hosted" && (has_pending || summary.status === "running"),
    );
    const sessions = cut_off.flatMap((entry) => {
      try {
        return record(entry);
      } catch (error) {
        // A session that cannot be read is reported by the notices and on its page.
        if (!(error instanceof Refused)) report(error);
        entry.summary = { ...entry.summary, status: "failed" };
        return [];
      }
    });
    const resumed = recoverInterrupted({
      sessions,
      canResume: (agent) => agents.find(agent)?.can_resume === true,
      now,
    });
    commit_queue.flush();
    for (const { id } of resumed) {
      const entry = entries.get(id);
      if (entry) hostOf(entry).resume();
    }
  }

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
    async raw(id, part_id) {
      const part = await partOf(id, part_id);
      const recorder = entries.get(id)?.recorder;
      return part && recorder && recordOf(recorder, part, commit_queue.path);
    },
    async attachment(id, part_id, n) {
      const part = await partOf(id, part_id);
      const folder = registry.filesOf(id);
      return (
        part && (await readAttachment(part, n, (path) => readResultFile(folder, keptPath(folder, path))))
      );
    },
    async output(id, part_id, from) {
      const part = await partOf(id, part_id);
      const kept = part && keptOutputOf(part);
      const folder = registry.filesOf(id);
      return kept && (await readResultPiece(folder, keptPath(folder, kept.path), from));
    },
    async frames(id) {
      await open(id);
      const recorder = entries.get(id)?.recorder;
      return recorder && oneBatch(recorder.frames());
    },
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
    recent() {
      const seen = new Map<string, { agent: string; model?: string; cwd: string }>();
      const started = [...entries.values()]
        .map(configOf)
        .filter(({ kind, depth }) => kind === "hosted" && depth === 0)
        .sort((one, other) => other.created_at - one.created_at);
      for (const { agent, model, cwd } of started) {
        const key = JSON.stringify([agent, model, cwd]);
        if (!seen.has(key)) seen.set(key, { agent, cwd, ...(model === undefined ? {} : { model }) });
        if (seen.size >= MAX_RECENT) break;
      }
      return [...seen.values()];
    },
    async start(session_id, { agent, model, cwd, prompt }) {
      const check_of_model = entries.has(session_id) ? undefined : checkModel(agents.find(agent), model);
      if (check_of_model) await check_of_model;
      writable();
      const known = entries.get(session_id);
      if (!known) {
        checkNew(session_id);
        const kind = available(agent);
        checkImages(kind, prompt);
        const config: SessionConfig = {
          agent,
          kind: "hosted",
          ...(model === undefined ? {} : { model }),
          cwd,
          depth: 0,
          created_at: now(),
        };
        const entry = begin(session_id, config, factsOf(config, kind));
        hostOf(entry).send(prompt, "queue");
      } else if (
        !hasPrompt(known, prompt.message_id) ||
        known.config.agent !== agent ||
        known.config.cwd !== cwd
      ) {
        throw otherSession();
      }
      await stored(session_id);
    },
    async send(id, prompt, when) {
      const entry = check(id);
      checkImages(agents.find(entry.config.agent), prompt);
      hostOf(entry).send(prompt, when);
      await stored(id);
    },
    waiting: (id, message_id) => hostOf(check(id)).waiting(message_id),
    async withdraw(id, message_id, withdrawal_id) {
      hostOf(check(id)).withdraw(message_id, withdrawal_id);
      await stored(id);
    },
    async beginHeld(id, message_id) {
      hostOf(check(id)).beginHeld(message_id);
      await stored(id);
    },
    async stop(id, turn_id) {
      if (!hostOf(check(id)).stop(turn_id)) return;
      for (const below of runs.below(id)) entries.get(below)?.host?.stop();
    },
    async compact(id) {
      hostOf(check(id)).compact();
      await stored(id);
    },
    async setModel(id, model) {
      await checkModel(agents.find(check(id).config.agent), model);
      hostOf(check(id)).setModel(model);
      await stored(id);
    },
    async answer(id, request_id, given) {
      const outcome = hostOf(check(id)).answer(request_id, given);
      await stored(id);
      return outcome;
    },
    async fork(id, { session_id, before, prompt }) {
      const source = check(id);
      if (!entries.has(session_id)) {
        const { agent, model } = record(source).config;
        const check_of_model = checkModel(agents.find(agent), model);
        if (check_of_model) await check_of_model;
      }
      const known = entries.get(session_id);
      if (!known) {
        checkNew(session_id);
        const recorder = record(source);
        const kind = available(recorder.config.agent);
        if (!kind.from_history) {
          throw new Refused(
            409,
            "cannot",
            "Sessions of this agent cannot be forked, because the agent keeps its own state.",
          );
        }
        if (prompt) checkImages(kind, prompt);
        const inherited = findPart(recorder, before).events;
        inheritFiles(registry.filesOf(id), registry.filesOf(session_id));
        const { parent: _, ...config } = recorder.config;
        const entry = begin(
          session_id,
          { ...config, depth: 0, created_at: now() },
          { ...factsOf(config, kind), forked_from: { session_id: id } },
          inherited,
        );
        const host = hostOf(entry);
        if (prompt) host.send(prompt, "queue");
      } else if (!isForkOf(known, id) || (prompt && !hasPrompt(known, prompt.message_id))) {
        throw otherSession();
      }
      await stored(session_id);
    },
    async rewind(id, before) {
      const entry = check(id);
      const recorder = record(entry);
      const kind = available(recorder.config.agent);
      if (!kind.from_history) {
        throw new Refused(
          409,
          "cannot",
          "Sessions of this agent cannot be rewound, because the agent keeps its own state.",
        );
      }
      const cut = findPart(recorder, before);
      if (entry.host?.working) {
        throw new Refused(409, "busy", "The agent is running.", "Stop it, or wait until its turn ends.");
      }
      const frames: Frame[] = rewindFrames(recorder.buffer.transcript, cut.message_id, now());
      if (frames.length > 0) {
        recorder.emit(...frames);
        recorder.setState({ queue: recorder.state.queue.map((prompt) => ({ ...prompt, held: true })) });
      }
      await stored(id);
    },
    pushed(session_id, agent) {
      writable();
      const known = entries.get(session_id);
      if (known && known.config.kind !== "pushed") {
        throw new Refused(409, "hosted", "The session with this id is run by this daemon.");
      }
      if (!known) checkNew(session_id);
      const entry =
        known ??
        begin(session_id, { agent, kind: "pushed", cwd: "", depth: 0, created_at: now() }, { agent });
      entry.used_at = now();
      return record(entry);
    },
    async close() {
      past.close();
      await registry.close();
      commit_queue.close();
    },
  };

  function hasPrompt(entry: ManagedSession, message_id: string): boolean {
    return entry.config.kind === "hosted" && record(entry).prompts.has(message_id);
  }

  function isForkOf(entry: ManagedSession, source: string): boolean {
    const isOrigin = (event: HistoryEvent) =>
      "type" in event && event.type === "session_update" && event.patch.forked_from?.session_id === source;
    return entry.config.kind === "hosted" && record(entry).history().some(isOrigin);
  }
}

async function* oneBatch(frames: readonly Frame[]): AsyncGenerator<readonly Frame[]> {
  yield frames;
}

/** The row fields of a new session that describe its agent. */
function factsOf({ agent, cwd, model }: SessionConfig, { entry }: AgentKind): SessionPatch {
  return {
    agent,
    cwd,
    ...(model === undefined ? {} : { model }),
    ...(entry.kind === "provider" ? { provider: agent } : {}),
    ...(entry.scripted === undefined ? {} : { scripted: entry.scripted }),
  };
}
