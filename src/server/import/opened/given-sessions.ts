import { setImmediate } from "node:timers/promises";
import type { Frame } from "../../../model/frames/frame.ts";
import { OPENED_MARK } from "../../../model/opened-session.ts";
import { keptOutputOf, OUTPUT_PIECE } from "../../../model/parts/kept-output.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import type { Source, TranscriptPart } from "../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { uuidFrom } from "../../../model/uuid.ts";
import type { Format, Reader, ReadRecord } from "../../../sources/contract.ts";
import type { FileContent } from "../../files/file-content.ts";
import { readAttachment, readRecord } from "../../files/raw-records.ts";
import { createFrameBuffer } from "../../sessions/frame-buffer.ts";
import type { GivenFile } from "../../sessions/opened-files.ts";
import { fieldsOf } from "../../sessions/row.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import { createLinks } from "../links.ts";
import { loggedRequests } from "../logged-requests.ts";
import { outputFileOf } from "../output-file.ts";
import { createReading, type Reading } from "../reading.ts";
import { createRunMarkers } from "../run-markers.ts";
import { type IndexedSession, newSessionFile, type SessionFile } from "../session-file.ts";
import { sessionFrames } from "../session-frames.ts";
import { createStatus } from "../status.ts";
import type { RecognizedFile } from "./recognize-files.ts";

/** The sessions of files that were opened together. */
export interface GivenSessions {
  readonly rows: ReadonlyMap<string, SessionSummary>;
  /** Folds a session. */
  transcriptOf(id: string): Promise<Transcript | undefined>;
  frames: Sessions["frames"];
  loggedRequests: NonNullable<Sessions["loggedRequests"]>;
  /** The raw record of a part of an open transcript. */
  raw(id: string, transcript: Transcript, part_id: string): ReturnType<Sessions["raw"]>;
  attachment(
    transcript: Transcript,
    id: string,
    part_id: string,
    n: number,
  ): ReturnType<Sessions["attachment"]>;
  output(transcript: Transcript, id: string, part_id: string, from: number): ReturnType<Sessions["output"]>;
}

/** Bytes read before other work can run. */
const BLOCK = 256 * 1024;

/** The id of a session that is open but not stored. It cannot be guessed without the secret. */
const openedSessionId = (secret: string, name: string): string =>
  OPENED_MARK + uuidFrom(secret, name).slice(OPENED_MARK.length);

/** Reads all files once, for their rows. `secret`: a UUID from which the ids of their sessions are derived. */
export async function readGivenSessions(
  files: readonly RecognizedFile[],
  given: ReadonlyMap<string, GivenFile>,
  formats: readonly Format[],
  secret: string,
): Promise<GivenSessions> {
  /** The file of each session, by the session's own id. Two sessions with the same id are both kept. */
  const owners = new Map<string, RecognizedFile>();
  const indexed = new Map<string, IndexedSession>();
  const file_of = new Map<string, RecognizedFile>();
  const links = createLinks();
  const run_markers = createRunMarkers({
    indexed,
    links,
    now: () => 0,
    mark() {},
    isViewed: () => false,
    emitFrames() {},
  });
  const status = createStatus({ formats, roots: [], indexed, links, now: () => 0, silence: 0 });

  function idFor(file: RecognizedFile, own_id: string): string {
    const owner = owners.get(own_id) ?? file;
    owners.set(own_id, owner);
    return openedSessionId(secret, owner === file ? own_id : `${own_id} ${file.path}`);
  }
  /** The id of a session that another one refers to: an opened session, or one that the daemon may have. */
  const namedId = (own_id: string): string => (owners.has(own_id) ? openedSessionId(secret, own_id) : own_id);

  const read = (file: RecognizedFile, folding: boolean) =>
    readOpened(file, { folding, idFor: (own_id) => idFor(file, own_id), namedId });

  for (const [number, file] of files.entries()) {
    const reading = await read(file, false);
    const entry = entryOf(number, file);
    for (const { id, summary, open_calls } of reading.builders.values()) {
      if (summary.parts === 0) continue;
      indexed.set(id, { id, entry, summary: fieldsOf(summary), open_calls });
      file_of.set(id, file);
    }
    for (const facts of reading.facts())
      links.setFacts({ ...facts, session_id: idFor(file, facts.session_id), own_id: facts.session_id });
  }
  links.resolve();
  const rows = new Map(
    [...indexed.values()].map((state) => [state.id, rowOf(status.present(state), namedId)]),
  );

  /** The file that the agent stored beside the session's, if it was opened too. */
  function outputOf(id: string, part: TranscriptPart, recorded_path: string): Uint8Array | undefined {
    const file = file_of.get(id);
    const there = file && outputFileOf(part, file, recorded_path);
    return there && given.get(there.path.replaceAll("\\", "/"))?.bytes;
  }

  return {
    rows,
    async transcriptOf(id) {
      const file = file_of.get(id);
      const state = indexed.get(id);
      if (!file || !state) return undefined;
      const buffer = (await read(file, true)).builders.get(id)?.buffer ?? createFrameBuffer(id);
      for (const frame of run_markers.initialFrames(state))
        buffer.push({ ...frame, at: state.summary.last_activity_at });
      return (
        buffer.finalized(state.summary.last_activity_at, {
          recordsTurnEnds: state.entry.format.recordsTurnEnds,
        }) ?? buffer
      ).transcript;
    },
    async frames(id) {
      const file = file_of.get(id);
      if (!file) return undefined;
      const entry = newSessionFile(0, file.path, file.format, file.kind);
      if (file.side) entry.side_text = file.side.text;
      return sessionFrames(id, entry, contentOf(file), (own_id) => idFor(file, own_id));
    },
    async loggedRequests(id) {
      const file = file_of.get(id);
      if (!file) return [];
      return loggedRequests(newSessionFile(0, file.path, file.format, file.kind), contentOf(file));
    },
    async raw(id, transcript, part_id) {
      const file = file_of.get(id);
      const source = partOf(transcript, part_id)?.source;
      if (!file || !source) return undefined;
      return await recordIn(file, source);
    },
    async attachment(transcript, id, part_id, n) {
      const part = partOf(transcript, part_id);
      return part && readAttachment(part, n, async (path) => outputOf(id, part, path));
    },
    async output(transcript, id, part_id, from) {
      const part = partOf(transcript, part_id);
      const kept = part && keptOutputOf(part);
      return kept && outputOf(id, part, kept.path)?.subarray(from, from + OUTPUT_PIECE);
    },
  };
}

