import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf } from "../../model/narrow.ts";
import { createPriceTable, type PriceTable } from "../../model/prices/price-table.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { Format } from "../../sources/contract.ts";
import { formats } from "../../sources/index.ts";
import { openSqliteArchive } from "../../store/archive/sqlite.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";
import { openSqliteHistory } from "../../store/history/sqlite.ts";
import { openNoteStore } from "../../store/notes/sqlite.ts";
import { openReadStateStore } from "../../store/read-state/sqlite.ts";
import { openRuleStore } from "../../store/rules/sqlite.ts";
import { type Attach, createAttach } from "../attach/attach.ts";
import { readConfig, readKeys } from "../config.ts";
import { createSessions } from "../import/catalog.ts";
import { createOpenedFiles } from "../import/opened/opened-files.ts";
import { createOpenList, createProcessRegistry } from "../import/process-registry.ts";
import { hasSessions, openSamples, type Samples } from "../import/samples.ts";
import { openSourceChoices, type SourceChoices } from "../import/source-choices.ts";
import type { IndexState } from "../index/index-state.ts";
import { createSearch, type Search } from "../index/search-service.ts";
import { createSearchThread } from "../index/search-thread.ts";
import { createUsage, type UsageService } from "../index/usage-service.ts";
import { configuredAgents } from "../managed/configured-agents.ts";
import { createManagedSessions, type ManagedSessions } from "../managed/managed-sessions.ts";
import { openPush } from "../notify/push.ts";
import { openPushSubscriptions, type PushSubscriptions } from "../notify/push-subscriptions.ts";
import { openWebhook } from "../notify/webhook.ts";
import type { PostedFiles } from "../posted/posted-files.ts";
import { mergeSessions } from "../sessions/merge-sessions.ts";
import { type Notes, withNotes } from "../sessions/notes.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import { type ReadableSessions, withReadState } from "../sessions/read-state.ts";
import { type Rules, withRules } from "../sessions/rules.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Sources } from "../sessions/sources.ts";
import { UsageError } from "../usage-error.ts";
import { agentFolders, namedStores, sessionRoots } from "./agent-folders.ts";
import { inDataFolder } from "./data-dir.ts";
import type { Flags } from "./flags.ts";
import { createKnownSessions } from "./known-sessions.ts";
import { indexOtherSessions, openPartIndex } from "./part-index.ts";
import { createSources } from "./sources.ts";
import { printLine, report } from "./terminal.ts";

/** Resources of a daemon, in order of opening. They are closed in reverse. */
export type Opened = { close(): Promise<void> | void }[];

/** The sessions of all sources, and what serves them. */
interface AllSessions {
  samples: Samples | undefined;
  sessions: ReadableSessions;
  notes: Notes;
  rules: Rules;
  managed: ManagedSessions;
  search: Search;
  attach: AttachedDaemon;
  sources: Sources;
  opened_files: OpenedFiles;
  push: PushSubscriptions;
  prices: PriceTable;
  usage: UsageService;
}

