import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { isMainThread } from "node:worker_threads";
import { formats } from "../formats/index.ts";
import { messageOf } from "../model/narrow.ts";
import { findWireFormat, wireFormats } from "../providers/index.ts";
import { type Address, listenSomewhere, originHere, originsOf, readAddress } from "./address.ts";
import { createApp } from "./app.ts";
import { createSessions } from "./catalog.ts";
import { type CertificatePair, followCertificate } from "./certificate.ts";
import { readConfig, readKeys } from "./config.ts";
import { type DecodedStream, decodeStream } from "./decode.ts";
import { hangDoorbell, ringDoorbell } from "./doorbell.ts";
import { dataDir, type Flags, HELP, readFlags } from "./flags.ts";
import { type Frontend, openFrontend } from "./frontend.ts";
import { createGuard, ingestToken, loadAccess } from "./guard.ts";
import { configuredAgents } from "./hosted/configured-agents.ts";
import { createHosted } from "./hosted/hosted.ts";
import "./index-worker.ts";
import { createIndexer } from "./indexer.ts";
import { createLive } from "./live.ts";
import { mergeSessions } from "./merge-sessions.ts";
import { RunError, runPrompt } from "./run.ts";
import { hasSessions, openSamples, type Samples } from "./samples.ts";
import { serve } from "./serve.ts";
import { show } from "./show.ts";
import type { Notice } from "./store/store.ts";
import { safe } from "./terminal-text.ts";
import { attempt, UsageError } from "./usage-error.ts";

/** A second signal this soon is the same one, come by another way (terminal and `npm`), in milliseconds. */
const SAME_SIGNAL_MS = 1_000;
/** How often it is looked whether there is something new to tell in the terminal. */
const NOTICES_MS = 1_000;
/** How often it is looked whether all sessions rest. */
const REST_MS = 200;
/** How often it is tried whether a store that could not be written can be. */
const RETRY_MS = 2_000;

async function main(args: string[]): Promise<number> {
  const { values: flags, positionals } = readFlags(args);
  if (flags.help) return await print(HELP);
  if (flags.version) return await print(`${readVersion()}\n`);
  if (positionals[0] === "show") return await showFiles(positionals.slice(1), flags);
  if (positionals[0] === "decode") return await decodeFile(positionals.slice(1), flags);
  if (positionals[0] === "run") return await runInTerminal(positionals.slice(1), flags);
  if (positionals[0] === "token") return await printToken(dataDir(flags));
  if (flags.wire !== undefined) throw new UsageError("--wire belongs to `decode FILE`.");
  if (flags.json || flags.accounting) {
    throw new UsageError("--json belongs to `show FILE` and `run PROMPT`, --accounting to `show FILE`.");
  }
  for (const flag of ["agent", "provider", "model", "cwd"] as const) {
    if (flags[flag] !== undefined) throw new UsageError(`--${flag} belongs to \`run PROMPT\`.`);
  }
  if (flags.link) return await printLink(dataDir(flags));
  return await runDaemon(positionals, flags);
}

async function decodeFile(files: string[], flags: Flags): Promise<number> {
  const [file, ...more] = files;
  if (file === undefined || more.length > 0)
    throw new UsageError("Name one recorded stream: decode --wire WIRE FILE");
  const format = findWireFormat(flags.wire ?? "");
  if (format === undefined) {
    const known = wireFormats.map(({ wire }) => wire).join(", ");
    throw new UsageError(
      flags.wire === undefined
        ? `Say in which wire it is written: --wire ${known}`
        : `--wire ${flags.wire}: there is no such wire. There are: ${known}`,
    );
  }
  let decoded: DecodedStream;
  try {
    decoded = await decodeStream(format, file);
  } catch (error) {
    throw new UsageError(`${file}: it cannot be read: ${messageOf(error)}`);
  }
  return await print(`${safe(JSON.stringify(decoded, null, 1))}\n`);
}

async function showFiles(files: string[], flags: Flags): Promise<number> {
  if (files.length === 0) throw new UsageError("Name a session's file: show FILE");
  return await show({
    files,
    formats,
    as: flags.accounting ? "accounting" : flags.json ? "json" : "text",
    write: async (text) => {
      await print(text);
    },
    warn: say,
  });
}

/** Tells the person something on standard error, whatever stands in it of others. */
function say(text: string): void {
  console.error(safe(text));
}

/** Tells the person what went wrong, and gives the exit code. */
function fail(error: unknown): number {
  const is_known = error instanceof UsageError || error instanceof RunError;
  say(is_known ? error.message : inspect(error));
  return is_known ? 2 : 1;
}

