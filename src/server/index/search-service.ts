import { parseSearch } from "../../model/search/query.ts";
import type { SearchAllReply } from "../../protocol.ts";
import type { SearchHit } from "../../store/index/contract.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { SearchThread } from "./search-thread.ts";
import { sessionOfKey } from "./session-indexing.ts";

/** Time after which a page ends with the hits found so far, in milliseconds. */
const BUDGET = 80;
export const DEFAULT_LIMIT = 30;

export interface SearchOptions {
  limit: number;
  sort: "newest" | "rank";
  cursor?: string;
}

/** Search over all sessions. */
export interface Search {
  /** Throws a `SearchQueryError` for an invalid query, and a `SearchTimeout` if it takes too long. */
  search(query: string, options: SearchOptions): Promise<SearchAllReply>;
}

export function createSearch(options: {
  thread: SearchThread;
  sessions: Sessions;
  now: () => number;
  /** Ids of the agents whose files are not searched. Absent: none. */
  skipped?: () => readonly string[];
}): Search {
  const { sessions, thread } = options;

  function listed(hit: SearchHit): SearchAllReply["hits"] {
    const own = sessionOfKey(hit.source);
    const id = own ?? sessions.indexedAs?.(hit.source, hit.session.id, hit.part.byte);
    const row = id === undefined ? undefined : sessions.get(id);
    // The session was removed, or is shown from another source.
    if (id === undefined || !row) return [];
    const { part, snippet, turn_title } = hit;
    const title = row.title ?? row.first_prompt ?? hit.session.title;
    return [
      {
        session: {
          id,
          agent: row.agent,
          status: row.status,
          last_activity_at: row.last_activity_at,
          is_run: row.parent !== undefined,
          ...(title !== undefined && { title }),
          ...(row.cwd !== undefined && { cwd: row.cwd }),
          ...(row.model !== undefined && { model: row.model }),
        },
        part: {
          id: part.id,
          kind: part.kind,
          by: byOf(hit, row.parent !== undefined),
          turn: part.turn,
          ...(turn_title !== undefined && { turn_title }),
          ...(part.step !== undefined && { step: part.step }),
          ...(part.tool !== undefined && { tool: part.tool }),
          ...(part.status !== undefined && { status: part.status }),
          ...(part.started_at !== undefined && { at: part.started_at }),
          ...(part.full_length !== undefined && { full_length: part.full_length }),
        },
        snippet: { text: snippet.text, ranges: snippet.ranges.map(({ start, end }) => ({ start, end })) },
      },
    ];
  }

  return {
    async search(text, { limit, sort, cursor }) {
      const query = parseSearch(text, options.now());
      const { page, took } = await thread.search({
        query,
        limit,
        sort,
        budget: BUDGET,
        ...(options.skipped && { skipped_agents: options.skipped() }),
        ...(cursor !== undefined && { cursor }),
      });
      return {
        hits: page.hits.flatMap(listed),
        ...(page.next !== undefined && { next: page.next }),
        sessions: page.sessions,
        searched: page.searched,
        not_indexed: sessions.unindexed ?? 0,
        cut_parts: page.cut_parts,
        took_ms: Math.round(took * 10) / 10,
      };
    },
  };
}

/** Who wrote a part. A run's prompt is written by its parent. */
function byOf({ part }: SearchHit, is_run: boolean): SearchAllReply["hits"][number]["part"]["by"] {
  switch (part.kind) {
    case "prompt":
    case "request":
      return part.mine && !is_run ? "person" : "agent";
    case "thought":
    case "text":
    case "call":
      return "model";
    case "output":
    case "file":
      return "tool";
    case "marker":
    case "step":
    case "unknown":
      return "agent";
    default:
      return part.kind satisfies never;
  }
}