/** Opens the sessions of all sources: found files, samples, and managed sessions. */
export async function openAllSessions(
  paths: string[],
  flags: Flags,
  data_dir: string,
  posted: PostedFiles,
  opened: Opened,
): Promise<AllSessions> {
  const roots = formats.flatMap(sessionRoots);
  const sample_notices: Notice[] = [];
  const named = [...paths.map((path) => resolve(path)), ...formats.flatMap(namedStores)];
  const wants_samples = flags.samples ?? (named.length === 0 && !(await hasSessions(roots)));
  const samples = wants_samples ? await openShownSamples(flags, data_dir, sample_notices) : undefined;
  const config = readConfig(data_dir);
  const push = openPushSubscriptions(data_dir);
  const { keys, notices } = readKeys(data_dir);
  const { answer_within_minutes } = config;
  const readOpen = createOpenList(roots);
  const isOpenElsewhere = async (id: string) => (await readOpen()).has(id);
  const agents = openAgents({ config, keys, data_dir, isOpenElsewhere });
  opened.push(agents);
  const marks_notices: Notice[] = [];
  const choices = openSourceChoices(data_dir);
  const attach = attachTo(data_dir, roots);
  opened.push(attach);
  let index: IndexState | undefined;
  const managed = await createManagedSessions({
    folder: data_dir,
    history: openSqliteHistory({ folder: data_dir, now: Date.now }),
    agents,
    ...(answer_within_minutes === undefined ? {} : { answer_within: answer_within_minutes * 60_000 }),
    notices: () => [
      ...config.notices,
      ...notices,
      ...sample_notices,
      ...agents.notices,
      ...marks_notices,
      ...choices.notices,
      ...push.notices,
      ...attach.notices,
      ...(index?.notices ?? []),
    ],
    isInOtherSource: (id) => found.get(id) !== undefined,
    findSessions: createKnownSessions({ formats, rowOf: (id) => found.get(id), readOpen }),
    report,
  });
  const { state, indexer } = await openPartIndex(data_dir, !managed.taken);
  index = state;
  opened.push(state);
  const marks = openMarks(data_dir, managed.taken, marks_notices, opened);
  // The daemon with the first store's lock may still be opening the second one, so this daemon must not.
  const archive = openSqliteArchive({ folder: data_dir, now: Date.now, read_only: managed.taken });
  const found = createSessions({
    formats,
    roots: [
      ...roots,
      ...rootsOf(posted.roots, { internal: true }),
      ...rootsOf(samples?.roots ?? [], { sample: true }),
    ],
    paths: named,
    indexer,
    part_index: state,
    choices,
    archive,
    ...(!managed.taken && { records_folder: join(data_dir, "records") }),
    isInOtherSource: (id) => managed.get(id) !== undefined,
    terminals: {
      requestsOf: attach.held.openOf,
      stateOf: attach.stateOf,
      takesPrompts: attach.input.accepts,
      subscribe: attach.subscribe,
    },
  });
  const opened_files = createOpenedFiles({ formats, now: Date.now });
  const { sessions, notes, rules } = addMarks(mergeSessions([managed, found, opened_files.sessions]), marks);
  opened.push(sessions);
  // If two daemons use one data folder, only one posts.
  if (!managed.taken) openNotifications(config.webhook, sessions, push, opened);
  opened.push(indexOtherSessions({ state, indexer, managed, found }));
  const { search, usage } = openSearch({ state, sessions, choices, notes, prices: config.prices, opened });
  const sources = createSources({ found, choices, is_writable: !managed.taken });
  const prices = createPriceTable(config.prices);
  const services = { notes, rules, search, attach, sources, opened_files, push, prices, usage };
  return { samples, sessions, managed, ...services };
}

/** Opens the sample sessions. If they cannot be shown, a notice says so. */
async function openShownSamples(
  flags: Flags,
  data_dir: string,
  notices: Notice[],
): Promise<Samples | undefined> {
  const noSamples = (error: unknown): undefined => {
    notices.push(
      noticeOf(
        "warning",
        daemonText("no_samples", { error: messageOf(error) }),
        daemonText("free_space_or_no_samples"),
      ),
    );
  };
  return await openSamples({ dataDir: data_dir, pace: readPace(flags), onError: report }).catch(noSamples);
}

/** The agents of the configuration, with a folder in which they can be tried. */
function openAgents({
  config,
  keys,
  data_dir,
  isOpenElsewhere,
}: {
  config: ReturnType<typeof readConfig>;
  keys: ReturnType<typeof readKeys>["keys"];
  data_dir: string;
  isOpenElsewhere(id: string): Promise<boolean>;
}) {
  const playground = join(data_dir, "playground");
  inDataFolder(data_dir, () => mkdirSync(playground, { recursive: true }));
  return configuredAgents({
    config,
    keys,
    environment: process.env,
    cwd: process.cwd(),
    playground,
    folder: data_dir,
    isOpenElsewhere,
  });
}