/** Writes to standard output, no faster than it is read. */
async function print(text: string): Promise<0> {
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  return 0;
}

async function runDaemon(paths: string[], flags: Flags): Promise<number> {
  // From the first moment: whoever ends it while it begins leaves no store open.
  const ended = endSignal().then(() => true);
  checkPaths(paths);
  const program = await readProgram(flags);
  let daemon = await startDaemon(paths, flags, program);
  await print(`${daemon.link}\n`);
  daemon.sayNotices();
  if (flags.open) openBrowser(daemon.link, dataDir(flags));
  while (!(await Promise.race([ended, daemon.storable.then(() => false)]))) {
    console.error("The data folder can be used again: Verbatim begins again with it.");
    await daemon.close();
    const again = await beginAgain(paths, { ...flags, port: String(daemon.port) }, program, ended);
    if (again === undefined) return 0;
    daemon = again;
    await print(`${daemon.link}\n`);
    daemon.sayNotices();
  }
  await daemon.close();
  return 0;
}

function checkPaths(paths: readonly string[]): void {
  for (const path of paths) {
    const stats = attempt(
      () => statSync(path, { throwIfNoEntry: false }),
      `${path}: it cannot be read`,
      "Name a file or folder that you may read.",
    );
    if (!stats) throw new UsageError(`${path}: there is no such file or folder.`);
  }
}

/** Tries until there is a daemon; `undefined`: the person wanted an end before. */
async function beginAgain(
  paths: string[],
  flags: Flags,
  program: Program,
  ended: Promise<unknown>,
): Promise<Daemon | undefined> {
  let wanted = true;
  void ended.then(() => {
    wanted = false;
  });
  let said: string | undefined;
  while (wanted) {
    try {
      return await startDaemon(paths, flags, program);
    } catch (error) {
      const reason = safe(messageOf(error));
      if (reason !== said) console.error(`Verbatim cannot begin again yet, and tries on. ${reason}`);
      said = reason;
    }
    await Promise.race([ended, sleep(RETRY_MS)]);
  }
  return undefined;
}

/** Runs one prompt in the daemon that runs, or in one that runs as long as this command. */
async function runInTerminal(words: string[], flags: Flags): Promise<number> {
  const data_dir = dataDir(flags);
  const prompt = words.join(" ").trim();
  if (prompt === "") throw new UsageError('Say what is to be done: run "PROMPT"');
  if (flags.agent !== undefined && flags.provider !== undefined) {
    throw new UsageError("Give --agent or --provider, not both.");
  }
  const agent = flags.agent ?? flags.provider;
  const stop = new AbortController();
  const ended = endSignal().then(() => stop.abort());
  const running = await ringDoorbell(data_dir);
  const own =
    running === undefined
      ? await startDaemon([], { ...flags, samples: false, port: "0" }, await readProgram(flags))
      : undefined;
  // Begun in another daemon, and taken up by this one: the next one goes on with it.
  const taken_up = new Set(own?.working());
  const others = () => (own?.working() ?? []).some((id) => !taken_up.has(id));
  const { link, origin } = running ?? own ?? { link: "", origin: "" };
  own?.sayNotices();
  const terminal =
    process.stdin.isTTY && process.stderr.isTTY && !flags.json
      ? createInterface({ input: process.stdin, output: process.stderr })
      : undefined;
  terminal?.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const exit_code = await runPrompt({
      origin,
      token: loadAccess(data_dir).api_token,
      link,
      prompt,
      ...(agent === undefined ? {} : { agent }),
      ...(flags.model === undefined ? {} : { model: flags.model }),
      cwd: process.cwd(),
      ...(flags.cwd === undefined ? {} : { wanted_cwd: resolve(flags.cwd) }),
      as: flags.json ? "json" : "text",
      write: async (text) => {
        await print(text);
      },
      warn: say,
      ...(terminal === undefined
        ? {}
        : {
            ask(question, signal) {
              // What stands in the line was typed before there was a question.
              terminal.write(null, { ctrl: true, name: "u" });
              return terminal.question(question, { signal });
            },
          }),
      now: () => performance.now(),
      stop: stop.signal,
    }).catch(fail);
    terminal?.close();
    own?.sayNotices();
    if (others() && !stop.signal.aborted) {
      console.error("Other sessions still run in this daemon: it ends once they rest, or on Ctrl-C.");
      while (others() && !stop.signal.aborted) await Promise.race([ended, sleep(REST_MS)]);
      // Whoever follows them hears how they ended.
      await Promise.race([ended, sleep(REST_MS)]);
    }
    return exit_code;
  } finally {
    terminal?.close();
    await own?.close();
  }
}

