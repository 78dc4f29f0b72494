import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { eventually } from "../eventually.ts";
import { expectNoSecrets } from "../secrets.ts";
import { launchChromium } from "./launch-chromium.ts";

/** A temporary home for one test: the agents' folders in it, and the daemon's data. */
export interface Home {
  path: string;
  /** `CLAUDE_CONFIG_DIR` */
  claude: string;
  /** `CODEX_HOME` */
  codex: string;
  data: string;
  remove(): Promise<void>;
}

export async function createHome(): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), "verbatim-browser-"));
  const home = { path, claude: join(path, "claude"), codex: join(path, "codex"), data: join(path, "data") };
  await mkdir(join(home.claude, "projects"), { recursive: true });
  await mkdir(join(home.codex, "sessions"), { recursive: true });
  return { ...home, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface Daemon {
  /** The printed address with its launch link, which works once. */
  launch: string;
  origin: string;
  port: number;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts the real daemon, with the page of the last `vite build`. */
export async function startDaemon(home: Home, args: string[] = []): Promise<Daemon> {
  const named = args.includes("--port");
  const daemon = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      DAEMON_SCRIPT,
      ...(named ? [] : ["--port", "0"]),
      "--data-dir",
      home.data,
      ...args,
    ],
    { env: { ...process.env, HOME: home.path, CLAUDE_CONFIG_DIR: home.claude, CODEX_HOME: home.codex } },
  );
  let output = "";
  const launch = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [address] = /http:\/\/\S+(?=\s)/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    };
    daemon.stdout.on("data", read);
    daemon.stderr.on("data", read);
    daemon.once("exit", (code) => reject(new Error(`The daemon ended with ${code}:\n${output}`)));
  });
  const { origin, port } = new URL(launch);
  return {
    launch,
    origin,
    port: Number(port),
    output: () => output,
    async stop(signal = "SIGTERM") {
      await ended(daemon, signal);
      expectNoSecrets(output, home.data);
    },
  };
}

function ended(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    daemon.once("exit", () => resolve());
    daemon.kill(signal);
  });
}

/**
 * Opens Chromium. `through`: its requests to the daemon's port go to the proxy instead, under the daemon's own address, so that
 * neither side notices.
 */
export function openBrowser(through?: { daemon: Daemon; proxy: CutProxy }): Promise<Browser> {
  return launchChromium(
    through
      ? [`--host-resolver-rules=MAP 127.0.0.1:${through.daemon.port} 127.0.0.1:${through.proxy.port}`]
      : [],
  );
}

/** A page of a browser context, with all its errors and warnings. */
export interface WatchedPage {
  page: Page;
  /** Console errors and warnings, uncaught exceptions and policy violations so far. */
  complaints: string[];
}

/**
 * Opens a page and records every complaint: a test ends with `expect(complaints).toEqual([])`. `expected`: complaints that a test
 * provokes on purpose (a refused connection while the daemon is away).
 */
export async function openPage(context: BrowserContext, expected: RegExp[] = []): Promise<WatchedPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  const complain = (text: string) => {
    if (!expected.some((pattern) => pattern.test(text))) complaints.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complain(`${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  // The launch token is in one address, once, and in no request from there.
  page.on("request", (request) => {
    const { referer } = request.headers();
    if (referer?.includes("token=")) complaints.push(`a token in the Referer of ${request.url()}`);
    if (request.url().includes("token=") && !request.isNavigationRequest())
      complaints.push(`a token in ${request.url()}`);
  });
  page.on("pageerror", (error) => complain(`exception: ${error.stack ?? error.message}`));
  // If a default policy applies, Trusted Types reports without a console line, so ask the page itself.
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy violation: ${event.effectiveDirective} ${event.blockedURI}`);
    });
  });
  return { page, complaints };
}

/** Follows a launch link. Afterwards the context has the daemon's cookie and the page shows the list. */
export function enter(
  context: BrowserContext,
  daemon: Daemon,
  expected: RegExp[] = [],
): Promise<WatchedPage> {
  return enterAt("/", context, daemon, expected);
}

/** Follows a launch link that leads to a path, such as `/session/…`: that page is the only one that loads. */
export async function enterAt(
  path: string,
  context: BrowserContext,
  daemon: Daemon,
  expected: RegExp[] = [],
): Promise<WatchedPage> {
  const watched = await openPage(context, expected);
  await watched.page.goto(path === "/" ? daemon.launch : `${daemon.launch}&next=${encodeURIComponent(path)}`);
  await watched.page.waitForURL((url) => url.pathname + url.search === path);
  return watched;
}

