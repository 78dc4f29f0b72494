import { join } from "node:path";
import type { PriceTable } from "../../model/prices/price-table.ts";
import { openAnswerPassphrase } from "../attach/answer-passphrase.ts";
import { addAnswerRoutes } from "../attach/answer-routes.ts";
import { addAttachRoutes } from "../attach/routes.ts";
import { type Access, loadAccess } from "../auth/access.ts";
import { openControlSocket, requestLink } from "../auth/control-socket.ts";
import { createGuard } from "../auth/guard.ts";
import { type Address, listenSomewhere, originHere, originsOf, readAddress } from "../http/address.ts";
import { createApp } from "../http/app.ts";
import { type Frontend, openFrontend } from "../http/frontend.ts";
import { serve } from "../http/serve.ts";
import type { Search } from "../index/search-service.ts";
import type { UsageService } from "../index/usage-service.ts";
import { createLive } from "../live/live.ts";
import type { ManagedSessions } from "../managed/managed-sessions.ts";
import { addManagedRoutes } from "../managed/routes.ts";
import { addPushRoutes } from "../notify/push.ts";
import type { PushSubscriptions } from "../notify/push-subscriptions.ts";
import { createPostedFiles, type PostedFiles } from "../posted/posted-files.ts";
import { addPostedRoutes } from "../posted/routes.ts";
import type { Notes } from "../sessions/notes.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { ReadableSessions } from "../sessions/read-state.ts";
import type { Rules } from "../sessions/rules.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { Sources } from "../sessions/sources.ts";
import { dataDirOf, inDataFolder } from "./data-dir.ts";
import type { Flags } from "./flags.ts";
import { type AttachedDaemon, type Opened, openAllSessions } from "./open-sessions.ts";
import { packageRoot, readVersion } from "./package-root.ts";
import { printLine, report } from "./terminal.ts";

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
  printNewNotices(): void;
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
    printNewNotices: printNotices(sessions, opened),
  };
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
  const printNewNotices = () => {
    for (const { text, remedy } of sessions.status().notices) {
      const notice = remedy === undefined ? text : `${text} ${remedy}`;
      if (!printed.has(notice)) printLine(notice);
      printed.add(notice);
    }
  };
  const timer = setInterval(printNewNotices, NOTICES_MS);
  opened.push({ close: () => clearInterval(timer) });
  return printNewNotices;
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