interface Daemon {
  /** Lets one browser in, once. */
  link: string;
  /** Where programs of this machine reach it. */
  origin: string;
  port: number;
  /**
   * Resolves when a store that the disk or another daemon kept from being written can be, and no agent is at work: pages
   * come back by themselves to a daemon that begins again at the same port.
   */
  storable: Promise<void>;
  /** The sessions that it runs and that work, or wait for a person, by id. */
  working(): readonly string[];
  /** Says now what a person should know and was not told yet, on standard error; what comes up later is said by itself. */
  sayNotices(): void;
  close(): Promise<void>;
}

/** What is read once: a daemon that begins again is the one that was started, whatever became of these files. */
interface Program {
  address: Address;
  frontend: Frontend | undefined;
  version: string;
}

async function readProgram(flags: Flags): Promise<Program> {
  return {
    address: readAddress(flags),
    // Before sessions are read, which may take all the files that a process may have open.
    frontend: await openFrontend(join(import.meta.dirname, "../../dist/web")),
    version: readVersion(),
  };
}

/** What a daemon has opened, in this order: closed in the reverse one. */
type Opened = { close(): Promise<void> | void }[];

async function startDaemon(paths: string[], flags: Flags, program: Program): Promise<Daemon> {
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
  { address, frontend, version }: Program,
  opened: Opened,
): Promise<Omit<Daemon, "close">> {
  const data_dir = dataDir(flags);
  // All that the daemon writes is its owner's alone.
  const umask = process.umask(0o077);
  const access = inDataFolder(data_dir, () => loadAccess(data_dir));
  const report = (error: unknown) =>
    say(error instanceof Error ? (error.stack ?? error.message) : inspect(error));

  const roots = formats.map((format) => ({
    format,
    path: process.env[format.root.variable] || join(homedir(), format.root.home),
  }));
  const sample_notices: Notice[] = [];
  const noSamples = (error: unknown): undefined => {
    sample_notices.push({
      level: "warning",
      text: `The sample sessions cannot be shown: ${messageOf(error)}.`,
      remedy: "Make room in the data folder and check its permissions, or start with --no-samples.",
    });
  };
  const wanted = flags.samples ?? (paths.length === 0 && !(await hasSessions(roots)));
  const samples = wanted
    ? await openSamples({ dataDir: data_dir, pace: readPace(flags), onError: report }).catch(noSamples)
    : undefined;
  const config = readConfig(data_dir);
  const { keys, notices } = readKeys(data_dir);
  const { answer_within_minutes } = config;
  const playground = join(data_dir, "playground");
  inDataFolder(data_dir, () => mkdirSync(playground, { recursive: true }));
  const agents = configuredAgents({
    config,
    keys,
    environment: process.env,
    cwd: process.cwd(),
    playground,
    folder: data_dir,
  });
  opened.push(agents);
  const hosted = createHosted({
    folder: data_dir,
    agents,
    ...(answer_within_minutes === undefined ? {} : { answer_within: answer_within_minutes * 60_000 }),
    notices: () => [...config.notices, ...notices, ...sample_notices, ...agents.notices],
    isElsewhere: (id) => found.get(id) !== undefined,
    report,
  });
  const found = createSessions({
    formats,
    roots: [...roots, ...sampleRoots(samples)],
    paths: paths.map((path) => resolve(path)),
    indexer: createIndexer(),
    dataFolder: data_dir,
    // Whoever comes first may still be opening the first store: the second is theirs, too.
    read_only: hosted.taken,
    isElsewhere: (id) => hosted.get(id) !== undefined,
  });
  const sessions = mergeSessions([hosted, found]);
  opened.push(sessions);

  let newLink = () => "";
  const listen = (port: number) =>
    serve({ ...address, port }, (bound) => {
      const guard = createGuard({
        access,
        origins: originsOf(address, bound),
        ...(address.password === undefined ? {} : { password: address.password }),
      });
      newLink = guard.launchLink;
      return {
        guard,
        app: createApp({
          sessions,
          hosted,
          cwd: process.cwd(),
          guard,
          version,
          report,
          remote: address.origin !== undefined,
          ...(frontend ? { frontend } : {}),
        }),
        live: createLive({ sessions, report }),
      };
    });
  const served = await listenSomewhere(listen, address.host, flags.port);
  opened.push(served);
  if (address.tls !== undefined && flags.cert !== undefined && flags.key !== undefined) {
    const take = (tls: CertificatePair) => {
      // A daemon that begins again does so with this one.
      address.tls = tls;
      served.renew(tls);
    };
    const files = { cert: flags.cert, key: flags.key };
    opened.push(followCertificate({ files, current: address.tls, take, warn: say }));
  }
  if (samples) opened.push({ close: samples.stop });
  // With two daemons on one data directory the one that holds it replays, and gives links: whoever left it to this one has
  // taken its doorbell down before. Where the disk lets nobody hold it, the first one does.
  const first = !hosted.taken && (hosted.writable || (await ringDoorbell(data_dir)) === undefined);
  const origin = originHere(address, served.port);
  const doorbell = first ? await hangDoorbell(data_dir, () => ({ link: newLink(), origin })) : undefined;
  if (doorbell) opened.push(doorbell);
  if (first) samples?.replay();
  // What agents write into a person's folders is as open as that person has it; ours is made, and closed, by now.
  process.umask(umask);
  const said = new Set<string>();
  const sayNotices = () => {
    for (const { text, remedy } of sessions.status().notices) {
      const notice = remedy === undefined ? text : `${text} ${remedy}`;
      if (!said.has(notice)) say(notice);
      said.add(notice);
    }
  };
  const notice_timer = setInterval(sayNotices, NOTICES_MS);
  opened.push({ close: () => clearInterval(notice_timer) });
  const storable = Promise.withResolvers<void>();
  const { retry } = sessions;
  const retry_timer =
    retry &&
    setInterval(() => {
      if (hosted.working.length === 0 && retry()) storable.resolve();
    }, RETRY_MS);
  opened.push({ close: () => clearInterval(retry_timer) });
  return {
    link: newLink(),
    origin,
    port: served.port,
    storable: storable.promise,
    working: () => hosted.working,
    sayNotices,
  };
}

