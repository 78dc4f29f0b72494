import { createReadStream } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import type { Frame } from "../../model/frames/frame.ts";
import { messageOf } from "../../model/narrow.ts";
import { authorOf } from "../../model/parts/part-kinds.ts";
import { turnHead } from "../../model/parts/plain-text.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import type { Source, TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { Disposition, Format, ReadRecord } from "../../sources/contract.ts";
import { type ExportFormat, exportSession, isExportFormat } from "../sessions/export.ts";
import { changesOf } from "./show-changes.ts";
import { contextsOf } from "./show-context.ts";
import { readStoredSessions } from "./stored-sessions.ts";
import { safe, textOf } from "./terminal-text.ts";

interface ShowOptions {
  files: readonly string[];
  formats: readonly Format[];
  /**
   * `text`: for people; `json`: one object per part; `accounting`: the dispositions of each file's lines; `context`: the model's
   * input, one object per step; `changes`: the changes of a turn or of all turns; `jsonl`, `md`: an export.
   */
  as: "text" | "json" | "accounting" | "context" | "changes" | ExportFormat;
  /** With `context`: the step to print, or all. */
  step?: number | "all";
  /** With `changes`: the turn to print, or all together. */
  turn?: number | "all";
  /** With `changes`: as JSON. */
  json?: boolean;
  /** The session to show from a store with several sessions, by the agent's id. */
  session?: string;
  write(text: string): Promise<void>;
  /** Prints an error, one per line. */
  warn(text: string): void;
}

/** How the lines of a file were read. The other figures add up to `lines`. */
interface Accounting {
  file: string;
  /** The session of a store. Its lines are then records, one per revision, and the log's header. */
  session?: string;
  agent: string;
  /** Number of lines, including a last one without a newline. A line with several records counts as the most visible one. */
  lines: number;
  shown: number;
  folded: number;
  /** By rule. */
  hidden: Record<string, number>;
  unknown: number;
  unreadable: number;
}

const HEAD = 64 * 1024;

/** Prints session files and returns the exit code: 1 if a file is not a session or cannot be read. */
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

/** Returns a message for the user, or `undefined` if the file was shown. */
async function showFile(file: string, options: ShowOptions): Promise<string | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    return found.code === "ENOENT" ? `${file}: no such file.` : `${file}: ${found.message}`;
  }
  if (found.isDirectory()) {
    const problem = await showStore(file, undefined, options).catch((error: unknown) => messageOf(error));
    if (problem === "none") return `${file}: this is a folder. Specify a session file in it.`;
    return problem === undefined ? undefined : `${file}: ${problem}`;
  }
  if (!found.isFile()) return `${file}: not a regular file.`;
  const compressed = file.endsWith(".zst");
  try {
    const head = await readHead(file, compressed);
    const problem = await showStore(file, head, options);
    if (problem !== "none") return problem === undefined ? undefined : `${file}: ${problem}`;
    const format =
      head.length > 0
        ? options.formats.find((candidate) => candidate.detect(head))
        : options.formats.find((candidate) => isPathOf(candidate, file));
    if (!format && head.length === 0) return `${file}: the file is empty.`;
    if (!format) {
      const names = options.formats.map(({ name }) => name).join(", ");
      return `${file}: not a session of a supported agent (${names}).`;
    }
    const chunks = chunksOf(file, compressed);
    if (options.as === "context") return await showContexts(file, format, chunks, options);
    return (await showSession(file, format, chunks, options)) ? undefined : `${file}: ${noTurn(options)}`;
  } catch (error) {
    return `${file}: cannot be read: ${messageOf(error)}`;
  }
}

/** Shows the content of a store with several sessions. `none`: it is not a store. Other results are messages for the user. */
async function showStore(
  file: string,
  head: Uint8Array | undefined,
  options: ShowOptions,
): Promise<string | undefined> {
  const stored = await readStoredSessions(file, head, options.formats);
  if (stored === undefined) return "none";
  const { format, sessions } = stored;
  try {
    const wanted = options.session;
    const shown = wanted === undefined ? sessions : sessions.filter(({ name }) => name === wanted);
    if (wanted !== undefined && shown.length === 0)
      return `it has no session ${wanted}. Omit --session to list its sessions.`;
    if (shown.length === 0) return "it has no sessions.";
    if (options.as === "text" && shown.length > 1) {
      await options.write(
        `${safe(`${format.name}: ${shown.length} sessions in ${file}; --session ID shows one`)}\n`,
      );
      for (const { name, log } of shown) {
        const title = await titleOf(log, format);
        await options.write(`${safe(title === undefined ? name : `${name}  ${title}`)}\n`);
      }
      return undefined;
    }
    for (const { name, log } of shown) {
      if (options.as !== "context") {
        const store = { file, session: name };
        if (!(await showSession(log, format, chunksOf(log, false), options, store)))
          return `session ${name}: ${noTurn(options)}`;
      } else if ((await showContexts(log, format, chunksOf(log, false), options)) !== undefined)
        return `session ${name} has no step ${options.step}.`;
    }
    return undefined;
  } finally {
    stored.dispose();
  }
}

/** A session's title, or the first line of its first prompt. */
async function titleOf(log: string, format: Format): Promise<string | undefined> {
  const { title, transcripts } = await readSession(log, format, chunksOf(log, false));
  const [transcript] = transcripts.values();
  return title ?? transcript?.turns.at(0)?.title;
}