/** Reads a file to its end. `namedId`: see `renamed`. */
async function readOpened(
  file: RecognizedFile,
  {
    folding,
    idFor,
    namedId,
  }: { folding: boolean; idFor(own_id: string): string; namedId(own_id: string): string },
): Promise<Reading> {
  const reading = createReading({
    path: file.path,
    format: {
      ...file.format,
      createReader: (options) => renamed(file.format.createReader(options), namedId),
    },
    folding,
    idFor,
    isViewed: () => false,
  });
  for (let at = 0; at < file.bytes.length; at += BLOCK) {
    await reading.decoder.write(file.bytes.subarray(at, at + BLOCK));
    await setImmediate();
  }
  await reading.decoder.end();
  if (file.side) reading.take(reading.reader.readSide(file.side.text));
  reading.close();
  return reading;
}

function entryOf(number: number, file: RecognizedFile): SessionFile {
  return {
    ...newSessionFile(number, file.path, file.format, file.kind),
    seen: {
      path: file.path,
      format: file.format,
      kind: file.kind,
      modified_at: file.modified_at,
      inode: "",
      size: file.bytes.length,
      sample: false,
    },
  };
}

const contentOf = ({ bytes }: RecognizedFile): FileContent => ({
  size: bytes.length,
  stamp: "",
  read: async (at, length) => bytes.subarray(at, at + length),
  async close() {},
});

/** A row that refers to other sessions by their listed ids. */
function rowOf({ forked_from, ...row }: SessionSummary, namedId: (own_id: string) => string): SessionSummary {
  const from = forked_from && { ...forked_from, session_id: namedId(forked_from.session_id) };
  return { ...row, ...(from && { forked_from: from }) };
}

/** The raw record at a place in an opened file. */
async function recordIn(file: RecognizedFile, source: Source) {
  const record = await readRecord(
    {
      path: file.path,
      gone: true,
      ...(file.side && { side: file.side.path, side_text: file.side.text }),
      archived: async (from, to) => file.bytes.subarray(from, to),
    },
    source,
  );
  return record && { ...record, archived: false };
}

function partOf(transcript: Transcript, part_id: string) {
  const index = positionOf(transcript, part_id);
  return index === undefined ? undefined : transcript.parts.at(index);
}

/** Wraps a reader so that its frames refer to other sessions by their listed ids. */
function renamed(reader: Reader, namedId: (own_id: string) => string): Reader {
  const rename = (records: ReadRecord[]): ReadRecord[] =>
    records.map((record) => ({
      ...record,
      frames: record.frames.map((frame) => renamedFrame(frame, namedId)),
    }));
  return {
    push: (chunk) => rename(reader.push(chunk)),
    settle: () => rename(reader.settle()),
    close: (stopped) => rename(reader.close(stopped)),
    readSide: (text) => rename(reader.readSide(text)),
    linkFacts: () => reader.linkFacts(),
  };
}

function renamedFrame(frame: Frame, namedId: (own_id: string) => string): Frame {
  if (frame.type === "task.start" && frame.sub_agent)
    return { ...frame, sub_agent: { ...frame.sub_agent, session_id: namedId(frame.sub_agent.session_id) } };
  if (frame.type === "message.tool_result" && frame.ui_extra?.type === "sub_agent") {
    const { session_id } = frame.ui_extra;
    if (session_id !== undefined)
      return { ...frame, ui_extra: { ...frame.ui_extra, session_id: namedId(session_id) } };
  }
  return frame;
}
