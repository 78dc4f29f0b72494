import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import type { Format, Reader, ReadRecord } from "../formats/format.ts";
import { positionOf } from "../model/accumulate.ts";
import type { Frame } from "../model/frame.ts";
import type { SessionSummary } from "../model/session.ts";
import { emptySummary, summarize } from "../model/summarize.ts";
import { uuidFrom } from "../model/uuid.ts";
import type { ChannelFrame } from "../protocol.ts";
import { type EvidenceFile, readAttachment, readRecord } from "./evidence.ts";
import { createFold, type Fold } from "./fold.ts";
import {
  createDecoder,
  type Decoder,
  followFile,
  isCompressed,
  isSame,
  openRegular,
  readAt,
} from "./follow.ts";
import { createKeeper } from "./keeper.ts";
import { createLinks, type Link } from "./links.ts";
import { type Registered, readRegisters } from "./liveness.ts";
import { followCalls, type OpenCalls } from "./open-calls.ts";
import type { Sessions } from "./sessions.ts";
import type { FileIdentity, Notice, StoredFile } from "./store/store.ts";
import { createView, type View } from "./view.ts";
import { type FoundFile, type WatchRoot, watchSessions } from "./watch.ts";

/** Times in milliseconds. */
export interface SessionsTiming {
  /** Between looks at the files that are followed closely, and between looks at everything. */
  hot: number;
  list: number;
  /** A file that nobody wrote to for so long may have its last line read without a newline. */
  settle: number;
  /** A file that nobody wrote to for so long is not waited for: a torn last line is shown as such. */
  close: number;
  /** Changes of the list within this time are told together. */
  publish: number;
  /** Between writes to the store. */
  persist: number;
  /** Between two tries to write to a store that could not be written. */
  retry: number;
  /** An open turn of which nothing was heard for so long, and that no register calls alive, has ended. */
  silence: number;
  /** A file that did not change for so long, and that nobody looks at, keeps only its row. */
  idle: number;
  /** Between looks at the registers of running agents and at what time alone changes. */
  tick: number;
}

const TIMING: SessionsTiming = {
  hot: 1_000,
  list: 10_000,
  settle: 250,
  close: 3_600_000,
  publish: 50,
  persist: 500,
  retry: 30_000,
  silence: 60_000,
  idle: 300_000,
  tick: 1_000,
};

export interface SessionsOptions {
  formats: readonly Format[];
  /** The agents' folders. */
  roots: readonly WatchRoot[];
  /** Files and folders beside them. */
  paths?: readonly string[];
  /** Where the store is. Absent: nothing is kept, and a session goes when its file does. */
  dataFolder?: string;
  timing?: Partial<SessionsTiming>;
  /** Whether to listen to the system's hints about changed files; looks at intervals find all changes either way. */
  hints?: boolean;
  now?: () => number;
}

/** A session file, and what is left of one that is gone. */
interface Entry {
  id: number;
  path: string;
  readonly format: Format;
  readonly kind: "session" | "run";
  sample: boolean;
  side?: string;
  /** Of the side file as it was read. */
  side_stamp?: string;
  side_text?: string;
  /** As it was read last. */
  identity?: FileIdentity;
  /** As it was when a first reading stopped on its way: what is archived is of this content. */
  begun?: FileIdentity;
  /** As it was seen last. */
  seen?: FoundFile;
  gone: boolean;
  /** Ids of its sessions. */
  sessions: Set<string>;
  reading?: Reading;
  /** What is done with a file is done one after the other. */
  queue: Promise<unknown>;
  /** A reading of it stops early: it is going to be read again for someone who waits. */
  interrupt: boolean;
  /** Read to its end at least once, now or by an earlier daemon. */
  done: boolean;
  /** Bytes read so far while it is read for the first time. */
  progress: number;
  settle_timer?: NodeJS.Timeout;
}

/** One reader on its way through a file. */
interface Reading {
  reader: Reader;
  decoder: Decoder;
  drafts: Map<string, Draft>;
  folding: boolean;
  /** Nothing can be read on: the reader was told that the file is over. */
  ended: boolean;
}
interface Draft {
  id: string;
  summary: SessionSummary;
  open_calls: OpenCalls;
  fold?: Fold;
  /** Folded and not yet told. */
  fresh: ChannelFrame[];
}

interface State {
  readonly id: string;
  entry: Entry;
  /** As its frames tell it: what the list shows is made from it by `present`. */
  summary: SessionSummary;
  open_calls: OpenCalls;
  /** What the parent's channel was told about this run. */
  announced?: string;
  draft?: Draft;
  view?: View;
}

/** Readings in the background at a time; one more file is always read at once when someone opens it. */
const AT_ONCE = 2;
/** Sessions that stay folded though nobody looks at them. */
const MOST_VIEWS = 12;
/** Readers kept for files that may grow on: each holds what it knows of its session, up to a megabyte or so. */
const MOST_READERS = 48;
/** A file read for the first time that was written to so recently is taken for one that grows, in milliseconds. */
const FRESH = 60_000;
const ARCHIVE_BLOCK = 256 * 1024;
const SIDE_LIMIT = 64 * 1024;
const MOST_NOTICES = 20;