function inDataFolder<Value>(data_dir: string, work: () => Value): Value {
  return attempt(
    work,
    `The data folder ${data_dir} cannot be used`,
    "Make room on its disk, check its permissions, or name another folder with --data-dir.",
  );
}

async function printToken(data_dir: string): Promise<number> {
  const access = inDataFolder(data_dir, () => loadAccess(data_dir));
  return await print(`${ingestToken(access)}\n`);
}

async function printLink(data_dir: string): Promise<number> {
  const answered = await ringDoorbell(data_dir);
  if (answered === undefined) {
    throw new UsageError(`No daemon runs with the data in ${data_dir}: start one with \`npm start\`.`);
  }
  return await print(`${answered.link}\n`);
}

function readPace(flags: Flags): number {
  const pace = Number(flags["replay-pace"] ?? 1);
  if (pace > 0) return pace;
  throw new UsageError(`--replay-pace ${flags["replay-pace"]}: give a number above 0.`);
}

function sampleRoots(samples: Samples | undefined) {
  return (samples?.roots ?? []).flatMap(({ agent, path }) => {
    const format = formats.find((format) => format.id === agent);
    return format ? [{ format, path, sample: true }] : [];
  });
}

/** Opens the link through a file that only the person can read: arguments of a process are everyone's. */
function openBrowser(link: string, data_dir: string): void {
  const failed = () => console.error("No browser could be opened: open the address above.");
  const file = join(data_dir, "open.html");
  try {
    const page = `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">`;
    writeFileSync(file, page, { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch {
    failed();
    return;
  }
  const [command, ...args] =
    process.platform === "darwin"
      ? ["open", file]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", "", file]
        : ["xdg-open", file];
  if (command === undefined) return;
  spawn(command, args, { stdio: "ignore", detached: true }).on("error", failed).unref();
}

/** From package.json, which stands two folders up in the sources and in the package alike. */
function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && "version" in value
    ? String(value.version)
    : "unknown";
}

/** Resolves when the person wants an end; a second wish does not wait for what is under way. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (first !== undefined && performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
        first ??= performance.now();
        resolve();
      });
    }
  });
}

// The launcher's, for this process alone: they are not for what an agent starts.
for (const name of process.env.VERBATIM_LAUNCHER?.split(",") ?? []) delete process.env[name];
delete process.env.VERBATIM_LAUNCHER;

// In the package the thread that reads files runs this same file: it is served by the module imported above.
if (isMainThread) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever read our output has seen enough (`| head`).
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    process.exitCode = fail(error);
  }
}
