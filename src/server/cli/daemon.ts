import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { messageOf } from "../../model/narrow.ts";
import { createPriceTable, type PriceTable } from "../../model/prices/price-table.ts";
import type { Format } from "../../sources/contract.ts";
import { formats } from "../../sources/index.ts";
import type { Notice } from "../../store/contract.ts";
import { openNoteStore } from "../../store/notes/sqlite.ts";
import { openReadStateStore } from "../../store/read-state/sqlite.ts";
import { openRuleStore } from "../../store/rules/sqlite.ts";
import { openAnswerPassphrase } from "../attach/answer-passphrase.ts";
import { addAnswerRoutes } from "../attach/answer-routes.ts";
import { type Attach, createAttach } from "../attach/attach.ts";
import { addAttachRoutes } from "../attach/routes.ts";
import { type Access, loadAccess } from "../auth/access.ts";
import { openControlSocket, requestLink } from "../auth/control-socket.ts";
import { createGuard } from "../auth/guard.ts";
import { readConfig, readKeys } from "../config.ts";
import { type Address, listenSomewhere, originHere, originsOf, readAddress } from "../http/address.ts";
import { createApp } from "../http/app.ts";
import { type Frontend, openFrontend } from "../http/frontend.ts";
import { serve } from "../http/serve.ts";
import { createSessions } from "../import/catalog.ts";
import { createOpenedFiles } from "../import/opened/opened-files.ts";
import { createOpenList, createProcessRegistry } from "../import/process-registry.ts";
import { hasSessions, openSamples, type Samples } from "../import/samples.ts";
import { openSourceChoices } from "../import/source-choices.ts";
import type { IndexState } from "../index/index-state.ts";
import { createSearch, type Search } from "../index/search-service.ts";
import { createSearchThread } from "../index/search-thread.ts";
import { createUsage, type UsageService } from "../index/usage-service.ts";
import { createLive } from "../live/live.ts";
import { configuredAgents } from "../managed/configured-agents.ts";
import { createManagedSessions, type ManagedSessions } from "../managed/managed-sessions.ts";
import { addManagedRoutes } from "../managed/routes.ts";
import { addPushRoutes, openPush } from "../notify/push.ts";
import { openPushSubscriptions, type PushSubscriptions } from "../notify/push-subscriptions.ts";
import { openWebhook } from "../notify/webhook.ts";
import { createPostedFiles, type PostedFiles } from "../posted/posted-files.ts";
import { addPostedRoutes } from "../posted/routes.ts";
import { mergeSessions } from "../sessions/merge-sessions.ts";
import { type Notes, withNotes } from "../sessions/notes.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import { type ReadableSessions, withReadState } from "../sessions/read-state.ts";
import { type Rules, withRules } from "../sessions/rules.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { Sources } from "../sessions/sources.ts";
import { UsageError } from "../usage-error.ts";
import { agentFolder, agentFolders } from "./agent-folders.ts";
import { dataDirOf, inDataFolder } from "./data-dir.ts";
import type { Flags } from "./flags.ts";
import { createKnownSessions } from "./known-sessions.ts";
import { packageRoot, readVersion } from "./package-root.ts";
import { indexOtherSessions, openPartIndex } from "./part-index.ts";
import { createSources } from "./sources.ts";
import { say } from "./terminal.ts";

/** Interval of the check for new notices, in milliseconds. */
const NOTICES_MS = 1_000;
/** Interval of the retries of a store that could not be written, in milliseconds. */
export const RETRY_MS = 2_000;

/** A running daemon. */
export interface Daemon {
  /** Signs one browser in, once. */
  link: string;
  /** The address for programs on this machine. */
  origin: string;
  port: number;
  /**
   * Resolves when a store that could not be written because of the disk or another daemon can be written, and no agent is
   * working. The daemon can then be restarted: pages reconnect to the same port.
   */
  storable: Promise<void>;
  /** Ids of the managed sessions that are working or waiting for an answer. */
  working(): readonly string[];
  /** Prints new notices on standard error now. Later ones are printed as they come. */
  sayNotices(): void;
  close(): Promise<void>;
}

/** Resources that are loaded once and reused when the daemon restarts in this process. */
export interface Program {
  address: Address;
  frontend: Frontend | undefined;
  version: string;
}

export async function readProgram(flags: Flags): Promise<Program> {
  return {
    address: readAddress(flags),
    // Loaded before reading sessions, which may use up the file descriptors.
    frontend: await openFrontend(join(packageRoot(), "dist/web")),
    version: readVersion(),
  };
}

/** Resources of a daemon, in order of opening. They are closed in reverse. */
type Opened = { close(): Promise<void> | void }[];