/** Opens the stores of users' marks: read states, notes and rules. */
function openMarks(data_dir: string, is_taken: boolean, marks_notices: Notice[], opened: Opened) {
  const marks_options = { folder: data_dir, now: Date.now, read_only: is_taken };
  const read_states = openReadStateStore(marks_options);
  const note_store = openNoteStore(marks_options);
  const rule_store = openRuleStore(marks_options);
  for (const { store, notices } of [read_states, note_store, rule_store]) {
    // If another daemon has the folder, the first store's notice is enough.
    if (!is_taken) marks_notices.push(...notices);
    if (store) opened.push(store);
  }
  return { read_states, note_store, rule_store };
}

/** Adds users' marks to the sessions. */
function addMarks(merged: Sessions, { read_states, note_store, rule_store }: ReturnType<typeof openMarks>) {
  const { sessions: noted, notes } = withNotes({
    sessions: merged,
    kept: note_store.store?.load() ?? [],
    store: note_store.read_only ? undefined : note_store.store,
    now: Date.now,
  });
  const { sessions: withAlerts, rules } = withRules({
    sessions: noted,
    kept: rule_store.store?.load() ?? { rules: [], alerts: [] },
    store: rule_store.read_only ? undefined : rule_store.store,
    now: Date.now,
    report,
  });
  const sessions = keepReadState(withAlerts, read_states);
  return { sessions, notes, rules };
}

/** Opens the search and the usage of all sessions, on a thread of their own. */
function openSearch({
  state,
  sessions,
  choices,
  notes,
  prices,
  opened,
}: {
  state: IndexState;
  sessions: ReadableSessions;
  choices: Pick<SourceChoices, "off">;
  notes: Notes;
  prices: ReturnType<typeof readConfig>["prices"];
  opened: Opened;
}): { search: Search; usage: UsageService } {
  const thread = createSearchThread(state);
  opened.push(thread);
  const search = createSearch({
    thread,
    sessions,
    now: Date.now,
    skipped: () => [...choices.off],
    notes: notes.all,
  });
  const usage = createUsage({ thread, sessions, prices: prices });
  return { search, usage };
}

/** Opens the webhook and the push notifications. */
function openNotifications(
  webhook: ReturnType<typeof readConfig>["webhook"],
  sessions: ReadableSessions,
  push: PushSubscriptions,
  opened: Opened,
): void {
  if (webhook)
    opened.push(
      openWebhook({
        ...webhook,
        sessions,
        onFailure: (problem) => printLine(`A notification could not be posted to the webhook: ${problem}.`),
      }),
    );
  opened.push(
    openPush({
      sessions,
      subscriptions: push,
      onFailure: (problem) => printLine(`A push notification could not be sent: ${problem}.`),
    }),
  );
}

/** `isWatched` is set by the server. */
export type AttachedDaemon = Attach & { isWatched: (session_id: string) => boolean };

function attachTo(data_dir: string, roots: readonly { format: Format; path: string }[]): AttachedDaemon {
  const registered = roots.filter(({ format }) => format.id === "claude-code");
  const registry = createProcessRegistry(registered);
  const attach = createAttach({
    data_dir,
    folders: agentFolders(),
    readProcesses: registry.read,
    isWatched: (session_id) => attached.isWatched(session_id),
    report,
  });
  const attached: AttachedDaemon = Object.assign(attach, { isWatched: () => false });
  return attached;
}

/** Stores read states. If the store cannot be written, they last as long as this daemon. */
function keepReadState(
  sessions: Sessions,
  { store, read_only }: ReturnType<typeof openReadStateStore>,
): ReadableSessions {
  return withReadState({
    sessions,
    kept: store?.load() ?? [],
    since: store?.since ?? Date.now(),
    put: read_only ? undefined : store?.put,
    now: Date.now,
    report,
  });
}

function readPace(flags: Flags): number {
  const pace = Number(flags["replay-pace"] ?? 1);
  if (pace > 0) return pace;
  throw new UsageError(`--replay-pace ${flags["replay-pace"]}: must be a number above 0.`);
}

function rootsOf(
  roots: readonly { agent: string; path: string; folders?: readonly string[] }[],
  kind: { internal?: true; sample?: true },
) {
  return roots.flatMap(({ agent, ...root }) => {
    const format = formats.find((format) => format.id === agent);
    return format ? [{ format, ...root, ...kind }] : [];
  });
}
