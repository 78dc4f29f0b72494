import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isUuid } from "../../../model/is-uuid.ts";
import { asText, messageOf } from "../../../model/narrow.ts";
import { formats } from "../../../sources/index.ts";
import { parseObject } from "../../../sources/lines/parse-object.ts";
import { ingestToken, loadAccess } from "../../auth/access.ts";
import { requestLink } from "../../auth/control-socket.ts";
import { POSTED_AGENTS } from "../../posted/posted-files.ts";
import { UsageError } from "../../usage-error.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { RunError } from "../run-prompt.ts";
import { print, printLine } from "../terminal.ts";

/** Lines that arrive within this time are sent together. Milliseconds. */
const BATCH_MS = 100;
/** Maximum characters of a batch, far below the daemon's limit. */
const MAX_BATCH = 8 * 1024 * 1024;
/** Lines after which the format must be known. */
const MAX_UNKNOWN = 20;
/** Time during which a failed batch is sent again, in milliseconds. The daemon may be restarting. */
const RETRY_FOR_MS = 30_000;
const RETRY_MS = 500;

const errorReply = z.object({ error: z.object({ message: z.string() }) });
const counts = z.object({ records: z.number() });

/**
 * `pipe`: sends the JSON lines of standard input to the running daemon, which shows them live as a session, and prints them again.
 * The exit code is 0 if all lines were stored.
 */
export async function pipeSession(operands: string[], flags: Flags): Promise<number> {
  if (operands.length > 0) throw new UsageError("pipe reads standard input: PROGRAM | npm start -- pipe");
  const data_dir = dataDirOf(flags);
  const daemon = await requestLink(data_dir);
  if (daemon === undefined)
    throw new UsageError(`No daemon uses the data folder ${data_dir}. Start one with \`npm start\`.`);
  const token = ingestToken(loadAccess(data_dir));
  const sender = createSender({ origin: daemon.origin, token, agent: flags.agent });
  // Ctrl-C also ends the program, and with it the input, whose last lines must not be lost.
  process.once("SIGINT", () => {});
  const input = createInterface({ input: process.stdin, crlfDelay: Infinity });
  let sending: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let failure: unknown;
  const send = (): void => {
    timer = undefined;
    sending = sending
      .then(() => sender.send())
      .catch((error: unknown) => {
        failure ??= error;
        input.close();
      });
  };
  printLine(`Live in the browser: ${daemon.link}`);
  input.on("line", (line) => {
    if (!process.stdout.write(`${line}\n`)) input.pause();
    sender.add(line);
    timer ??= setTimeout(send, BATCH_MS);
  });
  process.stdout.on("drain", () => input.resume());
  await once(input, "close");
  clearTimeout(timer);
  await sending;
  if (failure !== undefined) throw failure;
  await sender.finish();
  return await print("");
}

/** Posts lines as a session file of the agent that they are recognized as. */
function createSender({
  origin,
  token,
  agent,
}: {
  origin: string;
  token: string;
  agent: string | undefined;
}) {
  const waiting: string[] = [];
  let file: { agent: string; path: string } | undefined;
  /** Number of records in the file. */
  let records = 0;

  async function send(): Promise<void> {
    file ??= fileOf(waiting, agent);
    while (file !== undefined && waiting.length > 0) {
      const batch = nextBatch(waiting);
      records = await post(file, batch);
      waiting.splice(0, batch.length);
    }
    if (waiting.length > MAX_UNKNOWN) throw new RunError(unknownText());
  }

  /** Returns the number of records in the file. */
  async function post(to: { agent: string; path: string }, lines: readonly string[]): Promise<number> {
    const url = new URL("/api/ingest/files", origin);
    for (const [name, value] of Object.entries({ ...to, from: String(records) }))
      url.searchParams.set(name, value);
    const init = {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: `${lines.join("\n")}\n`,
    };
    const until = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const reply = await fetch(url, init).catch(messageOf);
      if (typeof reply !== "string") {
        const body: unknown = await reply.json().catch(() => undefined);
        if (reply.ok) return counts.parse(body).records;
        const refused = errorReply.safeParse(body);
        const reason = refused.success ? refused.data.error.message : `status ${reply.status}`;
        if (reply.status < 500) throw new RunError(`The daemon refused the lines: ${reason}`);
      }
      if (performance.now() > until) throw new RunError(`The daemon at ${origin} does not answer.`);
      await sleep(RETRY_MS);
    }
  }

  return {
    /** Adds a line. Lines that are not JSON objects, such as messages of the program, are left out. */
    add(line: string): void {
      if (parseObject(line) !== undefined) waiting.push(line);
    },
    send,
    /** Sends the rest. Throws if the lines were not recognized. */
    async finish(): Promise<void> {
      await send();
      if (waiting.length > 0) throw new RunError(unknownText());
    },
  };
}

function nextBatch(lines: readonly string[]): string[] {
  let size = 0;
  const end = lines.findIndex((line) => {
    size += line.length;
    return size > MAX_BATCH;
  });
  return lines.slice(0, end === -1 ? undefined : Math.max(1, end));
}

/** The file that lines are posted to; `undefined`: too few lines to recognize their format. */
function fileOf(
  lines: readonly string[],
  agent: string | undefined,
): { agent: string; path: string } | undefined {
  const known = agent ?? recognize(lines);
  if (known === undefined) return undefined;
  // Claude Code's files are named after their session.
  const [named] = lines.flatMap((line) => asText(parseObject(line)?.session_id) ?? []);
  const name = named !== undefined && isUuid(named) ? named : crypto.randomUUID();
  return { agent: known, path: `pipe/${name}.jsonl` };
}

function recognize(lines: readonly string[]): string | undefined {
  const head = new TextEncoder().encode(`${lines.join("\n")}\n`);
  return formats.find(({ id, detect }) => id in POSTED_AGENTS && detect(head))?.id;
}

const unknownText = (): string =>
  `Standard input is no session of ${Object.keys(POSTED_AGENTS).join(", ")}. Name one of them with --agent.`;
