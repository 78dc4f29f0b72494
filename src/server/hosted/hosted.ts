import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Prompt } from "../../agent/agent.ts";
import { positionOf } from "../../model/accumulate.ts";
import type { Frame } from "../../model/frame.ts";
import type { HistoryEvent } from "../../model/history.ts";
import type { SessionPatch, SessionSummary } from "../../model/session.ts";
import { emptySummary } from "../../model/summarize.ts";
import { isUuid } from "../../model/uuid.ts";
import { createList } from "../list.ts";
import type { OpenSession, Sessions } from "../sessions.ts";
import type { Notice } from "../store/store.ts";
import { createView, type View } from "../view.ts";
import type { AgentKind, Agents } from "./agents.ts";
import { attachmentOf, recordOf } from "./evidence.ts";
import { historyBefore, rewindFrames } from "./fork.ts";
import { controlOf, createHost, type Host } from "./host.ts";
import { createJournal } from "./journal.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { settleInterrupted } from "./recovery.ts";
import { Refused } from "./refused.ts";
import { createRuns } from "./runs.ts";
import type { SessionConfig, SessionState } from "./session-config.ts";

/** Rows that change within this time are told together, in milliseconds. */
const PUBLISH_MS = 50;
/** Who acts waits at most so long for a disk that fails; what was done goes on. */
const DISK_LIMIT = 10_000;
const MOST_RECENT = 10;

/** Times in milliseconds. */
export interface HostedTiming {
  /** A session that nobody looks at, and whose agent did nothing for so long, keeps only its row. */
  idle: number;
  /** A pushed session whose turn is open, and of which nothing was heard for so long, is shown as interrupted. */
  silence: number;
  /** Between looks at what time alone changes. */
  tick: number;
}
const TIMING: HostedTiming = { idle: 300_000, silence: 900_000, tick: 10_000 };

export interface HostedOptions {
  /** The data folder. */
  folder: string;
  agents: Agents;
  now?: () => number;
  /** How long approvals and questions wait where they do not say so themselves, in milliseconds. Absent: for ever. */
  answer_within?: number;
  timing?: Partial<HostedTiming>;
  /** Beside those of the journal. */
  notices?: () => readonly Notice[];
  report?: (error: unknown) => void;
}

/** The sessions that this daemon runs, and those that are pushed to it: their list, and what can be done with them. */
export interface HostedSessions extends Sessions {
  /** This daemon may run and record sessions; another one does otherwise, or the disk cannot be used. */
  readonly writable: boolean;
  readonly agents: Agents;
  /** What sessions were started with, newest first. */
  recent(): { agent: string; model?: string; cwd: string }[];
  /** All of these reject with `Refused`, and resolve once what was done is on disk. Done twice they are done once. */
  start(
    session_id: string,
    given: { agent: string; model?: string; cwd: string; prompt: Prompt },
  ): Promise<void>;
  send(id: string, prompt: Prompt, when: "queue" | "steer"): Promise<void>;
  withdraw(id: string, message_id: string): Promise<void>;
  stop(id: string): Promise<void>;
  compact(id: string): Promise<void>;
  setModel(id: string, model: string): Promise<void>;
  answer(
    id: string,
    request_id: string,
    given: Parameters<Host["answer"]>[1],
  ): Promise<ReturnType<Host["answer"]>>;
  fork(id: string, given: { session_id: string; before: string; prompt?: Prompt }): Promise<void>;
  rewind(id: string, before: string): Promise<void>;
  /** The record of a session that is pushed from outside; begins it where it is new. */
  pushed(session_id: string, agent: string): Recorder;
}

/** A session as it is known here. What is not looked at and does not work keeps only its row. */
export interface Entry {
  readonly id: string;
  /** As they were when the session was not loaded. */
  summary: SessionSummary;
  config: SessionConfig;
  state: SessionState;
  has_pending: boolean;
  recorder?: Recorder;
  host?: Host;
  view?: View;
  used_at: number;
}