/** Finds, follows, lists, opens and archives the sessions of all agents on this machine. */
export function createSessions(options: SessionsOptions): Sessions {
  const timing = { ...TIMING, ...options.timing };
  const now = options.now ?? Date.now;
  const epoch = crypto.randomUUID();
  const entries = new Map<string, Entry>();
  /** Files that are gone, by their number. */
  const past = new Map<number, Entry>();
  const by_inode = new Map<string, Entry>();
  const by_session = new Map<string, State>();
  const links = createLinks();
  const listeners = new Set<Parameters<Sessions["subscribe"]>[0]>();
  const troubles = new Map<string, Notice>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  // --- The store --------------------------------------------------------------------------------------------------

  const keeper = createKeeper<Entry>({
    ...(options.dataFolder !== undefined && { dataFolder: options.dataFolder }),
    now,
    retry: timing.retry,
    rowOf,
    sessionRowOf(id) {
      const state = by_session.get(id);
      if (!state?.entry.identity || state.entry.sample) return undefined;
      const facts = links.facts(id);
      return {
        id,
        file_id: state.entry.id,
        summary: state.summary,
        open_calls: state.open_calls,
        ...(facts && { facts }),
      };
    },
    onLoss() {
      for (const entry of entries.values()) if (entry.identity) lagging.add(entry);
    },
  });
  /** Files whose archive is behind what was read. */
  const lagging = new Set<Entry>();
  let next_file_id = 1;

  function loadStore() {
    const stored = keeper.load();
    const by_id = new Map<number, Entry>();
    for (const row of stored.files) {
      next_file_id = Math.max(next_file_id, row.id + 1);
      const format = options.formats.find(({ id }) => id === row.format);
      if (!format) continue;
      const { id, path, kind, side, side_stamp, side_text, gone, format: _, ...identity } = row;
      by_id.set(id, {
        ...newEntry(id, path, format, kind),
        ...(side !== undefined && { side }),
        ...(side_stamp !== undefined && { side_stamp }),
        ...(side_text !== undefined && { side_text }),
        identity,
        gone,
        done: true,
      });
    }
    for (const row of stored.sessions) {
      const entry = by_id.get(row.file_id);
      if (!entry) continue;
      entry.sessions.add(row.id);
      by_session.set(row.id, { id: row.id, entry, summary: row.summary, open_calls: row.open_calls });
      owners.set(row.id, entry);
      if (row.facts) links.setFacts(row.facts);
      changed.add(row.id);
    }
    for (const entry of by_id.values()) {
      // A row of replaced content has no sessions any more: it is only there for its archive.
      if (entry.gone && entry.sessions.size === 0) continue;
      if (entry.identity) by_inode.set(entry.identity.inode, entry);
      if (entry.gone) {
        past.set(entry.id, entry);
      } else {
        entries.set(entry.path, entry);
        lagging.add(entry);
      }
    }
  }

  /** `undefined`: nothing to keep. Samples ship with the program and are read anew: they are neither stored nor archived. */
  function rowOf(entry: Entry): StoredFile | undefined {
    if (!entry.identity || entry.sample) return undefined;
    return {
      id: entry.id,
      path: entry.path,
      format: entry.format.id,
      kind: entry.kind,
      ...(entry.side !== undefined && { side: entry.side }),
      ...(entry.side_stamp !== undefined && { side_stamp: entry.side_stamp }),
      ...(entry.side_text !== undefined && { side_text: entry.side_text }),
      ...entry.identity,
      gone: entry.gone,
    };
  }

  /** Copies into the archive what was read while it could not be written, a block at a time. */
  async function catchUp(): Promise<void> {
    let looked = 0;
    for (const entry of lagging) {
      if (closed || !keeper.writable || keeper.failing) return;
      lagging.delete(entry);
      if (!entry.gone && !entry.sample) await run(entry, () => archiveRest(entry));
      if (keeper.failing) lagging.add(entry);
      looked += 1;
      if (looked % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (lagging.size === 0 && !keeper.failing) await keeper.caughtUp();
  }

  async function archiveRest(entry: Entry): Promise<void> {
    const { identity } = entry;
    if (entry.gone || !identity || keeper.archivedTo(entry.id) >= identity.size) return;
    const opened = await openRegular(entry.path);
    if (!opened) return;
    try {
      if (!(await isSame(opened, identity))) return;
      for (;;) {
        const at = keeper.archivedTo(entry.id);
        if (closed || at >= identity.size) return;
        const bytes = await readAt(opened.handle, at, Math.min(ARCHIVE_BLOCK, identity.size - at));
        if (bytes.length === 0 || !(await keeper.append(entry.id, at, bytes))) return;
      }
    } finally {
      await opened.handle.close();
    }
  }

  // --- Files ------------------------------------------------------------------------------------------------------

  function newEntry(id: number, path: string, format: Format, kind: Entry["kind"]): Entry {
    return {
      id,
      path,
      format,
      kind,
      sample: false,
      gone: false,
      sessions: new Set(),
      queue: Promise.resolve(),
      interrupt: false,
      done: false,
      progress: 0,
    };
  }

  function run<Value>(entry: Entry, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    const result = entry.queue.then(work).catch((error: unknown) => {
      entry.done = true;
      trouble(entry.path, `This file cannot be read: ${error instanceof Error ? error.message : error}.`);
      return undefined;
    });
    entry.queue = result;
    return result;
  }

  function trouble(path: string, text: string) {
    if (troubles.size < MOST_NOTICES || troubles.has(path)) {
      troubles.set(path, { level: "warning", text: `${path}: ${text}` });
    }
  }

  function found(files: readonly FoundFile[]) {
    for (const file of files) {
      // Both forms of a session: the plain one is the one that is written to.
      if (isCompressed(file.path) && watch.files.has(plainPath(file.path))) continue;
      const compressed = entries.get(`${file.path}.zst`);
      if (compressed) {
        void run(compressed, () => {
          if (!compressed.gone) leave(compressed);
        });
      }
      const known = entries.get(file.path);
      if (known) notice(known, file);
      else arrivingWhile(arrive(file));
    }
  }

  /** Files at new paths of which it is not known yet whether they were moved there. */
  const arriving = new Set<Promise<void>>();
  function arrivingWhile(arrival: Promise<void>) {
    arriving.add(arrival);
    void arrival.finally(() => arriving.delete(arrival));
  }

  const plainPath = (path: string) => path.slice(0, -".zst".length);

  /** A file at a path where none was known: a new one, or one that was moved. */
  async function arrive(file: FoundFile) {
    const other = by_inode.get(file.inode);
    if (other && other.format === file.format && basename(other.path) === basename(file.path)) {
      if (other.gone || !(await standsAt(other.path, file.inode))) {
        if (entries.get(other.path) === other) entries.delete(other.path);
        past.delete(other.id);
        watch.setHot(other.path, false);
        other.path = file.path;
        other.gone = false;
        entries.set(file.path, other);
        // Nothing of it was kept when it went: it has to be read again.
        if (other.sessions.size === 0) delete other.identity;
        touch(other);
        notice(other, file);
        return;
      }
    }
    const already = entries.get(file.path);
    if (already) return notice(already, file);
    const entry = newEntry(next_file_id++, file.path, file.format, file.kind);
    entries.set(file.path, entry);
    notice(entry, file);
  }

  async function standsAt(path: string, inode: string): Promise<boolean> {
    try {
      const state = await lstat(path, { bigint: true });
      return `${state.dev}:${state.ino}` === inode;
    } catch {
      return false;
    }
  }

  function notice(entry: Entry, file: FoundFile) {
    entry.seen = file;
    entry.sample = file.sample;
    if (file.side !== undefined) entry.side = file.side;
    if (entry.gone) {
      entry.gone = false;
      past.delete(entry.id);
      touch(entry);
    }
    if (!isStale(entry)) {
      for (const id of entry.sessions) markChanged(id);
      return;
    }
    if (entry.reading && !entry.reading.ended) {
      void run(entry, () => (isStale(entry) ? readEntry(entry, false) : undefined));
    } else {
      queueUp(entry);
    }
  }

  /** Whether the file, as it was seen last, holds what was not read. */
  function isStale({ identity, seen, side_stamp, gone }: Entry): boolean {
    if (gone || !seen) return false;
    return (
      !identity ||
      identity.inode !== seen.inode ||
      identity.size !== seen.size ||
      identity.modified_at !== seen.modified_at ||
      side_stamp !== seen.side_stamp
    );
  }

  /** Files to be read in the background, the newest first. */
  const waiting = new Set<Entry>();
  let active = 0;
  let indexing = false;

  function pump() {
    while (indexing && !closed && active < AT_ONCE && waiting.size > 0) {
      const entry = newest();
      if (!entry) return;
      active += 1;
      void run(entry, () => (isStale(entry) ? readEntry(entry, false) : undefined)).finally(() => {
        active -= 1;
        pump();
      });
    }
  }

  let ordered: Entry[] = [];
  let arrivals: Entry[] = [];

  function queueUp(entry: Entry) {
    if (waiting.has(entry)) return;
    waiting.add(entry);
    arrivals.push(entry);
    pump();
  }

  function newest(): Entry | undefined {
    if (arrivals.length > 256 || ordered.length === 0) {
      ordered = [...waiting].sort((one, other) => modifiedAt(one) - modifiedAt(other));
      arrivals = [];
    }
    let entry = ordered.at(-1);
    for (const arrival of arrivals) {
      if (waiting.has(arrival) && (!entry || modifiedAt(arrival) > modifiedAt(entry))) entry = arrival;
    }
    if (entry === ordered.at(-1)) ordered.pop();
    if (entry) waiting.delete(entry);
    return entry;
  }

  const modifiedAt = (entry: Entry) => entry.seen?.modified_at ?? entry.identity?.modified_at ?? 0;

  function lost(paths: readonly string[]) {
    const missing = paths
      .flatMap((path) => entries.get(path) ?? [])
      .map((entry) => ({ entry, path: entry.path }));
    for (const path of paths) {
      // The other form of the same session may have been waiting behind it.
      const compressed = watch.files.get(`${path}.zst`);
      if (compressed) found([compressed]);
    }
    if (missing.length > 0) void leaveUnlessMoved(missing);
  }

  async function leaveUnlessMoved(missing: readonly { entry: Entry; path: string }[]) {
    await watch.rescan();
    await Promise.all(arriving);
    for (const { entry, path } of missing) {
      void run(entry, async () => {
        if (closed || entry.gone || entry.path !== path || (await isThere(path))) return;
        leave(entry);
      });
    }
  }

  async function isThere(path: string): Promise<boolean> {
    const opened = await openRegular(path);
    await opened?.handle.close();
    return opened !== undefined;
  }

  /** The file is gone: its sessions are shown from the archive, or not at all where nothing of them was kept. */
  function leave(entry: Entry) {
    entry.gone = true;
    watch.setHot(entry.path, false);
    if (entries.get(entry.path) === entry) entries.delete(entry.path);
    past.set(entry.id, entry);
    waiting.delete(entry);
    const { reading } = entry;
    if (reading && !reading.ended) {
      route(entry, reading, reading.reader.close());
      reading.ended = true;
      commit(entry, reading, false);
    }
    const kept_bytes = keeper.archivedTo(entry.id);
    const size = entry.identity?.size ?? 0;
    if (kept_bytes === 0) {
      for (const id of [...entry.sessions]) drop(id);
      past.delete(entry.id);
    } else if (kept_bytes < size) {
      trouble(entry.path, `It went before all of it was archived: ${kept_bytes} of ${size} bytes are kept.`);
    }
    touch(entry);
  }

  function drop(id: string) {
    const state = by_session.get(id);
    if (!state) return;
    state.entry.sessions.delete(id);
    by_session.delete(id);
    if (owners.get(id) === state.entry) owners.delete(id);
    if (links.facts(id)) schedulePublish();
    links.remove(id);
    state.view?.retire();
    keeper.sessionRemoved(id);
    markChanged(id);
  }

  const isViewed = (entry: Entry) => [...entry.sessions].some((id) => by_session.get(id)?.view);

  function touch(entry: Entry) {
    keeper.entryChanged(entry);
    for (const id of entry.sessions) markChanged(id);
  }

  // --- Reading ----------------------------------------------------------------------------------------------------

  function createReading(entry: Entry, folding: boolean): Reading {
    const reader = entry.format.createReader({ path: entry.path });
    const reading: Reading = {
      reader,
      decoder: createDecoder(entry.path, (bytes) => route(entry, reading, reader.push(bytes))),
      drafts: new Map(),
      folding,
      ended: false,
    };
    return reading;
  }

  /** Folds what was read into the drafts of the sessions that it belongs to. */
  function route(entry: Entry, reading: Reading, records: readonly ReadRecord[]) {
    for (const { frames } of records) {
      for (const frame of frames) {
        const id = idFor(entry, frame.session_id);
        let draft = reading.drafts.get(id);
        if (!draft) {
          draft = {
            id,
            summary: emptySummary(id, entry.format.id, 0),
            open_calls: [],
            fresh: [],
            ...(reading.folding && { fold: createFold(id) }),
          };
          reading.drafts.set(id, draft);
        }
        fold(draft, id === frame.session_id ? frame : { ...frame, session_id: id });
      }
    }
  }

  function fold(draft: Draft, frame: Frame) {
    draft.summary = summarize(draft.summary, frame);
    draft.open_calls = followCalls(draft.open_calls, frame);
    if (draft.fold) push(draft, frame);
  }

  function push(draft: Draft, frame: Frame) {
    const folded = draft.fold?.push(frame);
    if (folded && by_session.get(draft.id)?.view?.fold === draft.fold) draft.fresh.push(folded);
  }

  /** Which file a session's id belongs to. */
  const owners = new Map<string, Entry>();

  /** A session's own id, or, where another file that is there holds a session of that id, one made from the path too. */
  function idFor(entry: Entry, id: string): string {
    const owner = owners.get(id);
    if (owner === entry) return id;
    const own = uuidFrom(id, entry.path);
    if (owner && (!owner.gone || entry.sessions.has(own))) {
      owners.set(own, entry);
      return own;
    }
    owners.set(id, entry);
    return id;
  }

  /** Reads what a file gained; all of it where it is another file now, or where `folded` transcripts are wanted. */
  async function readEntry(entry: Entry, folded: boolean): Promise<void> {
    const folding = folded || isViewed(entry);
    const current = entry.reading;
    const seen_side = entry.seen?.side_stamp;
    const known_before = entry.done;
    const work = { reading: current, anew: false, replaced: false, file_id: entry.id };
    const known = entry.identity ?? entry.begun;
    const result = await followFile({
      path: entry.path,
      ...(known && { known }),
      onward:
        !folded &&
        current !== undefined &&
        !current.ended &&
        !isCompressed(entry.path) &&
        (!folding || current.folding),
      begin(replaced) {
        work.anew = true;
        work.reading = createReading(entry, folding);
        work.replaced = replaced;
        if (replaced) work.file_id = next_file_id++;
      },
      async bytes(chunk, offset) {
        if (!entry.sample && !(await keeper.append(work.file_id, offset, chunk))) lagging.add(entry);
        await work.reading?.decoder.write(chunk);
        if (work.reading) {
          if (!work.anew) commit(entry, work.reading, false);
          else if (!entry.done) preview(entry, work.reading);
        }
        entry.progress = offset + chunk.length;
      },
      stop: () => closed || (entry.interrupt && !folded && !work.replaced),
    });
    if (result.type === "gone") {
      if (!entry.gone) leave(entry);
      return;
    }
    const { reading } = work;
    if (result.stopped && work.anew && !entry.identity) {
      entry.id = work.file_id;
      entry.begun = result.identity;
    }
    if (!reading || (result.stopped && work.anew)) return;
    if (result.stopped) {
      entry.identity = result.identity;
      return;
    }
    if (isCompressed(entry.path)) {
      await reading.decoder.end();
      reading.ended = true;
    }
    if (work.anew || entry.side_stamp !== seen_side) await readSide(entry, reading);
    settle(entry, reading, result.identity.modified_at);
    if (work.replaced) supersede(entry, reading, work.file_id);
    entry.identity = result.identity;
    delete entry.begun;
    entry.done = true;
    troubles.delete(entry.path);
    by_inode.set(result.identity.inode, entry);
    keeper.entryChanged(entry);
    commit(entry, reading, work.anew);
    keep(entry, reading, work.anew && !known_before ? FRESH : timing.idle);
    // A session that someone looks at was found in another file than before (a copy took the place of one that went).
    if (!reading.folding && isViewed(entry)) {
      void run(entry, () => (isViewed(entry) && !entry.gone ? readEntry(entry, true) : undefined));
    }
    // It was written to while it was read: the last look may be older than what was read, or newer.
    if (isStale(entry) && entry.seen && entry.seen.modified_at > result.identity.modified_at) {
      void run(entry, () => (isStale(entry) ? readEntry(entry, false) : undefined));
    }
  }

  async function readSide(entry: Entry, reading: Reading) {
    if (entry.side === undefined) return;
    const opened = await openRegular(entry.side);
    if (!opened) return;
    try {
      const stamp = entry.seen?.side_stamp;
      entry.side_text = new TextDecoder().decode(await readAt(opened.handle, 0, SIDE_LIMIT));
      if (stamp === undefined) delete entry.side_stamp;
      else entry.side_stamp = stamp;
    } finally {
      await opened.handle.close();
    }
    route(entry, reading, reading.reader.readSide(entry.side_text));
  }

  /** Reads a last line without a newline once nobody writes any more. */
  function settle(entry: Entry, reading: Reading, modified_at: number) {
    clearTimeout(entry.settle_timer);
    if (reading.ended) {
      route(entry, reading, reading.reader.close());
      return;
    }
    const quiet = now() - modified_at;
    if (quiet > timing.close) {
      route(entry, reading, reading.reader.close());
      reading.ended = true;
    } else if (quiet > timing.settle) {
      route(entry, reading, reading.reader.settle());
    } else {
      entry.settle_timer = setTimeout(() => {
        void run(entry, () => {
          if (closed || entry.reading !== reading || reading.ended) return;
          route(entry, reading, reading.reader.settle());
          commit(entry, reading, false);
        });
      }, timing.settle);
    }
  }

  /** The file holds something else now. What it held stays in the archive, and on the list where the new content is of other sessions. */
  function supersede(entry: Entry, reading: Reading, file_id: number) {
    const row = rowOf(entry);
    const kept = keeper.archivedTo(entry.id) > 0;
    const orphans = [...entry.sessions].filter((id) => !reading.drafts.has(id));
    if (row && kept) keeper.superseded({ ...row, gone: true });
    if (row && kept && orphans.length > 0) {
      const ghost: Entry = {
        ...newEntry(entry.id, entry.path, entry.format, entry.kind),
        ...(entry.identity && { identity: entry.identity }),
        ...(entry.side !== undefined && { side: entry.side }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        gone: true,
        done: true,
        sessions: new Set(orphans),
      };
      past.set(ghost.id, ghost);
      for (const id of orphans) {
        const state = by_session.get(id);
        if (state) state.entry = ghost;
        owners.set(id, ghost);
        entry.sessions.delete(id);
        markChanged(id);
      }
    }
    entry.id = file_id;
  }

  /** Keeps the reader of a file that grows or is looked at; any other is made again when it is needed. */
  function keep(entry: Entry, reading: Reading, idle: number) {
    const warm = reading.folding || (!reading.ended && now() - modifiedAt(entry) < idle);
    if (!warm) return cool(entry);
    entry.reading = reading;
    watch.setHot(entry.path, !entry.gone);
    kept.delete(entry);
    kept.add(entry);
    if (kept.size > MOST_READERS) coolReaders();
  }

  /** Files with a reader, the one used longest ago first. */
  const kept = new Set<Entry>();

  function cool(entry: Entry) {
    clearTimeout(entry.settle_timer);
    delete entry.reading;
    kept.delete(entry);
    watch.setHot(entry.path, false);
    for (const id of entry.sessions) {
      const state = by_session.get(id);
      if (state) delete state.draft;
    }
  }

  /** Shows what is known so far of a file that is read for the first time. */
  function preview(entry: Entry, reading: Reading) {
    for (const draft of reading.drafts.values()) {
      const state = stateFor(entry, draft.id);
      state.summary = plain(draft.summary);
      state.open_calls = draft.open_calls;
      markChanged(draft.id);
    }
  }

  function stateFor(entry: Entry, id: string): State {
    let state = by_session.get(id);
    if (!state) {
      state = { id, entry, summary: emptySummary(id, entry.format.id, 0), open_calls: [] };
      by_session.set(id, state);
    } else if (state.entry !== entry) {
      state.entry.sessions.delete(id);
      state.entry = entry;
    }
    entry.sessions.add(id);
    return state;
  }

  /** What was read becomes what is shown. `anew`: it takes the place of what an earlier reading said. */
  function commit(entry: Entry, reading: Reading, anew: boolean) {
    for (const draft of reading.drafts.values()) {
      const state = stateFor(entry, draft.id);
      state.summary = plain(draft.summary);
      state.open_calls = draft.open_calls;
      state.draft = draft;
      keeper.sessionChanged(draft.id);
      markChanged(draft.id);
      if (anew && draft.fold) showAnew(state, draft, draft.fold);
    }
    if (anew) {
      for (const id of [...entry.sessions]) if (!reading.drafts.has(id)) drop(id);
    }
    for (const facts of reading.reader.linkFacts().sessions) {
      const id = idFor(entry, facts.session_id);
      const state = by_session.get(id);
      // A copy's runs are not told from the original's: it is a group of its own.
      const group = id === facts.session_id ? facts.group : uuidFrom(facts.group, entry.path);
      if (state?.entry === entry && links.setFacts({ ...facts, session_id: id, group })) schedulePublish();
    }
    for (const draft of reading.drafts.values()) tell(draft);
    // Whoever looks at a session that began anew sees its row change in the same moment.
    if (anew && isViewed(entry)) publish();
  }

  function tell(draft: Draft) {
    if (draft.fresh.length === 0) return;
    const frames = draft.fresh;
    draft.fresh = [];
    by_session.get(draft.id)?.view?.tell(frames);
  }

  function showAnew(state: State, draft: Draft, fresh: Fold) {
    for (const id of links.runsOf(state.id)) {
      const announcement = announcementOf(by_session.get(id));
      if (announcement) fresh.push({ ...announcement, session_id: state.id, at: now() });
    }
    const link = links.of(state.id);
    if (link) fresh.push(parentUpdate(state, link));
    const settled = isRunning(state) ? undefined : fresh.settled(state.summary.last_activity_at);
    draft.fold = settled ?? fresh;
    draft.fold.hold();
    if (state.view) {
      state.view.replace(draft.fold);
    } else {
      state.view = createView({
        id: state.id,
        fold: draft.fold,
        now,
        summary: () => presentNow(state.id) ?? state.summary,
        reopen: () => open(state.id),
      });
    }
  }

  async function readArchive(entry: Entry): Promise<void> {
    // Some of it may still be on its way to the disk.
    await keeper.persist();
    const reading = createReading(entry, true);
    const end = keeper.archivedTo(entry.id);
    for (let at = 0; at < end && !closed; ) {
      const bytes = keeper.read(entry.id, at, at + ARCHIVE_BLOCK);
      if (bytes.length === 0) break;
      await reading.decoder.write(bytes);
      at += bytes.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reading.decoder.end();
    if (entry.side_text !== undefined) route(entry, reading, reading.reader.readSide(entry.side_text));
    route(entry, reading, reading.reader.close());
    reading.ended = true;
    // What an archive cut short cannot tell stays as the list has it.
    for (const id of entry.sessions) if (!reading.drafts.has(id)) return;
    commit(entry, reading, true);
    keep(entry, reading, 0);
  }

  // --- Runs -------------------------------------------------------------------------------------------------------

  function linkAgain() {
    for (const { session_id, before, after } of links.resolve()) {
      markChanged(session_id);
      if (before) markChanged(before.parent);
      if (after) markChanged(after.parent);
      const state = by_session.get(session_id);
      if (!state) continue;
      delete state.announced;
      if (after && state.draft?.fold) {
        push(state.draft, parentUpdate(state, after));
        tell(state.draft);
      }
    }
  }

  function parentUpdate(state: State, link: Link): Frame {
    return {
      type: "session.update",
      session_id: state.id,
      at: now(),
      patch: {
        parent: {
          session_id: link.parent,
          ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
        },
      },
    };
  }

  /** What the parent's channel is told about a run, so that the card of its call leads there. */
  function announcementOf(run_state: State | undefined) {
    const link = run_state && links.of(run_state.id);
    if (!run_state || link?.tool_call_id === undefined) return undefined;
    const { name, task } = run_state.summary.run ?? {};
    return {
      type: "task.start",
      tool_call_id: link.tool_call_id,
      sub_agent: {
        session_id: run_state.id,
        ...(name !== undefined && { name }),
        ...(task !== undefined && { task }),
      },
    } as const;
  }

  function announce(state: State) {
    const announcement = announcementOf(state);
    const link = links.of(state.id);
    const parent = link && by_session.get(link.parent);
    if (!announcement || !parent) return;
    const said = JSON.stringify(announcement);
    if (state.announced === said) return;
    state.announced = said;
    if (parent.draft?.fold) {
      push(parent.draft, { ...announcement, session_id: parent.id, at: now() });
      tell(parent.draft);
    }
  }

  // --- Status -----------------------------------------------------------------------------------------------------

  let registered: ReadonlyMap<string, Registered> = new Map();

  async function readRegistered() {
    const before = registered;
    registered = await readRegisters(options.roots);
    for (const [id, { busy }] of registered) {
      if (!before.has(id) || before.get(id)?.busy !== busy) markChanged(id);
    }
    for (const id of before.keys()) if (!registered.has(id)) markChanged(id);
  }
  const registersRead = readRegistered();

  /** Whether the agent works on this session, or waits for something other than a prompt. */
  function isRunning(state: State, depth = 0): boolean {
    if (state.entry.gone) return false;
    const register = registered.get(state.id);
    if (register?.busy) return true;
    const runs = [...links.runsOf(state.id)].flatMap((id) => by_session.get(id) ?? []);
    // Runs that work in the background outlive the turn that started them.
    if (depth < 16 && runs.some((one) => isRunning(one, depth + 1))) return true;
    if (state.summary.status !== "running") return false;
    if (now() - modifiedAt(state.entry) < timing.silence) return true;
    if (register) return register.busy !== false;
    // A run has no process of its own: it lives while its parent does and waits for it.
    const link = links.of(state.id);
    const parent = link && by_session.get(link.parent);
    if (!parent || !registered.has(topOf(parent).id)) return false;
    return parent.open_calls.some(({ id }) => id === link?.tool_call_id);
  }

  function topOf(state: State): State {
    let top = state;
    for (let depth = 0; depth < 16; depth++) {
      const parent = by_session.get(links.of(top.id)?.parent ?? "");
      if (!parent) break;
      top = parent;
    }
    return top;
  }

  /** How a turn ended that nobody ended: an agent whose last word is text was done (see `settleAborted`). */
  function silentEnd({ summary, open_calls }: State): SessionSummary["status"] {
    return summary.activity === "text" && open_calls.length === 0 ? "completed" : "interrupted";
  }

  function present(state: State): SessionSummary {
    const { activity, ...summary } = state.summary;
    const running = isRunning(state);
    const doing = activityOf(state.open_calls) ?? activity;
    const link = links.of(state.id);
    return {
      ...summary,
      status: running ? "running" : summary.status === "running" ? silentEnd(state) : summary.status,
      ...(running && doing !== undefined && { activity: doing }),
      ...(link && {
        parent: {
          session_id: link.parent,
          ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
        },
      }),
      runs: links.runsOf(state.id).size,
      last_activity_at: summary.last_activity_at || modifiedAt(state.entry),
      ...(state.entry.gone && { archived: true }),
      ...(state.entry.sample && { sample: true }),
      file: state.entry.path,
      byte_size: state.entry.gone
        ? (state.entry.identity?.size ?? 0)
        : (state.entry.seen?.size ?? state.entry.identity?.size ?? 0),
    };
  }

  function presentNow(id: string): SessionSummary | undefined {
    const state = by_session.get(id);
    return state && present(state);
  }

  /** The turn is over though nothing says so: calls that it left open end too, in the transcript that is open. */
  function settleView(state: State) {
    const { view, draft } = state;
    if (!view || !draft?.fold || draft.fold !== view.fold || unsettled.get(view) === view.fold.transcript)
      return;
    const settled = view.fold.settled(state.summary.last_activity_at);
    if (settled) {
      draft.fold = settled;
      view.replace(settled);
    }
    unsettled.set(view, view.fold.transcript);
  }
  /** Transcripts in which nothing is open, by view. */
  const unsettled = new WeakMap<View, object>();

  // --- The list ---------------------------------------------------------------------------------------------------

  const rows = new Map<string, SessionSummary>();
  const changed = new Set<string>();
  /** Rows that time alone may change. */
  const lively = new Set<string>();
  let sorted: readonly SessionSummary[] | undefined;
  let seq = 0;
  let publish_timer: NodeJS.Timeout | undefined;

  function markChanged(id: string) {
    changed.add(id);
    schedulePublish();
  }

  function schedulePublish() {
    if (closed) return;
    publish_timer ??= setTimeout(publish, timing.publish);
  }

  function publish() {
    clearTimeout(publish_timer);
    publish_timer = undefined;
    linkAgain();
    for (const id of [...changed]) {
      const parent = links.of(id)?.parent;
      if (parent !== undefined) changed.add(parent);
    }
    const updated: SessionSummary[] = [];
    const removed: string[] = [];
    for (const id of changed) {
      const state = by_session.get(id);
      // A file with nothing but bookkeeping is no conversation.
      if (!state || state.summary.parts === 0) {
        lively.delete(id);
        if (rows.delete(id)) removed.push(id);
        continue;
      }
      announce(state);
      const row = present(state);
      if (row.status === "running" || state.summary.status === "running") lively.add(id);
      else lively.delete(id);
      if (row.status !== "running") settleView(state);
      const before = rows.get(id);
      if (before && JSON.stringify(before) === JSON.stringify(row)) continue;
      rows.set(id, row);
      updated.push(row);
    }
    changed.clear();
    clearTimeout(publish_timer);
    publish_timer = undefined;
    if (updated.length === 0 && removed.length === 0) return;
    sorted = undefined;
    seq += 1;
    for (const listener of [...listeners]) listener({ seq, changed: updated, removed });
  }

  // --- What time does ---------------------------------------------------------------------------------------------

  function every(interval: number, work: () => Promise<void>) {
    const timer = setTimeout(async () => {
      timers.delete(timer);
      await work();
      if (!closed) every(interval, work);
    }, interval);
    timers.add(timer);
  }

  function retireViews() {
    const unwatched = [...by_session.values()]
      .filter(({ view }) => view && !view.watched)
      .sort((one, other) => (other.view?.used_at ?? 0) - (one.view?.used_at ?? 0));
    for (const [place, state] of unwatched.entries()) {
      const idle = now() - (state.view?.used_at ?? 0);
      // A moment to come back, or to subscribe at all, whatever else is open.
      if (idle < timing.tick * 10 || (place < MOST_VIEWS && idle < timing.idle)) continue;
      state.view?.retire();
      delete state.view;
      if (state.draft) delete state.draft.fold;
      if (state.entry.reading) state.entry.reading.folding = false;
    }
  }

  function coolReaders() {
    let excess = kept.size - MOST_READERS;
    for (const entry of kept) {
      if (isViewed(entry)) continue;
      if (excess <= 0 && !entry.reading?.ended && now() - modifiedAt(entry) < timing.idle) continue;
      excess -= 1;
      void run(entry, () => {
        if (!isViewed(entry)) cool(entry);
      });
    }
  }

  // --- Opening ----------------------------------------------------------------------------------------------------

  async function open(id: string) {
    await registersRead;
    const state = by_session.get(id);
    if (!state || state.summary.parts === 0 || closed) return undefined;
    if (state.view) {
      state.view.used_at = now();
      return state.view;
    }
    const { entry } = state;
    entry.interrupt = true;
    await run(entry, async () => {
      entry.interrupt = false;
      if (by_session.get(id)?.view) return;
      if (!entry.gone) await readEntry(entry, true);
      if (entry.gone) await readArchive(entry);
    });
    // Its file may have gone, and its session been found in another one, while it was read.
    const view = by_session.get(id)?.view;
    if (view) publish();
    return view;
  }

  function evidenceOf(entry: Entry): EvidenceFile {
    return {
      path: entry.path,
      gone: entry.gone,
      ...(entry.identity && { identity: entry.identity }),
      ...(entry.side !== undefined && { side: entry.side }),
      ...(entry.side_text !== undefined && { side_text: entry.side_text }),
      archived: (from, to) => keeper.read(entry.id, from, to),
    };
  }

  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const state = by_session.get(id);
    const index = view && positionOf(view.transcript, part_id);
    const part = index === undefined ? undefined : view?.transcript.parts.at(index);
    return part && state && { part, file: evidenceOf(state.entry) };
  }

  // --- Beginning --------------------------------------------------------------------------------------------------

  loadStore();
  publish();

  let ready = false;
  const watch = watchSessions({
    roots: options.roots,
    paths: options.paths ?? [],
    formats: options.formats,
    hotInterval: timing.hot,
    listInterval: timing.list,
    hints: options.hints ?? true,
    onFound: found,
    onGone: lost,
    onReady() {
      ready = true;
      startIndexing();
      // What an earlier daemon knew and no look found: gone, or in a folder that is not looked at now.
      lost([...entries.values()].filter((entry) => !entry.seen).map(({ path }) => path));
    },
  });
  function startIndexing() {
    indexing = true;
    pump();
  }
  // The newest files are read first, so all have to be seen first; but not for long.
  const start_timer = setTimeout(startIndexing, 500);

  every(timing.persist, keeper.persist);
  every(timing.tick, async () => {
    await readRegistered();
    for (const id of lively) markChanged(id);
    retireViews();
    coolReaders();
  });
  every(timing.tick, async () => {
    if (ready && waiting.size === 0 && active === 0) await catchUp();
  });

  return {
    epoch,
    get seq() {
      return seq;
    },
    list() {
      sorted ??= [...rows.values()].sort(
        (one, other) => other.last_activity_at - one.last_activity_at || (one.id < other.id ? -1 : 1),
      );
      return sorted;
    },
    get: (id) => rows.get(id),
    open,
    async raw(id, part_id) {
      const found_part = await partOf(id, part_id);
      return found_part?.part.source && (await readRecord(found_part.file, found_part.part.source));
    },
    async attachment(id, part_id, n) {
      const found_part = await partOf(id, part_id);
      return found_part && (await readAttachment(found_part.file, found_part.part, n));
    },
    status() {
      const index = { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0 };
      for (const entry of entries.values()) {
        const size = entry.seen?.size ?? entry.identity?.size ?? 0;
        const stale = isStale(entry) && !entry.done;
        index.files_found += 1;
        index.bytes_found += size;
        index.files_done += stale ? 0 : 1;
        index.bytes_done += stale ? Math.min(entry.progress, size) : size;
      }
      return {
        index: { ...index, done: ready && waiting.size === 0 && active === 0 },
        notices: [
          ...keeper.notices,
          ...[...watch.troubles].slice(0, MOST_NOTICES).map(
            ([path, problem]): Notice => ({
              level: "warning",
              text: `${path} cannot be looked at: ${problem}.`,
            }),
          ),
          ...troubles.values(),
        ],
        roots: options.roots.map(({ format, path }) => ({
          agent: format.id,
          path,
          exists: watch.exists(path),
        })),
      };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      closed = true;
      clearTimeout(start_timer);
      clearTimeout(publish_timer);
      for (const timer of timers) clearTimeout(timer);
      await watch.close();
      const all = [...entries.values(), ...past.values()];
      for (const entry of all) clearTimeout(entry.settle_timer);
      await Promise.all(all.map(({ queue }) => queue));
      await keeper.close();
    },
  };
}

/** What an earlier fold keeps beside the row's fields is neither shown nor stored. */
function plain(summary: SessionSummary): SessionSummary {
  return structuredClone(summary);
}

function activityOf(open_calls: OpenCalls): string | undefined {
  const [first, ...others] = open_calls;
  if (!first) return undefined;
  const name = first.name.split("\n", 1)[0] ?? first.name;
  return others.length > 0 ? `${name} and ${others.length} more` : name;
}
