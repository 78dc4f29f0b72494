import { createWriteStream, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { formats } from "../../../sources/index.ts";
import { UsageError } from "../../usage-error.ts";
import type { Flags } from "../flags.ts";
import { show } from "../show-files.ts";
import { print, printLine } from "../terminal.ts";

/** `show`: prints session files as text, JSON or accounting. */
export async function showFiles(files: string[], flags: Flags): Promise<number> {
  if (files.length === 0) throw new UsageError("Specify a session file: show FILE");
  const input = files.includes("-") ? await readInput() : undefined;
  return await showAll(
    files.map((file) => (file === "-" && input !== undefined ? input : file)),
    flags,
  );
}

/**
 * Copies standard input to a temporary file, because its format is recognized by its beginning and it may be one document. Returns
 * the file's path. It is removed when the process exits, also if the reader of its output closes the pipe.
 */
async function readInput(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-show-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "standard-input.json");
  await pipeline(process.stdin, createWriteStream(file));
  return file;
}

async function showAll(files: readonly string[], flags: Flags): Promise<number> {
  return await show({
    files,
    formats,
    as: flags.accounting
      ? "accounting"
      : flags.changes !== undefined
        ? "changes"
        : flags.context !== undefined
          ? "context"
          : flags.json
            ? "json"
            : "text",
    ...(flags.context !== undefined && { step: readNumber("--context", "step", flags.context) }),
    ...(flags.changes !== undefined && { turn: readNumber("--changes", "turn", flags.changes) }),
    json: flags.json === true,
    ...(flags.session !== undefined && { session: flags.session }),
    write: async (text) => {
      await print(text);
    },
    warn: printLine,
  });
}

/** The value of an option that takes the number of a step or turn. */
function readNumber(option: string, what: string, text: string): number | "all" {
  if (text === "all") return text;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`${option} takes the number of a ${what}, from 1, or all.`);
  return Number(text);
}
