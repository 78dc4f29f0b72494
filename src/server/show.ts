import { createReadStream } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import type { Disposition, Format, ReadRecord } from "../formats/format.ts";
import { accumulate, emptyTranscript, type Transcript } from "../model/accumulate.ts";
import { messageOf } from "../model/narrow.ts";
import { turnHead } from "../model/plain-text.ts";
import type { TranscriptPart, Turn } from "../model/transcript.ts";
import { safe, textOf } from "./terminal-text.ts";

interface ShowOptions {
  files: readonly string[];
  formats: readonly Format[];
  /** `text`: for people; `json`: one object per part; `accounting`: what became of the lines of each file. */
  as: "text" | "json" | "accounting";
  write(text: string): Promise<void>;
  /** What went wrong, one line each. */
  warn(text: string): void;
}

/** What became of the lines of a file: the other figures add up to `lines`. */
interface Accounting {
  file: string;
  agent: string;
  /** Lines ended by a newline, and a last one without it. One that holds several records counts as its most visible one. */
  lines: number;
  shown: number;
  folded: number;
  /** By rule. */
  hidden: Record<string, number>;
  unknown: number;
  unreadable: number;
}

const HEAD = 64 * 1024;

/** Prints session files; returns the exit code: 1 when one of them is no session or cannot be read. */
export async function show(options: ShowOptions): Promise<number> {
  let code = 0;
  for (const file of options.files) {
    const problem = await showFile(file, options);
    if (problem === undefined) continue;
    options.warn(problem);
    code = 1;
  }
  return code;
}

/** `undefined`: shown. Otherwise what a person should know. */
async function showFile(file: string, options: ShowOptions): Promise<string | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    return found.code === "ENOENT" ? `${file}: there is no such file.` : `${file}: ${found.message}`;
  }
  if (found.isDirectory()) return `${file}: this is a folder; name a session's file in it.`;
  if (!found.isFile()) return `${file}: this is no regular file.`;
  const compressed = file.endsWith(".zst");
  try {
    const head = await readHead(file, compressed);
    const format =
      head.length > 0
        ? options.formats.find((candidate) => candidate.detect(head))
        : options.formats.find((candidate) => isPathOf(candidate, file));
    if (!format && head.length === 0) return `${file}: the file is empty, so it is no session.`;
    if (!format) {
      const names = options.formats.map(({ name }) => name).join(", ");
      return `${file}: this is no session of an agent that Verbatim reads (${names}).`;
    }
    await showSession(file, format, chunksOf(file, compressed), options);
    return undefined;
  } catch (error) {
    return `${file}: it cannot be read: ${messageOf(error)}`;
  }
}

/** Whether the agent would keep a session at this path: only so is an empty file one, in which nothing stands yet. */
function isPathOf(format: Format, file: string): boolean {
  const segments = resolve(file).replaceAll("\\", "/").split("/");
  return format.root.folders.some((folder) => {
    const at = segments.lastIndexOf(folder);
    return at >= 0 && format.classify(segments.slice(at).join("/")) !== undefined;
  });
}

function chunksOf(file: string, compressed: boolean): AsyncIterable<Uint8Array> {
  const bytes = createReadStream(file, { highWaterMark: 256 * 1024 });
  return compressed ? Readable.from(bytes).compose(createZstdDecompress()) : bytes;
}

async function readHead(file: string, compressed: boolean): Promise<Uint8Array> {
  if (!compressed) {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(HEAD), position: 0 });
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunksOf(file, true)) {
    pieces.push(chunk);
    length += chunk.length;
    if (length >= HEAD) break;
  }
  return Buffer.concat(pieces).subarray(0, HEAD);
}

async function showSession(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  { as, write }: ShowOptions,
): Promise<void> {
  const reader = format.createReader({ path: file });
  const transcripts = new Map<string, Transcript>();
  const lines = new Map<number, Disposition>();
  const take = (records: ReadRecord[], counted: boolean) => {
    for (const record of records) {
      if (counted) noteLine(lines, record);
      for (const frame of record.frames) {
        const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
        transcripts.set(frame.session_id, accumulate(before, frame));
      }
    }
  };
  for await (const chunk of chunks) take(reader.push(chunk), true);
  take(reader.close(), true);
  const side = await readSide(file, format);
  if (side !== undefined) take(reader.readSide(side), false);

  if (as === "accounting") {
    return await write(`${safe(JSON.stringify(accountFor(file, format.id, lines.values())))}\n`);
  }
  for (const transcript of transcripts.values()) {
    if (as === "json") await writeJson(transcript, write);
    else await writeText(transcript, { file, agent: format.name, write });
  }
}

