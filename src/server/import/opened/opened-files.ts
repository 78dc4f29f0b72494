import { randomUUID } from "node:crypto";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import { prefixed, textFields } from "../../../model/text/display-text.ts";
import { OPENED_LIMIT, type OpenedFilesReply } from "../../../protocol.ts";
import type { Format } from "../../../sources/contract.ts";
import type { GivenFile, OpenedFiles } from "../../sessions/opened-files.ts";
import { Refused } from "../../sessions/refused.ts";
import type { OpenSession, Sessions } from "../../sessions/sessions.ts";
import { readGivenSessions } from "./given-sessions.ts";
import { createGroups, type Group, UNUSED_MS, UNVIEWED_MS } from "./groups.ts";
import { type Recognized, recognizeFiles } from "./recognize-files.ts";

interface OpenedFilesOptions {
  formats: readonly Format[];
  now: () => number;
  /** Maximum total size in bytes. Absent: `OPENED_LIMIT`. */
  limit?: number;
}

const SWEEP_MS = 10_000;
/** Maximum number of transcripts that stay folded without a viewer. */
const MAX_UNWATCHED = 3;

/** A folded session. */
interface View {
  session: OpenSession;
  group: Group;
  viewers: number;
}

/** Keeps opened files in memory, and their sessions folded while they are viewed. Writes nothing. */
export function createOpenedFiles({ formats, now, limit = OPENED_LIMIT }: OpenedFilesOptions): OpenedFiles {
  const views = new Map<string, View>();
  const groups = createGroups(now, limit, (id) => views.delete(id));
  const folding = new Map<string, Promise<View | undefined>>();

  async function viewOf(id: string): Promise<View | undefined> {
    const group = groups.of(id);
    if (group === undefined) return undefined;
    const folded = views.get(id) ?? (await folding.get(id)) ?? (await fold(id, group));
    // The group may have been closed while the session was folded.
    if (folded === undefined || !groups.has(id, group)) return folded;
    // Keep the map in order of last use.
    views.delete(id);
    views.set(id, folded);
    const unwatched = [...views].filter(([, { viewers }]) => viewers === 0);
    for (const [other] of unwatched.slice(0, -MAX_UNWATCHED)) views.delete(other);
    return folded;
  }

  function fold(id: string, group: Group): Promise<View | undefined> {
    const work = foldSession(id, group, now).finally(() => folding.delete(id));
    folding.set(id, work);
    return work;
  }

  const sessions: Sessions = {
    epoch: randomUUID(),
    seq: 0,
    list: () => [],
    get: (id) => groups.of(id)?.given.rows.get(id),
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
    frames: async (id) => groups.of(id)?.given.frames(id),
    loggedRequests: async (id) => (await groups.of(id)?.given.loggedRequests(id)) ?? [],
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
  const timer = setInterval(groups.sweep, SWEEP_MS);
  timer.unref();

  async function open(files: readonly GivenFile[]): Promise<OpenedFilesReply> {
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    if (bytes === 0) throw new Refused(422, "empty", daemonText("files_empty", { files: files.length }));
    const by_path = new Map(files.map((file) => [file.path, file]));
    const release = groups.reserve(bytes);
    try {
      const found = await recognizeFiles(by_path, formats);
      const given = await readGivenSessions(found.files, by_path, formats, randomUUID());
      const rows = [...given.rows.values()].sort(
        (one, other) => other.last_activity_at - one.last_activity_at,
      );
      if (rows.length === 0) throw nothingFound(found.problems);
      const problems = found.problems.map(({ path, text }) => ({ path, ...textFields("text", text) }));
      const reply = { sessions: rows, problems };
      const group: Group = { given, reply, bytes, viewers: 0, expires_at: now() + UNUSED_MS };
      groups.add(given.rows.keys(), group);
      return reply;
    } catch (error) {
      release();
      throw error;
    }
  }

  return { sessions, reserve: groups.reserve, open, together: (id) => groups.of(id)?.reply };
}

async function foldSession(id: string, group: Group, now: () => number): Promise<View | undefined> {
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

/** The error for files without sessions. */
function nothingFound([problem]: Recognized["problems"]): Refused {
  if (problem) return new Refused(422, "unreadable_file", prefixed(problem.path, problem.text));
  return new Refused(
    422,
    "unknown_format",
    daemonText("no_session_in_file"),
    daemonText("formats_documented"),
  );
}