/** Opens `history.db` in the data folder, and settles what the daemon's end cut off. */
export function createHosted(options: HostedOptions): HostedSessions {
  const now = options.now ?? Date.now;
  const report = options.report ?? (() => {});
  const { agents } = options;
  const timing = { ...TIMING, ...options.timing };
  const journal = createJournal({ folder: options.folder, now });
  const entries = new Map<string, Entry>();
  const epoch = randomUUID();
  let closed = false;

  for (const row of journal.load()) {
    const { id, summary, config, state, has_pending } = row;
    entries.set(id, { id, summary, config, state, has_pending, used_at: now() });
  }

  const list = createList({
    delay: PUBLISH_MS,
    prepare() {},
    parentOf: () => undefined,
    rowOf(id) {
      const entry = entries.get(id);
      // What is pushed may begin with facts about the session alone.
      if (!entry || (entry.recorder?.summary ?? entry.summary).parts === 0) return undefined;
      return { row: rowOf(entry), lively: isPushedAndOpen(entry) };
    },
  });

  function isPushedAndOpen({ config, recorder, summary }: Entry): boolean {
    return config.kind === "pushed" && (recorder?.summary ?? summary).status === "running";
  }

  function rowOf(entry: Entry): SessionSummary {
    const { config, state, recorder, host } = entry;
    const row = { ...(recorder?.summary ?? entry.summary) };
    if (config.kind === "pushed") {
      if (row.status === "running" && now() - row.last_activity_at > timing.silence)
        row.status = "interrupted";
      return row;
    }
    if (!journal.writable) return row;
    row.control = host?.control ?? controlOf(agents.find(config.agent), recorder?.state ?? state, "idle");
    const requests = host?.requests ?? [];
    if (requests.length > 0) row.requests = [...requests];
    return row;
  }

  // --- Loading ----------------------------------------------------------------------------------------------------

  function record(entry: Entry, begins?: { inherited?: readonly HistoryEvent[] }): Recorder {
    if (entry.recorder) return entry.recorder;
    const recorder = createRecorder({
      id: entry.id,
      journal,
      config: entry.config,
      state: entry.state,
      ...(begins === undefined
        ? { stored: { history: journal.history(entry.id), pending: journal.pending(entry.id) } }
        : begins),
      onCommitted(frames) {
        entry.view?.tell(frames);
        list.mark(entry.id);
      },
    });
    entry.recorder = recorder;
    return recorder;
  }

  function hostOf(entry: Entry): Host {
    entry.used_at = now();
    if (entry.host) return entry.host;
    const recorder = record(entry);
    const host = createHost({
      recorder,
      now,
      report,
      kind: () => agents.find(recorder.config.agent),
      files: filesOf(entry.id),
      ...(options.answer_within === undefined ? {} : { answer_within: options.answer_within }),
      startRun: (run, signal) => runs.start(entry, run, signal),
      changed: () => list.mark(entry.id),
    });
    entry.host = host;
    return host;
  }

  const filesOf = (id: string) => join(options.folder, "files", id);

  function begin(
    id: string,
    config: SessionConfig,
    patch: SessionPatch,
    inherited?: readonly HistoryEvent[],
  ): Entry {
    const entry: Entry = {
      id,
      config,
      state: { queue: [], withdrawn: [] },
      summary: emptySummary(id, config.agent, config.created_at),
      has_pending: false,
      used_at: now(),
    };
    entries.set(id, entry);
    record(entry, inherited ? { inherited } : {}).emit({
      type: "session.update",
      session_id: id,
      at: config.created_at,
      patch,
    });
    return entry;
  }

  const runs = createRuns({ entries, begin, hostOf, now });

  /** Nobody looks at it and nothing happens in it: its row is enough. */
  function unload(entry: Entry) {
    const { recorder, host, view } = entry;
    if (!recorder || host?.working || view?.watched || now() - entry.used_at < timing.idle) return;
    if (view && now() - view.used_at < timing.idle) return;
    if (host && agents.find(entry.config.agent)?.from_history === false) return;
    if (!recorder.is_stored || isPushedAndOpen(entry)) return;
    void host?.close();
    view?.retire();
    entry.summary = recorder.summary;
    entry.config = recorder.config;
    entry.state = recorder.state;
    delete entry.recorder;
    delete entry.host;
    delete entry.view;
  }

  const ticker = setInterval(() => {
    for (const entry of entries.values()) unload(entry);
    list.markLively();
  }, timing.tick);

  async function open(id: string): Promise<OpenSession | undefined> {
    const entry = entries.get(id);
    if (!entry || closed) return undefined;
    if (!entry.view) {
      // Where another daemon writes, what it has written since is read again.
      if (!journal.writable) delete entry.recorder;
      const recorder = record(entry);
      entry.view = createView({
        id,
        fold: recorder.fold,
        now,
        summary: () => rowOf(entry),
        reopen: () => open(id),
      });
    }
    entry.view.used_at = now();
    entry.used_at = now();
    return entry.view;
  }

  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const index = view && positionOf(view.transcript, part_id);
    return index === undefined ? undefined : view?.transcript.parts.at(index);
  }

  // --- What a person does -----------------------------------------------------------------------------------------

  function check(id: string): Entry {
    writable();
    const entry = entries.get(id);
    if (!entry)
      throw new Refused(404, "no_session", "There is no such session.", "Reload the list of sessions.");
    if (entry.config.kind === "pushed") {
      throw new Refused(409, "pushed", "This session is pushed from outside: its agent is not here.");
    }
    return entry;
  }

  function writable() {
    if (journal.writable) return;
    throw new Refused(
      409,
      "read_only",
      "Another Verbatim uses this data folder, or it cannot be written: no session can be run here.",
      "Use the one that runs, or start this one with a --data-dir of its own.",
    );
  }

  /** What was done is told as done once it is on disk. */
  async function stored(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<"overdue">((resolve) => {
      timer = setTimeout(() => resolve("overdue"), DISK_LIMIT);
    });
    const how = await Promise.race([journal.stored(), overdue]);
    clearTimeout(timer);
    if (how === "overdue") {
      throw new Refused(
        503,
        "disk",
        "It is not on disk yet: the data folder cannot be written.",
        "Make room on the disk; it is done then.",
      );
    }
  }

  function available(agent: string): AgentKind {
    const kind = agents.find(agent);
    if (!kind) throw new Refused(400, "agent", `\`agent\`: there is no agent ${JSON.stringify(agent)}.`);
    const { unavailable } = kind.entry;
    if (unavailable) throw new Refused(409, "unavailable", unavailable.message, unavailable.remedy);
    return kind;
  }

  function checkImages(kind: AgentKind | undefined, { parts }: Prompt) {
    if (kind?.entry.takes_images === false && parts.some(({ type }) => type !== "text")) {
      throw new Refused(400, "images", "`prompt.images`: this agent takes no images.");
    }
  }

  function findPart(recorder: Recorder, before: string) {
    const cut = historyBefore(recorder.history(), before);
    if (cut) return cut;
    throw new Refused(
      400,
      "before",
      "`before`: the session has no such prompt that begins a turn.",
      "Name the id of a prompt's part or message.",
    );
  }

  if (journal.writable) recover();

  /** What the daemon's end cut off goes on where its agent can, and is settled where not. */
  function recover() {
    const cut_off = [...entries.values()].filter(
      ({ config, has_pending, summary }) =>
        config.kind === "hosted" && (has_pending || summary.status === "running"),
    );
    for (const entry of cut_off) record(entry);
    const resumed = settleInterrupted({
      sessions: cut_off.flatMap(({ recorder }) => recorder ?? []),
      canResume: (agent) => agents.find(agent)?.can_resume === true,
      now,
    });
    journal.flush();
    for (const { id } of resumed) {
      const entry = entries.get(id);
      if (entry) hostOf(entry).resume();
    }
  }

  for (const id of entries.keys()) list.mark(id);
  list.publish();

  return {
    epoch,
    writable: journal.writable,
    agents,
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
      return part && recorder && recordOf(recorder, part, journal.path);
    },
    async attachment(id, part_id, n) {
      const part = await partOf(id, part_id);
      return part && (await attachmentOf(part, n, filesOf(id)));
    },
    status: () => ({
      index: { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0, done: true },
      notices: [...journal.notices, ...(options.notices?.() ?? [])],
      roots: [],
    }),
    subscribe: list.subscribe,
    recent() {
      const seen = new Map<string, { agent: string; model?: string; cwd: string }>();
      const started = [...entries.values()]
        .map((entry) => entry.recorder?.config ?? entry.config)
        .filter(({ kind, depth }) => kind === "hosted" && depth === 0)
        .sort((one, other) => other.created_at - one.created_at);
      for (const { agent, model, cwd } of started) {
        const key = JSON.stringify([agent, model, cwd]);
        if (!seen.has(key)) seen.set(key, { agent, cwd, ...(model === undefined ? {} : { model }) });
        if (seen.size >= MOST_RECENT) break;
      }
      return [...seen.values()];
    },
    async start(session_id, { agent, model, cwd, prompt }) {
      writable();
      const known = entries.get(session_id);
      if (!known) {
        const kind = available(agent);
        checkImages(kind, prompt);
        const patch: SessionPatch = {
          agent,
          cwd,
          ...(model === undefined ? {} : { model }),
          ...(kind.entry.kind === "provider" ? { provider: agent } : {}),
          ...(kind.entry.scripted === undefined ? {} : { scripted: kind.entry.scripted }),
        };
        const entry = begin(
          session_id,
          {
            agent,
            kind: "hosted",
            ...(model === undefined ? {} : { model }),
            cwd,
            depth: 0,
            created_at: now(),
          },
          patch,
        );
        hostOf(entry).send(prompt, "queue");
      } else if (!hasPrompt(known, prompt.message_id)) {
        throw new Refused(409, "session_id", "`session_id`: there is another session with this id.");
      }
      await stored();
    },
    async send(id, prompt, when) {
      const entry = check(id);
      checkImages(agents.find(entry.config.agent), prompt);
      hostOf(entry).send(prompt, when);
      await stored();
    },
    async withdraw(id, message_id) {
      hostOf(check(id)).withdraw(message_id);
      await stored();
    },
    async stop(id) {
      hostOf(check(id)).stop();
      for (const below of runs.below(id)) entries.get(below)?.host?.stop();
    },
    async compact(id) {
      hostOf(check(id)).compact();
      await stored();
    },
    async setModel(id, model) {
      hostOf(check(id)).setModel(model);
      await stored();
    },
    async answer(id, request_id, given) {
      const outcome = hostOf(check(id)).answer(request_id, given);
      await stored();
      return outcome;
    },
    async fork(id, { session_id, before, prompt }) {
      const source = check(id);
      if (!entries.has(session_id)) {
        const recorder = record(source);
        const kind = available(recorder.config.agent);
        if (!kind.from_history) {
          throw new Refused(
            409,
            "cannot",
            "A session of this agent cannot be forked: it keeps what it knows.",
          );
        }
        if (prompt) checkImages(kind, prompt);
        const { parent: _, ...config } = recorder.config;
        const { agent, model, cwd } = config;
        const entry = begin(
          session_id,
          { ...config, depth: 0, created_at: now() },
          {
            agent,
            cwd,
            ...(model === undefined ? {} : { model }),
            ...(kind.entry.kind === "provider" ? { provider: agent } : {}),
            ...(kind.entry.scripted === undefined ? {} : { scripted: kind.entry.scripted }),
            forked_from: { session_id: id },
          },
          findPart(recorder, before).events,
        );
        const host = hostOf(entry);
        if (prompt) host.send(prompt, "queue");
      }
      await stored();
    },
    async rewind(id, before) {
      const entry = check(id);
      const recorder = record(entry);
      const kind = available(recorder.config.agent);
      if (!kind.from_history) {
        throw new Refused(
          409,
          "cannot",
          "A session of this agent cannot be rewound: it keeps what it knows.",
        );
      }
      const cut = findPart(recorder, before);
      if (entry.host?.working) {
        throw new Refused(409, "busy", "The agent works.", "Stop it, or wait for its turn's end.");
      }
      const frames: Frame[] = rewindFrames(recorder.fold.transcript, cut.message_id, now());
      if (frames.length > 0) recorder.emit(...frames);
      await stored();
    },
    pushed(session_id, agent) {
      writable();
      const known = entries.get(session_id);
      if (known && known.config.kind !== "pushed") {
        throw new Refused(409, "hosted", "An agent of this daemon drives the session of this id.");
      }
      if (!isUuid(session_id)) throw new Refused(400, "session", "The session's id must be a UUID.");
      const entry =
        known ??
        begin(session_id, { agent, kind: "pushed", cwd: "", depth: 0, created_at: now() }, { agent });
      entry.used_at = now();
      return record(entry);
    },
    async close() {
      closed = true;
      clearInterval(ticker);
      list.close();
      // Ending one ends its runs, too: none of them is to be told as stopped by somebody.
      for (const { host } of entries.values()) host?.seal();
      await Promise.all([...entries.values()].map(({ host }) => host?.close()));
      journal.close();
    },
  };

  function hasPrompt(entry: Entry, message_id: string): boolean {
    return entry.config.kind === "hosted" && record(entry).prompts.has(message_id);
  }
}
