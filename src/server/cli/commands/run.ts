import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { loadAccess } from "../../auth/access.ts";
import { requestLink } from "../../auth/control-socket.ts";
import { UsageError } from "../../usage-error.ts";
import { type Daemon, readProgram, startDaemon } from "../daemon.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { runPrompt } from "../run-prompt.ts";
import { endSignal, fail, print, printLine } from "../terminal.ts";

/** Interval of the check whether all sessions are idle, in milliseconds. */
const IDLE_CHECK_MS = 200;

/** `run`: runs one prompt in the running daemon, or in a temporary one. */
export async function runInTerminal(operands: string[], flags: Flags): Promise<number> {
  const data_dir = dataDirOf(flags);
  const prompt = operands.join(" ").trim();
  if (prompt === "") throw new UsageError('Specify a prompt: run "PROMPT"');
  if (flags.agent !== undefined && flags.provider !== undefined) {
    throw new UsageError("Use either --agent or --provider, not both.");
  }
  const agent = flags.agent ?? flags.provider;
  const stop = new AbortController();
  const ended = endSignal().then(() => stop.abort());
  const running = await requestLink(data_dir);
  const own =
    running === undefined
      ? await startDaemon([], { ...flags, samples: false, port: "0" }, await readProgram(flags))
      : undefined;
  // Turns that an earlier daemon began and this one resumed. The next daemon will resume them again.
  const resumed = new Set(own?.working());
  const isBusy = () => (own?.working() ?? []).some((id) => !resumed.has(id));
  const { link, origin } = running ?? own ?? { link: "", origin: "" };
  own?.printNewNotices();
  const terminal = flags.json ? undefined : openTerminal();
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
      warn: printLine,
      ...(terminal && { ask: terminal.ask }),
      now: () => performance.now(),
      stop: stop.signal,
    }).catch(fail);
    terminal?.close();
    await whileBusy({ own, isBusy, ended, signal: stop.signal });
    return exit_code;
  } finally {
    terminal?.close();
    await own?.close();
  }
}

/** Asks questions in the terminal. `undefined`: input or output is not a terminal. */
function openTerminal() {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  return {
    ask(question: string, signal: AbortSignal): Promise<string> {
      // Discards what was typed before the question was shown.
      terminal.write(null, { ctrl: true, name: "u" });
      return terminal.question(question, { signal });
    },
    close: () => terminal.close(),
  };
}

/** Keeps the temporary daemon running until its other sessions are idle. */
async function whileBusy(options: {
  own: Daemon | undefined;
  isBusy(): boolean;
  ended: Promise<void>;
  signal: AbortSignal;
}): Promise<void> {
  const { own, isBusy, ended, signal } = options;
  own?.printNewNotices();
  if (!isBusy() || signal.aborted) return;
  console.error("Other sessions are still running in this daemon. It ends when they finish, or on Ctrl-C.");
  while (isBusy() && !signal.aborted) await Promise.race([ended, sleep(IDLE_CHECK_MS)]);
  // Lets connected pages receive the end of the last turn.
  await Promise.race([ended, sleep(IDLE_CHECK_MS)]);
}