/**
 * Clicks the first of the buttons until the request is gone, or until `opened` is visible. A button ignores a click so soon after
 * it moved, for example when the click itself scrolled it into view.
 */
export async function answerWith(buttons: Locator, opened?: Locator): Promise<void> {
  const button = buttons.first();
  const isDone = () => (opened === undefined ? button.isHidden() : opened.isVisible());
  await button.waitFor();
  await eventually(async () => {
    if (!(await isDone())) await button.click({ timeout: 5_000 });
    if (opened === undefined) await button.waitFor({ state: "detached", timeout: 2_000 });
    else await opened.waitFor({ timeout: 2_000 });
  }, 60_000);
}

/** Console messages of a page whose connection breaks. */
export const BROKEN_CONNECTION = [/WebSocket connection to/, /net::ERR_/, /Failed to load resource/];

/** A proxy between browser and daemon that cuts connections. */
export interface CutProxy {
  port: number;
  /** Cuts every open connection, in the middle of its data. Returns their number. */
  cut(): number;
  /** From now on, new connections are also cut at once, until `heal`. */
  block(): void;
  heal(): void;
  /** From now on, data from the daemon is forwarded at 80 kB per second, as to a slow client, until `hurry`. */
  dawdle(): void;
  hurry(): void;
  /** Number of open connections. */
  open(): number;
  /** Bytes from the daemon to browsers so far. */
  bytes(): number;
  close(): Promise<void>;
}

/** A TCP proxy to the daemon. Browsers use it through `openBrowser`'s `through`. */
export async function cutProxy(daemonPort: number): Promise<CutProxy> {
  /** The daemon's socket for each browser's socket. */
  const open = new Map<Socket, Socket>();
  let blocked = false;
  let dawdling: NodeJS.Timeout | undefined;
  let bytes = 0;
  const server = createServer((client) => {
    if (blocked) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(daemonPort, "127.0.0.1");
    open.set(client, upstream);
    upstream.on("data", (chunk) => {
      bytes += chunk.length;
      if (!client.write(chunk)) upstream.pause();
    });
    client.on("drain", () => {
      if (dawdling === undefined) upstream.resume();
    });
    if (dawdling !== undefined) upstream.pause();
    upstream.on("end", () => client.end());
    client.pipe(upstream);
    const drop = () => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    client.on("close", drop).on("error", drop);
    upstream.on("close", drop).on("error", drop);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    const count = open.size;
    for (const socket of open.keys()) socket.resetAndDestroy();
    return count;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    block() {
      blocked = true;
      cut();
    },
    heal() {
      blocked = false;
    },
    dawdle() {
      for (const upstream of open.values()) upstream.pause();
      dawdling ??= setInterval(() => {
        // The listener above receives the read data.
        for (const upstream of open.values()) upstream.read(Math.min(8_000, upstream.readableLength));
      }, 100);
    },
    hurry() {
      clearInterval(dawdling);
      dawdling = undefined;
      for (const upstream of open.values()) upstream.resume();
    },
    open: () => open.size,
    bytes: () => bytes,
    close: () =>
      new Promise((resolve) => {
        clearInterval(dawdling);
        server.close(() => resolve());
        cut();
      }),
  };
}

/** The content of a page's transcript, headings and rows in order, by their ids, read by scrolling from top to bottom. */
export async function readTranscript(page: Page, label = "Transcript"): Promise<Map<string, string>> {
  const region = page.getByRole("region", { name: label, exact: true });
  const rows = new Map<string, string>();
  await region.evaluate((element) => element.scrollTo(0, 0));
  for (;;) {
    await settled(region);
    for (const [id, text] of await region.evaluate(visibleRows)) rows.set(id, text);
    const more = await region.evaluate((element) => {
      const before = element.scrollTop;
      element.scrollTo(0, before + element.clientHeight * 0.7);
      return element.scrollTop > before + 1;
    });
    if (!more) return rows;
  }
}

/** Waits until everything in view is loaded and laid out. */
export async function settled(region: Locator): Promise<void> {
  await region
    .page()
    .waitForFunction(
      (element) =>
        element instanceof HTMLElement &&
        element.querySelector(".turn-heading") !== null &&
        element.querySelector(".placeholder") === null,
      await region.elementHandle(),
    );
  await region.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

function visibleRows(element: Element): [string, string][] {
  return Array.from(element.querySelectorAll<HTMLElement>("article[id], .turn-heading[id]"), (row) => [
    row.id,
    row.innerText,
  ]);
}