/** Whether the agent would store a session at this path. Only then an empty file is a session without content. */
function isPathOf(format: Format, file: string): boolean {
  const segments = resolve(file).replaceAll("\\", "/").split("/");
  return (format.root?.folders ?? []).some((folder) => {
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

async function showContexts(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  { step = "all", write }: ShowOptions,
): Promise<string | undefined> {
  let found = 0;
  for await (const context of contextsOf(file, format, chunks)) {
    if (step !== "all" && context.step !== step) continue;
    found += 1;
    await write(`${safe(JSON.stringify(context))}\n`);
  }
  return found > 0 || step === "all" ? undefined : `${file}: it has no step ${step}.`;
}

/** The result of reading a file: its transcripts by session, its title, and the dispositions of its lines. */
interface ReadSession {
  transcripts: Map<string, Transcript>;
  title: string | undefined;
  lines: Map<number, Disposition>;
}

/** The records of a file and its side file, in order. `counted`: they come from the file's own lines. */
async function* recordsOf(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ records: ReadRecord[]; counted: boolean }> {
  const reader = format.createReader({ path: file });
  for await (const chunk of chunks) yield { records: reader.push(chunk), counted: true };
  yield { records: reader.close(), counted: true };
  const side = await readSide(file, format);
  if (side !== undefined) yield { records: reader.readSide(side), counted: false };
}

async function readSession(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
): Promise<ReadSession> {
  const read: ReadSession = { transcripts: new Map(), title: undefined, lines: new Map() };
  const { transcripts } = read;
  const take = (records: ReadRecord[], counted: boolean) => {
    for (const record of records) {
      if (counted) noteLine(read.lines, record);
      for (const frame of record.frames) {
        const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
        transcripts.set(frame.session_id, accumulate(before, frame));
        if (frame.type === "session.update") read.title = frame.patch.title ?? read.title;
      }
    }
  };
  for await (const { records, counted } of recordsOf(file, format, chunks)) take(records, counted);
  return read;
}

/** Writes every session of a file as an export. */
async function exportFile(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  as: ExportFormat,
  write: ShowOptions["write"],
): Promise<void> {
  const frames = new Map<string, Frame[]>();
  const titles = new Map<string, string>();
  for await (const { records } of recordsOf(file, format, chunks)) {
    for (const frame of records.flatMap((record) => record.frames)) {
      if (frame.type === "session.update" && frame.patch.title !== undefined)
        titles.set(frame.session_id, frame.patch.title);
      const own = frames.get(frame.session_id);
      if (own) own.push(frame);
      else frames.set(frame.session_id, [frame]);
    }
  }
  for (const [id, own] of frames) {
    const title = titles.get(id);
    const session = { id, agent: format.id, ...(title !== undefined && { title }) };
    for await (const text of exportSession(session, Readable.from([own]), as)) await write(text);
  }
}

const noTurn = ({ turn }: ShowOptions): string => `it has no turn ${turn}.`;

/**
 * Returns `false` if no session of the file has the turn `turn`. `store`: the session's store, if `file` is a log made from it.
 */
async function showSession(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  { as, turn = "all", json = false, write }: ShowOptions,
  store?: { file: string; session: string },
): Promise<boolean> {
  if (isExportFormat(as)) {
    await exportFile(file, format, chunks, as, write);
    return true;
  }
  const { transcripts, lines } = await readSession(file, format, chunks);
  const shown = store ?? { file };
  if (as === "accounting") {
    await write(`${safe(JSON.stringify(countDispositions(shown, format.id, lines.values())))}\n`);
    return true;
  }
  let found = as !== "changes" || turn === "all";
  for (const transcript of transcripts.values()) {
    if (as === "json") await writeJson(transcript, write);
    else if (as === "changes") {
      const changes = changesOf(transcript, turn, json);
      if (changes === undefined) continue;
      found = true;
      await write(`${safe(changes)}\n`);
    } else await writeText(transcript, { file: shown.file, agent: format.name, write });
  }
  return found;
}

/** Reads the side file of a session, if there is one. */
async function readSide(file: string, format: Format): Promise<string | undefined> {
  const side = format.classify(resolve(file).replaceAll("\\", "/"))?.side;
  if (side === undefined) return undefined;
  return await readFile(resolve(dirname(file), basename(side)), "utf8").catch(() => undefined);
}

/** A damaged line always counts as unreadable. Otherwise the most visible of its records counts. */
const RANK: readonly Disposition["kind"][] = ["unreadable", "shown", "unknown", "folded", "hidden"];

function noteLine(lines: Map<number, Disposition>, { place, disposition }: ReadRecord): void {
  const before = lines.get(place.line);
  // A reader's conclusions at the end of a file have an empty place, and their line was already counted.
  if (before !== undefined && place.length === 0) return;
  if (before === undefined || RANK.indexOf(disposition.kind) < RANK.indexOf(before.kind)) {
    lines.set(place.line, disposition);
  }
}

function countDispositions(
  shown: { file: string; session?: string },
  agent: string,
  lines: Iterable<Disposition>,
): Accounting {
  const accounting: Accounting = {
    ...shown,
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

/** All parts with their turns, in order. */
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
    const place = source && placeOf(source);
    // Parts of a retracted turn are marked, because the output has no other information about turns.
    const withdrawn = turn?.retracted === undefined ? {} : { retracted: turn.retracted };
    const head = { session_id, turn: turn?.index ?? 0, index, role: authorOf(part) };
    const line = { ...head, ...withdrawn, ...fields, source: place };
    await write(`${safe(JSON.stringify(line))}\n`);
  }
}

/** The place of a record, without the path of Verbatim's own copy. */
function placeOf(source: Source) {
  if (source.kind === undefined) return { file: source.file, line: source.line, byte: source.byte };
  const { logged: _, ...place } = source;
  return place;
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
