import type { CodedText } from "../../../model/text/catalog.ts";
import { CodedError, titleOfError } from "../../../model/text/coded-error.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../../model/text/display-text.ts";
import type { Format } from "../../../sources/contract.ts";
import { createDecoder, isCompressed } from "../../files/follow.ts";
import type { GivenFile } from "../../sessions/opened-files.ts";
import { HUGE_FILE_BYTES, sizeText } from "../large-files/segments.ts";
import { givenStore, recordLogs } from "./given-store.ts";

/** A session file of a known format. */
export interface RecognizedFile {
  format: Format;
  kind: "session" | "run";
  path: string;
  bytes: Uint8Array;
  modified_at: number;
  /** The side file. */
  side?: { path: string; text: string };
}

export interface Recognized {
  files: RecognizedFile[];
  /** Session files that cannot be read. */
  problems: { path: string; text: DisplayText }[];
}

const HEAD = 64 * 1024;
const SQLITE = "SQLite format 3\0";

/** Finds the session files among the opened files by their content, as the command line does for files and folders. */
export async function recognizeFiles(
  given: ReadonlyMap<string, GivenFile>,
  formats: readonly Format[],
): Promise<Recognized> {
  const found: Recognized = { files: [], problems: [] };
  const is_single = given.size === 1;
  const taken = takeStores(given, formats, found);
  for (const file of given.values()) {
    if (taken.has(file.path)) continue;
    if (startsWith(file.bytes, SQLITE)) {
      const text = daemonText("database_not_opened");
      found.problems.push({ path: file.path, text });
      continue;
    }
    const expected = formats.filter((format) => format.classify(file.path) !== undefined);
    if (!is_single && expected.length === 0 && !/\.jsonl(\.zst)?$/.test(file.path)) continue;
    try {
      const head = await headOf(file);
      const format = [...expected, ...formats].find((candidate) => candidate.detect(head));
      if (format === undefined) continue;
      if (file.bytes.length > HUGE_FILE_BYTES) throw new CodedError(tooLong(file.path));
      const place = format.classify(file.path);
      const replacing = place?.replaced_by === undefined ? undefined : given.get(place.replaced_by);
      if (replacing !== undefined && replacing.bytes.length > 0) continue;
      const side = place?.side === undefined ? undefined : given.get(place.side);
      found.files.push({
        ...file,
        format,
        kind: place?.kind ?? "session",
        ...(side && { side: { path: side.path, text: new TextDecoder().decode(side.bytes) } }),
      });
    } catch (error) {
      found.problems.push({ path: file.path, text: titleOfError(error) });
    }
  }
  return found;
}

const tooLong = (path: string): CodedText =>
  daemonText("file_too_large", { limit: sizeText(HUGE_FILE_BYTES), name: path.split("/").at(-1) ?? "" });

/** Finds documents and folders of documents that an agent rewrites. Returns the paths of the files that belong to them. */
function takeStores(
  given: ReadonlyMap<string, GivenFile>,
  formats: readonly Format[],
  found: Recognized,
): Set<string> {
  const taken = new Set<string>();
  const with_stores = formats.filter(({ snapshots }) => snapshots !== undefined);
  for (const { path, named } of storeCandidates(given, with_stores)) {
    const own = given.has(path) ? [path] : [...given.keys()].filter((file) => file.startsWith(`${path}/`));
    if (own.some((file) => taken.has(file))) continue;
    const size = own.reduce((sum, file) => sum + (given.get(file)?.bytes.length ?? 0), 0);
    if (own.length === 1 && size > HUGE_FILE_BYTES) {
      taken.add(path);
      found.problems.push({ path, text: tooLong(path) });
      continue;
    }
    const store = givenStore(path, given);
    const format = [...named, ...with_stores].find(({ snapshots }) => {
      try {
        return snapshots?.recognizes(store) ?? false;
      } catch {
        // It may be another agent's store: each format checks for its own content.
        return false;
      }
    });
    if (format?.snapshots === undefined) continue;
    for (const file of own) taken.add(file);
    try {
      if (size > HUGE_FILE_BYTES) throw new CodedError(tooLong(path));
      for (const log of recordLogs(format.id, format.snapshots, store))
        found.files.push({ ...log, format, kind: "session" });
    } catch (error) {
      found.problems.push({ path, text: titleOfError(error) });
    }
  }
  return taken;
}

/** Possible locations of stores: opened folders and those that a format names, then single documents. */
function* storeCandidates(
  given: ReadonlyMap<string, GivenFile>,
  formats: readonly Format[],
): Generator<{ path: string; named: Format[] }> {
  const stores = new Map<string, Format[]>();
  const add = (path: string, format?: Format) => {
    const named = stores.get(path) ?? [];
    if (format && !named.includes(format)) named.push(format);
    stores.set(path, named);
  };
  for (const path of given.keys()) if (path.includes("/")) add(path.split("/", 1)[0] ?? path);
  for (const [path, { bytes }] of given) {
    for (const format of formats) {
      const store = format.snapshots?.storeOf(path);
      if (store !== undefined) add(store, format);
    }
    const isLog = path.endsWith(".jsonl") && formats.some(({ detect }) => detect(bytes.subarray(0, HEAD)));
    if (path.endsWith(".json") || isLog) add(path);
  }
  for (const [path, named] of stores) if (!given.has(path)) yield { path, named };
  for (const [path, named] of stores) if (given.has(path)) yield { path, named };
}

async function headOf({ path, bytes }: GivenFile): Promise<Uint8Array> {
  if (!isCompressed(path)) return bytes.subarray(0, HEAD);
  const pieces: Uint8Array[] = [];
  let length = 0;
  const decoder = createDecoder(path, (piece) => {
    pieces.push(Uint8Array.from(piece));
    length += piece.length;
    if (length >= HEAD) decoder.stop();
  });
  for (let at = 0; at < bytes.length && length < HEAD; at += HEAD)
    await decoder.write(bytes.subarray(at, at + HEAD));
  if (length < HEAD) await decoder.end();
  return Buffer.concat(pieces).subarray(0, HEAD);
}

const startsWith = (bytes: Uint8Array, text: string): boolean =>
  new TextDecoder("latin1").decode(bytes.subarray(0, text.length)) === text;
