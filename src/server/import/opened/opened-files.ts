import { randomUUID } from "node:crypto";
import { isOpenedSession } from "../../../model/opened-session.ts";
import { OPENED_LIMIT, type OpenedFilesReply } from "../../../protocol.ts";
import type { Format } from "../../../sources/contract.ts";
import type { GivenFile, OpenedFiles } from "../../sessions/opened-files.ts";
import { Refused } from "../../sessions/refused.ts";
import type { OpenSession, Sessions } from "../../sessions/sessions.ts";
import { sizeText } from "../large-files/segments.ts";
import { type GivenSessions, readGivenSessions } from "./given-sessions.ts";
import { recognizeFiles } from "./recognize-files.ts";

interface OpenedFilesOptions {
  formats: readonly Format[];
  now: () => number;
  /** Maximum total size in bytes. Absent: `OPENED_LIMIT`. */
  limit?: number;
}

/** Files are closed after this time without use, in milliseconds. */
const UNUSED_MS = 60 * 60 * 1000;
/** Files stay open for this time after the last viewer leaves, so that the page can be reloaded. Milliseconds. */
const UNVIEWED_MS = 60 * 1000;
const SWEEP_MS = 10_000;
/** Maximum number of transcripts that stay folded without a viewer. */
const MAX_UNWATCHED = 3;

/** Files that were opened together. */
interface Group {
  given: GivenSessions;
  reply: OpenedFilesReply;
  bytes: number;
  /** Number of subscriptions to its sessions. */
  viewers: number;
  expires_at: number;
}

/** A folded session. */
interface View {
  session: OpenSession;
  group: Group;
  viewers: number;
}

