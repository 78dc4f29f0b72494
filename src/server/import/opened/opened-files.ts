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
  /** Most bytes in all. Absent: `OPENED_LIMIT`. */
  limit?: number;
}

/** Files that nobody looked at for so long are let go, in milliseconds. */
const IDLE_MS = 60 * 60 * 1000;
/** After the last viewer has left they are kept for so long, so that a page can be loaded again, in milliseconds. */
const LEFT_MS = 60 * 1000;
const SWEEP_MS = 10_000;
/** Transcripts that stay folded though nobody looks at them. */
const MAX_UNWATCHED = 3;

/** Files that were given together. */
interface Group {
  given: GivenSessions;
  reply: OpenedFilesReply;
  bytes: number;
  /** Subscriptions to its sessions. */
  viewers: number;
  expires_at: number;
}

/** A session that is folded. */
interface View {
  session: OpenSession;
  group: Group;
  viewers: number;
}

/** Keeps files in memory, and their sessions folded while someone looks at them. Writes nothing. */
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

  /** The group of a session; whoever asks for it keeps it. */
  function groupOf(id: string): Group | undefined {
    const group = isOpenedSession(id) ? groups.get(id) : undefined;
    if (group === undefined) return undefined;
    if (group.expires_at <= now()) {
      evict(group);
      return undefined;
    }
    group.expires_at = Math.max(group.expires_at, now() + (group.viewers > 0 ? IDLE_MS : LEFT_MS));
    return group;
  }

  async function viewOf(id: string): Promise<View | undefined> {
    const group = groupOf(id);
    if (group === undefined) return undefined;
    const folded = views.get(id) ?? (await folding.get(id)) ?? (await fold(id, group));
    // It may have been let go while it was folded.
    if (folded === undefined || groups.get(id) !== group) return folded;
    // The one used last stands last.
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
          group.expires_at = now() + IDLE_MS;
          let ended = false;
          return () => {
            if (ended) return;
            ended = true;
            view.viewers -= 1;
            group.viewers -= 1;
            if (group.viewers === 0) group.expires_at = now() + LEFT_MS;
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
      throw new Refused(413, "too_large", `Files that are opened together may have ${sizeText(limit)}.`);
    sweep();
    const unwatched = [...new Set(groups.values())]
      .filter(({ viewers }) => viewers === 0)
      .sort((one, other) => one.expires_at - other.expires_at);
    for (const group of unwatched) if (reserved + bytes > limit) evict(group);
    if (reserved + bytes > limit)
      throw new Refused(
        413,
        "too_large",
        `All files that are open here may have ${sizeText(limit)} together.`,
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
          "No session of an agent that Verbatim reads is in it.",
          "docs/agents.md lists the formats.",
        );
      const reply = { sessions: rows, problems: found.problems };
      const group: Group = { given, reply, bytes, viewers: 0, expires_at: now() + IDLE_MS };
      for (const { id } of rows) groups.set(id, group);
      return reply;
    } catch (error) {
      release();
      throw error;
    }
  }

  return { sessions, reserve, open, together: (id) => groupOf(id)?.reply };
}