/** A small file beside the session's that says more about it. It may be missing. */
async function readSide(file: string, format: Format): Promise<string | undefined> {
  const side = format.classify(resolve(file).replaceAll("\\", "/"))?.side;
  if (side === undefined) return undefined;
  return await readFile(resolve(dirname(file), basename(side)), "utf8").catch(() => undefined);
}

/** A line of which a piece is lost must be seen in the figures; otherwise the most visible of its records counts. */
const RANK: readonly Disposition["kind"][] = ["unreadable", "shown", "unknown", "folded", "hidden"];

function noteLine(lines: Map<number, Disposition>, { place, disposition }: ReadRecord): void {
  const before = lines.get(place.line);
  // What a reader concludes at the end of a file stands in no line of it: its place is empty, its line was noted before.
  if (before !== undefined && place.length === 0) return;
  if (before === undefined || RANK.indexOf(disposition.kind) < RANK.indexOf(before.kind)) {
    lines.set(place.line, disposition);
  }
}

function accountFor(file: string, agent: string, lines: Iterable<Disposition>): Accounting {
  const accounting: Accounting = {
    file,
    agent,
    lines: 0,
    shown: 0,
    folded: 0,
    hidden: {},
    unknown: 0,
    unreadable: 0,
  };
  for (const disposition of lines) {
    accounting.lines++;
    switch (disposition.kind) {
      case "shown":
      case "folded":
      case "unknown":
      case "unreadable":
        accounting[disposition.kind]++;
        break;
      case "hidden":
        accounting.hidden[disposition.rule] = (accounting.hidden[disposition.rule] ?? 0) + 1;
        break;
      default:
        disposition satisfies never;
    }
  }
  return accounting;
}

type Role = "user" | "assistant" | "tool" | "system";

/** Who a part comes from. */
function roleOf(part: TranscriptPart): Role {
  switch (part.type) {
    case "prompt":
      return "user";
    case "thinking":
    case "text":
    case "tool_call":
    case "image":
    case "file":
    case "step_start":
    case "step_finish":
      return "assistant";
    case "tool_result":
      return "tool";
    case "marker":
    case "request":
    case "unknown":
      return "system";
    case "legacy":
      return part.role;
    default:
      return part satisfies never;
  }
}

/** Every part with its turn, in order. */
function* partsOf(
  transcript: Transcript,
): Generator<{ index: number; turn: Turn | undefined; part: TranscriptPart }> {
  const turns = [...transcript.turns].filter((turn) => turn !== undefined);
  let at = 0;
  let index = 0;
  for (const part of transcript.parts) {
    while (turns[at + 1] !== undefined && (turns[at + 1]?.first_part ?? 0) <= index) at++;
    const turn = turns[at];
    if (part) yield { index, turn: turn && turn.first_part <= index ? turn : undefined, part };
    index++;
  }
}

async function writeJson(transcript: Transcript, write: ShowOptions["write"]): Promise<void> {
  for (const { index, turn, part } of partsOf(transcript)) {
    const { session_id, source, ...fields } = part;
    const place = source && { file: source.file, line: source.line, byte: source.byte };
    // A part is withdrawn with its turn; a reader of lines has no other word on turns.
    const withdrawn = turn?.retracted === undefined ? {} : { retracted: turn.retracted };
    const head = { session_id, turn: turn?.index ?? 0, index, role: roleOf(part) };
    const line = { ...head, ...withdrawn, ...fields, source: place };
    await write(`${safe(JSON.stringify(line))}\n`);
  }
}

async function writeText(
  transcript: Transcript,
  { file, agent, write }: { file: string; agent: string; write: ShowOptions["write"] },
): Promise<void> {
  await write(`${safe(`${agent} session ${transcript.session_id}\n${file}`)}\n`);
  let shown: Turn | undefined;
  for (const { turn, part } of partsOf(transcript)) {
    if (turn !== shown && turn) {
      shown = turn;
      await write(safe(`\n${turnHead(turn)}\n`));
    }
    const text = textOf(part, transcript);
    if (text !== undefined) await write(`\n${safe(text)}\n`);
  }
  await write("\n");
}