/** Keeps opened files in memory, and their sessions folded while they are viewed. Writes nothing. */
export function createOpenedFiles({ formats, now, limit = OPENED_LIMIT }: OpenedFilesOptions): OpenedFiles {
  const groups = new Map<string, Group>();
  const views = new Map<string, View>();
  const folding = new Map<string, Promise<View | undefined>>();
  let reserved = 0;

  function evict(group: Group): void {
    for (const [id, one] of groups) {
      if (one !== group) continue;
      groups.delete(id);
      views.delete(id);
    }
    reserved -= group.bytes;
  }

  function sweep(): void {
    for (const group of new Set(groups.values())) if (group.expires_at <= now()) evict(group);
  }

  /** The group of a session. Each lookup counts as use. */
  function groupOf(id: string): Group | undefined {
    const group = isOpenedSession(id) ? groups.get(id) : undefined;
    if (group === undefined) return undefined;
    if (group.expires_at <= now()) {
      evict(group);
      return undefined;
    }
    group.expires_at = Math.max(group.expires_at, now() + (group.viewers > 0 ? UNUSED_MS : UNVIEWED_MS));
    return group;
  }

  async function viewOf(id: string): Promise<View | undefined> {
    const group = groupOf(id);
    if (group === undefined) return undefined;
    const folded = views.get(id) ?? (await folding.get(id)) ?? (await fold(id, group));
    // The group may have been closed while the session was folded.
    if (folded === undefined || groups.get(id) !== group) return folded;
    // Keep the map in order of last use.
    views.delete(id);
    views.set(id, folded);
    const unwatched = [...views].filter(([, { viewers }]) => viewers === 0);
    for (const [other] of unwatched.slice(0, -MAX_UNWATCHED)) views.delete(other);
    return folded;
  }

  function fold(id: string, group: Group): Promise<View | undefined> {
    const work = foldNow(id, group).finally(() => folding.delete(id));
    folding.set(id, work);
    return work;
  }

  async function foldNow(id: string, group: Group): Promise<View | undefined> {
    const transcript = await group.given.transcriptOf(id);
    const summary = group.given.rows.get(id);
    if (transcript === undefined || summary === undefined) return undefined;
    const epoch = randomUUID();
    const view: View = {
      group,
      viewers: 0,
      session: {
        id,
        epoch,
        seq: 0,
        transcript,
        summary,
        framesAfter: (known, seq) => (known === epoch && seq === 0 ? [] : undefined),
        subscribe() {
          view.viewers += 1;
          group.viewers += 1;
          group.expires_at = now() + UNUSED_MS;
          let ended = false;
          return () => {
            if (ended) return;
            ended = true;
            view.viewers -= 1;
            group.viewers -= 1;
            if (group.viewers === 0) group.expires_at = now() + UNVIEWED_MS;
          };
        },
      },
    };
    return view;
  }

  const sessions: Sessions = {
    epoch: randomUUID(),
    seq: 0,
    list: () => [],
    get: (id) => groupOf(id)?.given.rows.get(id),
    open: async (id) => (await viewOf(id))?.session,
    async raw(id, part_id) {
      const view = await viewOf(id);
      return view?.group.given.raw(id, view.session.transcript, part_id);
    },
    async attachment(id, part_id, n) {
      const view = await viewOf(id);
      return view?.group.given.attachment(view.session.transcript, id, part_id, n);
    },
    async output(id, part_id, from) {
      const view = await viewOf(id);
      return view?.group.given.output(view.session.transcript, id, part_id, from);
    },
    frames: async (id) => groupOf(id)?.given.frames(id),
    loggedRequests: async (id) => (await groupOf(id)?.given.loggedRequests(id)) ?? [],
    status: () => ({
      index: { files_found: 0, files_done: 0, bytes_found: 0, bytes_done: 0, done: true },
      notices: [],
      roots: [],
    }),
    subscribe: () => () => {},
    async close() {
      clearInterval(timer);
      groups.clear();
      views.clear();
    },
  };
  const timer = setInterval(sweep, SWEEP_MS);
  timer.unref();

  function reserve(bytes: number): () => void {
    if (bytes > limit)
      throw new Refused(413, "too_large", `Files opened together can have at most ${sizeText(limit)}.`);
    sweep();
    const unwatched = [...new Set(groups.values())]
      .filter(({ viewers }) => viewers === 0)
      .sort((one, other) => one.expires_at - other.expires_at);
    for (const group of unwatched) if (reserved + bytes > limit) evict(group);
    if (reserved + bytes > limit)
      throw new Refused(
        413,
        "too_large",
        `All opened files together can have at most ${sizeText(limit)}.`,
        "Close pages with other opened files.",
      );
    reserved += bytes;
    let released = false;
    return () => {
      if (!released) reserved -= bytes;
      released = true;
    };
  }

  async function open(files: readonly GivenFile[]): Promise<OpenedFilesReply> {
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    if (bytes === 0)
      throw new Refused(422, "empty", files.length > 1 ? "These files are empty." : "This file is empty.");
    const by_path = new Map(files.map((file) => [file.path, file]));
    const release = reserve(bytes);
    try {
      const found = await recognizeFiles(by_path, formats);
      const given = await readGivenSessions(found.files, by_path, formats, randomUUID());
      const rows = [...given.rows.values()].sort(
        (one, other) => other.last_activity_at - one.last_activity_at,
      );
      const [problem] = found.problems;
      if (rows.length === 0 && problem)
        throw new Refused(422, "unreadable_file", `${problem.path}: ${problem.text}`);
      if (rows.length === 0)
        throw new Refused(
          422,
          "unknown_format",
          "It contains no session of a supported agent.",
          "docs/agents.md lists the formats.",
        );
      const reply = { sessions: rows, problems: found.problems };
      const group: Group = { given, reply, bytes, viewers: 0, expires_at: now() + UNUSED_MS };
      for (const { id } of rows) groups.set(id, group);
      return reply;
    } catch (error) {
      release();
      throw error;
    }
  }

  return { sessions, reserve, open, together: (id) => groupOf(id)?.reply };
}