/** Opens everything and starts to listen. An error closes what was opened. */
export async function startDaemon(paths: string[], flags: Flags, program: Program): Promise<Daemon> {
  const opened: Opened = [];
  const close = async () => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    return { ...(await openDaemon(paths, flags, program, opened)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const report = (error: unknown) =>
  say(error instanceof Error ? (error.stack ?? error.message) : inspect(error));

async function openDaemon(
  paths: string[],
  flags: Flags,
  program: Program,
  opened: Opened,
): Promise<Omit<Daemon, "close">> {
  const data_dir = dataDirOf(flags);
  // The daemon's own files are readable only by their owner.
  const umask = process.umask(0o077);
  const access = inDataFolder(data_dir, () => loadAccess(data_dir));
  const posted = inDataFolder(data_dir, () => createPostedFiles(join(data_dir, "posted")));
  const all = await openAllSessions(paths, flags, data_dir, posted, opened);
  const { samples, sessions, managed, attach } = all;
  const { port, newLink } = await listen({ ...all, program, flags, access, posted }, opened);
  if (samples) opened.push({ close: samples.stop });
  // If two daemons use one data folder, the one with the lock replays samples and serves links. If the disk does not allow locks,
  // the first one does.
  const is_first = !managed.taken && (managed.writable || (await requestLink(data_dir)) === undefined);
  const origin = originHere(program.address, port);
  const control_socket = is_first
    ? await openControlSocket(data_dir, () => ({ link: newLink(), origin }))
    : undefined;
  if (control_socket) opened.push(control_socket);
  if (is_first) samples?.replay();
  if (is_first) await attach.listen();
  // Files that agents write get the user's own permissions. The daemon's files exist by now.
  process.umask(umask);
  return {
    link: newLink(),
    origin,
    port,
    storable: whenStorable(sessions, managed, opened),
    working: () => managed.working,
    sayNotices: printNotices(sessions, opened),
  };
}

/** Opens the sessions of all sources: found files, samples, and managed sessions. */
async function openAllSessions(
  paths: string[],
  flags: Flags,
  data_dir: string,
  posted: PostedFiles,
  opened: Opened,
): Promise<{
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
}> {
  const roots = formats.flatMap((format) =>
    format.root === undefined ? [] : [{ format, path: agentFolder(format.root) }],
  );
  const sample_notices: Notice[] = [];
  const noSamples = (error: unknown): undefined => {
    sample_notices.push({
      level: "warning",
      text: `The sample sessions cannot be shown: ${messageOf(error)}.`,
      remedy:
        "Free some disk space and check the permissions of the data folder, or start with --no-samples.",
    });
  };
  const wants_samples = flags.samples ?? (paths.length === 0 && !(await hasSessions(roots)));
  const samples = wants_samples
    ? await openSamples({ dataDir: data_dir, pace: readPace(flags), onError: report }).catch(noSamples)
    : undefined;
  const config = readConfig(data_dir);
  const push = openPushSubscriptions(data_dir);
  const { keys, notices } = readKeys(data_dir);
  const { answer_within_minutes } = config;
  const playground = join(data_dir, "playground");
  inDataFolder(data_dir, () => mkdirSync(playground, { recursive: true }));
  const readOpen = createOpenList(roots);
  const agents = configuredAgents({
    config,
    keys,
    environment: process.env,
    cwd: process.cwd(),
    playground,
    folder: data_dir,
    isOpenElsewhere: async (id) => (await readOpen()).has(id),
  });
  opened.push(agents);
  const marks_notices: Notice[] = [];
  const choices = openSourceChoices(data_dir);
  const attach = attachTo(data_dir, roots);
  opened.push(attach);
  let index: IndexState | undefined;
  const managed = createManagedSessions({
    folder: data_dir,
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
    knowSessions: createKnownSessions({ formats, rowOf: (id) => found.get(id), readOpen }),
    report,
  });
  const { state, indexer } = await openPartIndex(data_dir, !managed.taken);
  index = state;
  opened.push(state);
  const marks_options = { folder: data_dir, now: Date.now, read_only: managed.taken };
  const read_states = openReadStateStore(marks_options);
  const note_store = openNoteStore(marks_options);
  const rule_store = openRuleStore(marks_options);
  for (const { store, notices } of [read_states, note_store, rule_store]) {
    // If another daemon has the folder, the first store's notice is enough.
    if (!managed.taken) marks_notices.push(...notices);
    if (store) opened.push(store);
  }
  const found = createSessions({
    formats,
    roots: [
      ...roots,
      ...rootsOf(posted.roots, { internal: true }),
      ...rootsOf(samples?.roots ?? [], { sample: true }),
    ],
    paths: paths.map((path) => resolve(path)),
    indexer,
    part_index: state,
    choices,
    dataFolder: data_dir,
    // The daemon with the first store's lock may still be opening the second one, so this daemon must not.
    read_only: managed.taken,
    isInOtherSource: (id) => managed.get(id) !== undefined,
    terminals: {
      requestsOf: attach.held.openOf,
      stateOf: attach.stateOf,
      takesPrompts: attach.input.accepts,
      subscribe: attach.subscribe,
    },
  });
  const opened_files = createOpenedFiles({ formats, now: Date.now });
  const { sessions: noted, notes } = withNotes({
    sessions: mergeSessions([managed, found, opened_files.sessions]),
    kept: note_store.store?.load() ?? [],
    store: note_store.read_only ? undefined : note_store.store,
    now: Date.now,
  });
  const { sessions: ruled, rules } = withRules({
    sessions: noted,
    kept: rule_store.store?.load() ?? { rules: [], alerts: [] },
    store: rule_store.read_only ? undefined : rule_store.store,
    now: Date.now,
    report,
  });
  const sessions = keepReadState(ruled, read_states);
  opened.push(sessions);
  // If two daemons use one data folder, only one posts.
  if (config.webhook && !managed.taken)
    opened.push(
      openWebhook({
        ...config.webhook,
        sessions,
        onFailure: (problem) => say(`A notification could not be posted to the webhook: ${problem}.`),
      }),
    );
  if (!managed.taken)
    opened.push(
      openPush({
        sessions,
        subscriptions: push,
        onFailure: (problem) => say(`A push notification could not be sent: ${problem}.`),
      }),
    );
  opened.push(indexOtherSessions({ state, indexer, managed, found }));
  const thread = createSearchThread(state);
  opened.push(thread);
  const search = createSearch({
    thread,
    sessions,
    now: Date.now,
    skipped: () => [...choices.off],
    notes: notes.all,
  });
  const usage = createUsage({ thread, sessions, prices: config.prices });
  const sources = createSources({ found, choices, is_writable: !managed.taken });
  const prices = createPriceTable(config.prices);
  const services = { notes, rules, search, attach, sources, opened_files, push, prices, usage };
  return { samples, sessions, managed, ...services };
}

/** `isWatched` is set by the server. */
type AttachedDaemon = Attach & { isWatched: (session_id: string) => boolean };

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

/** Starts the HTTP and WebSocket server. */
async function listen(
  options: {
    program: Program;
    flags: Flags;
    access: Access;
    sessions: ReadableSessions;
    notes: Notes;
    rules: Rules;
    managed: ManagedSessions;
    search: Search;
    posted: PostedFiles;
    attach: AttachedDaemon;
    sources: Sources;
    opened_files: OpenedFiles;
    push: PushSubscriptions;
    prices: PriceTable;
    usage: UsageService;
  },
  opened: Opened,
): Promise<{ port: number; newLink(): string }> {
  const { program, flags, access, sessions, managed, search, posted, attach, sources } = options;
  const { notes, rules, opened_files, push, prices, usage } = options;
  const { address, frontend, version } = program;
  const passphrase = openAnswerPassphrase(dataDirOf(flags));
  let newLink = () => "";
  const listenOn = (port: number) =>
    serve({ ...address, port }, (bound) => {
      const guard = createGuard({
        access,
        origins: originsOf(address, bound),
        ...(address.password === undefined ? {} : { password: address.password }),
      });
      newLink = guard.launchLink;
      const addLiveText = (open: OpenSession) => attach.addLiveText(open);
      const live = createLive({ sessions, addLiveText, report });
      attach.isWatched = live.isWatched;
      return {
        guard,
        app: createApp({
          sessions,
          search,
          sources,
          opened_files,
          prices,
          usage,
          markRead: sessions.markRead,
          notes,
          rules,
          addPostedRoutes: (app) => addPostedRoutes(app, posted),
          addPushRoutes: (app) => addPushRoutes(app, push),
          addAttachRoutes: (app) => {
            addAttachRoutes(app, attach, sessions, passphrase);
            addAnswerRoutes(app, passphrase);
          },
          addManagedRoutes: (app) => addManagedRoutes(app, managed, process.cwd(), passphrase),
          guard,
          version,
          report,
          remote: address.origin !== undefined,
          ...(frontend ? { frontend } : {}),
        }),
        live,
      };
    });
  const served = await listenSomewhere(listenOn, address.host, flags.port);
  opened.push(served);
  return { port: served.port, newLink: () => newLink() };
}

/** Prints each notice once, now and at intervals. The result prints new ones at once. */
function printNotices(sessions: Sessions, opened: Opened): () => void {
  const printed = new Set<string>();
  const sayNotices = () => {
    for (const { text, remedy } of sessions.status().notices) {
      const notice = remedy === undefined ? text : `${text} ${remedy}`;
      if (!printed.has(notice)) say(notice);
      printed.add(notice);
    }
  };
  const timer = setInterval(sayNotices, NOTICES_MS);
  opened.push({ close: () => clearInterval(timer) });
  return sayNotices;
}

/** See `Daemon.storable`. */
function whenStorable(sessions: Sessions, managed: ManagedSessions, opened: Opened): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { retry } = sessions;
  const timer =
    retry &&
    setInterval(() => {
      if (managed.working.length === 0 && retry()) resolve();
    }, RETRY_MS);
  opened.push({ close: () => clearInterval(timer) });
  return promise;
}

function readPace(flags: Flags): number {
  const pace = Number(flags["replay-pace"] ?? 1);
  if (pace > 0) return pace;
  throw new UsageError(`--replay-pace ${flags["replay-pace"]}: must be a number above 0.`);
}

function rootsOf(
  folders: readonly { agent: string; path: string }[],
  kind: { internal?: true; sample?: true },
) {
  return folders.flatMap(({ agent, path }) => {
    const format = formats.find((format) => format.id === agent);
    return format ? [{ format, path, ...kind }] : [];
  });
}
