import { spawn } from "node:child_process";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../model/narrow.ts";
import { requestLink } from "../../auth/control-socket.ts";
import { attempt, UsageError } from "../../usage-error.ts";
import { type Daemon, type Program, RETRY_MS, readProgram, startDaemon } from "../daemon.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { endSignal, print } from "../terminal.ts";
import { safe } from "../terminal-text.ts";

/** The default command: runs the daemon until a signal. `--link` requests a link from the running one. */
export async function start(paths: string[], flags: Flags): Promise<number> {
  if (flags.link) return await printLink(dataDirOf(flags));
  // Register signal handlers first, so that a signal during the start closes the stores.
  const ended = endSignal().then(() => true);
  checkPaths(paths);
  const program = await readProgram(flags);
  let daemon = await startDaemon(paths, flags, program);
  await print(`${daemon.link}\n`);
  daemon.printNewNotices();
  if (flags.open) openBrowser(daemon.link, dataDirOf(flags));
  while (!(await Promise.race([ended, daemon.storable.then(() => false)]))) {
    console.error("The data folder can be used again. Verbatim is restarting.");
    await daemon.close();
    const next = await restart(paths, { ...flags, port: String(daemon.port) }, program, ended);
    if (next === undefined) return 0;
    daemon = next;
    await print(`${daemon.link}\n`);
    daemon.printNewNotices();
  }
  await daemon.close();
  return 0;
}

async function printLink(data_dir: string): Promise<number> {
  const reply = await requestLink(data_dir);
  if (reply === undefined) {
    throw new UsageError(`No daemon uses the data folder ${data_dir}. Start one with \`npm start\`.`);
  }
  return await print(`${reply.link}\n`);
}

function checkPaths(paths: readonly string[]): void {
  for (const path of paths) {
    const stats = attempt(
      () => statSync(path, { throwIfNoEntry: false }),
      `${path}: cannot be read`,
      "Choose a file or folder that you can read.",
    );
    if (!stats)
      throw new UsageError(`${path}: no such command, file or folder. \`--help\` lists all commands.`);
  }
}

/** Retries until a daemon starts. `undefined`: `ended` came first. */
async function restart(
  paths: string[],
  flags: Flags,
  program: Program,
  ended: Promise<unknown>,
): Promise<Daemon | undefined> {
  let is_wanted = true;
  void ended.then(() => {
    is_wanted = false;
  });
  let printed: string | undefined;
  while (is_wanted) {
    try {
      return await startDaemon(paths, flags, program);
    } catch (error) {
      const reason = safe(messageOf(error));
      if (reason !== printed) console.error(`Verbatim cannot restart yet and will try again. ${reason}`);
      printed = reason;
    }
    await Promise.race([ended, sleep(RETRY_MS)]);
  }
  return undefined;
}

/** Opens the link through a file that only the user can read, because process arguments are visible to all users. */
function openBrowser(link: string, data_dir: string): void {
  const failed = () => console.error("No browser could be opened. Open the address above.");
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
