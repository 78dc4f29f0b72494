import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import type { TerminalPlace } from "../../model/session.ts";

/** Time after which a place is looked up again, because tmux panes can be moved. Milliseconds. */
const VALID_MS = 10_000;
/** Timeout of calls to tmux, in milliseconds. */
const TMUX_MS = 2_000;
const MAX_PLACES = 200;

/** Finds the terminals of processes from Linux's `/proc`. On other systems only the process id is known. */
export interface TerminalPlaces {
  find(pid: number): Promise<TerminalPlace>;
  /** The cached place. `undefined`: it is being looked up. */
  known(pid: number): TerminalPlace | undefined;
}

export function createTerminalPlaces(now: () => number = Date.now): TerminalPlaces {
  const places = new Map<number, { at: number; found: Promise<TerminalPlace>; place?: TerminalPlace }>();

  function lookUp(pid: number) {
    const before = places.get(pid);
    if (before && now() - before.at < VALID_MS) return before;
    const entry: { at: number; found: Promise<TerminalPlace>; place?: TerminalPlace } = {
      at: now(),
      found: placeOf(pid),
      // Use the last known place until the lookup is done.
      ...(before?.place && { place: before.place }),
    };
    void entry.found.then((place) => {
      entry.place = place;
    });
    places.delete(pid);
    places.set(pid, entry);
    const [oldest] = places.keys();
    if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
    return entry;
  }
  return {
    find: (pid) => lookUp(pid).found,
    known: (pid) => lookUp(pid).place,
  };
}

async function placeOf(pid: number): Promise<TerminalPlace> {
  const [environment, tty] = await Promise.all([environmentOf(pid), ttyOf(pid)]);
  const tmux = await paneOf(environment);
  const program = environment.get("TERM_PROGRAM");
  return {
    pid,
    ...(tty !== undefined && { tty }),
    ...(tmux !== undefined && { tmux }),
    // tmux sets it to its own name.
    ...(program !== undefined && program !== "tmux" && { program }),
  };
}

/** The environment that the process was started with. Empty if the system does not reveal it. */
async function environmentOf(pid: number): Promise<Map<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return new Map(
    text.split("\0").flatMap((line): [string, string][] => {
      const at = line.indexOf("=");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

/** Name of the terminal device, such as `pts/3`. */
async function ttyOf(pid: number): Promise<string | undefined> {
  for (const stream of [0, 1, 2]) {
    const target = await readlink(`/proc/${pid}/fd/${stream}`).catch(() => "");
    const [, name] = /^\/dev\/((?:pts\/|tty)\w+)$/.exec(target) ?? [];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The tmux pane in which the process was started, as `session:window.pane`. `undefined`: none, or tmux does not answer. */
async function paneOf(environment: ReadonlyMap<string, string>): Promise<string | undefined> {
  const [socket = ""] = environment.get("TMUX")?.split(",") ?? [];
  const pane = environment.get("TMUX_PANE") ?? "";
  if (!socket.startsWith("/") || !/^%\d+$/.test(pane)) return undefined;
  const format = "#{session_name}:#{window_index}.#{pane_index}";
  return await new Promise((resolve) => {
    execFile(
      "tmux",
      ["-S", socket, "display-message", "-p", "-t", pane, format],
      { timeout: TMUX_MS },
      (error, output) => resolve(error ? undefined : output.trim() || undefined),
    );
  });
}
