import { resolve, sep } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as z from "zod";
import { messageOf } from "../../../model/narrow.ts";
import { parseSearch, type SearchFilter, type SearchQuery } from "../../../model/search/query.ts";
import type { PartIndex } from "../../../store/index/contract.ts";
import { isOfAgents } from "../../../store/index/search.ts";
import { openSourceChoices } from "../../import/source-choices.ts";
import { sessionOfKey } from "../../index/session-indexing.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { readVersion } from "../package-root.ts";
import { BUDGET, hitOf, notedParts, openStoredIndex, partLink } from "../stored-search.ts";

/**
 * Maximum number of parts in a reply of `open`, and of characters of their texts in total. A reply has to fit a model's context.
 */
const MAX_PARTS = 50;
const MAX_TEXT = 60_000;
const MAX_LIMIT = 50;

/** Serves the index to agents over the Model Context Protocol, until standard input ends. */
export async function serveMcp(_operands: string[], flags: Flags): Promise<number> {
  const data_dir = dataDirOf(flags);
  const index = openStoredIndex(data_dir);
  const project = flags.project === undefined ? undefined : resolve(flags.project);
  // Read each time, so that a switch takes effect without a restart.
  const server = createMcpServer(
    index,
    project,
    () => openSourceChoices(data_dir).off,
    (query) => notedParts(data_dir, query),
  );
  const closed = new Promise<void>((done) => {
    server.server.onclose = done;
  });
  process.stdin.on("end", () => void server.close());
  await server.connect(new StdioServerTransport());
  await closed;
  await index.close();
  return 0;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * `project`: only sessions in this folder or below it are searched, opened and listed. `off`: agents whose files are excluded.
 * `noted`: the data about notes that a query needs.
 */
function createMcpServer(
  index: PartIndex,
  project?: string,
  off: () => ReadonlySet<string> = () => NONE,
  noted: (query: SearchQuery) => { noted_parts?: string[] } = () => ({}),
): McpServer {
  const server = new McpServer({ name: "verbatim", version: readVersion() });
  const served: Served = { index, project, off, noted };
  addSearchTool(server, served);
  addOpenTool(server, served);
  addListTool(server, served);
  return server;
}

/** What a server gives access to. See `createMcpServer`. */
interface Served {
  index: PartIndex;
  project: string | undefined;
  off: () => ReadonlySet<string>;
  noted: (query: SearchQuery) => { noted_parts?: string[] };
}

function isOpen({ project }: Served, cwd: string | undefined): boolean {
  return project === undefined || cwd === project || cwd?.startsWith(project + sep) === true;
}

/** The sessions that can be opened and listed. */
async function sessionsOf(served: Served) {
  const skipped = served.off();
  return (await served.index.sessions())
    .filter(
      (session) => isOpen(served, session.cwd) && !isOfAgents({ source: session.source, session }, skipped),
    )
    .map((session) => ({ ...session, id: sessionOfKey(session.source) ?? session.id }));
}

function addSearchTool(server: McpServer, served: Served): void {
  const { index, project, off, noted } = served;
  server.registerTool(
    "search",
    {
      title: "Search past agent sessions",
      description:
        'Finds parts of past coding-agent sessions (prompts, thoughts, answers, tool calls, outputs). All words must be in one part. Query language: words, "phrases", /regex/, -excluded, kind:prompt|thought|text|call|output, tool:NAME, status:failed, agent:NAME, project:FOLDER, model:NAME, after:7d, before:2026-07-01, is:mine. Cite the link of what you use.',
      inputSchema: {
        query: z.string().min(1),
        limit: z.number().int().min(1).max(MAX_LIMIT).optional(),
        sort: z.enum(["newest", "rank"]).optional(),
        cursor: z.string().optional().describe("`next` of the previous page"),
      },
      annotations: { readOnlyHint: true },
    },
    ({ query, limit = 20, sort = "newest", cursor }) =>
      answer(async () => {
        const parsed = inProject(parseSearch(query, Date.now()), project);
        const page = await index.search({
          skipped_agents: [...off()],
          query: parsed,
          ...noted(parsed),
          limit,
          sort,
          budget: BUDGET,
          ...(cursor !== undefined && { cursor }),
        });
        const { searched, next, cut_parts } = page;
        const hits = page.hits.filter(({ session }) => isOpen(served, session.cwd)).map(hitOf);
        return { hits, next, sessions: page.sessions, searched, cut_parts };
      }),
  );
}

function addOpenTool(server: McpServer, served: Served): void {
  const { index } = served;
  server.registerTool(
    "open",
    {
      title: "Read parts of a session",
      description:
        "Returns parts of one session with their text, in order: around a part (part_id, from a search result), or from a position (from).",
      inputSchema: {
        session_id: z.string(),
        part_id: z.string().optional(),
        from: z.number().int().min(0).optional(),
        count: z.number().int().min(1).max(MAX_PARTS).optional(),
      },
      annotations: { readOnlyHint: true },
    },
    ({ session_id, part_id, from, count = 10 }) =>
      answer(async () => {
        const session = (await sessionsOf(served)).find(({ id }) => id === session_id);
        if (!session) throw new Error(`There is no session ${session_id}. Use list or search.`);
        const own_id = (await index.sessions()).find(({ source }) => source === session.source)?.id;
        const id = sessionOfKey(session.source) === undefined ? session.id : (own_id ?? session.id);
        const start =
          part_id === undefined
            ? (from ?? 0)
            : await positionOf(index, session.source, id, session.part_count, part_id);
        const begin = part_id === undefined ? start : Math.max(0, start - Math.floor(count / 2));
        let room = MAX_TEXT;
        const parts = (await index.parts(session.source, id, begin, begin + count)).map(
          ({ text, ...part }) => {
            const given = text.slice(0, Math.max(0, room));
            room -= given.length;
            return {
              ...part,
              link: partLink(session_id, part.id),
              text: given,
              ...(given.length < (part.full_length ?? text.length) && { text_is_cut: true }),
            };
          },
        );
        const { part_count, title, agent, cwd, model, last_activity_at } = session;
        return { session: { id: session_id, title, agent, cwd, model, last_activity_at, part_count }, parts };
      }),
  );
}

/** The position of a part in its session. */
async function positionOf(
  index: PartIndex,
  source: string,
  id: string,
  part_count: number,
  part_id: string,
): Promise<number> {
  for (let at = 0; at < part_count; at += 1_000) {
    const found = (await index.parts(source, id, at, at + 1_000)).find((part) => part.id === part_id);
    if (found) return found.seq;
  }
  throw new Error(`The session has no part ${part_id}.`);
}

function addListTool(server: McpServer, served: Served): void {
  server.registerTool(
    "list",
    {
      title: "List sessions",
      description:
        "Lists sessions, most recently active first. `query`: words of the title, agent or folder.",
      inputSchema: {
        query: z.string().optional(),
        limit: z.number().int().min(1).max(MAX_LIMIT).optional(),
      },
      annotations: { readOnlyHint: true },
    },
    ({ query = "", limit = 20 }) =>
      answer(async () => {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        const all = (await sessionsOf(served)).filter(({ title = "", agent, cwd = "" }) => {
          const text = `${title} ${agent} ${cwd}`.toLowerCase();
          return words.every((word) => text.includes(word));
        });
        const given = all
          .slice(0, limit)
          .map(({ source: _, ...session }) => ({ ...session, link: `/session/${session.id}` }));
        return { total: all.length, sessions: given };
      }),
  );
}

/** Restricts a query without a project to this one. Results are checked as well. */
function inProject(query: SearchQuery, project: string | undefined): SearchQuery {
  if (project === undefined || query.filters.some(({ field }) => field === "project")) return query;
  const filter: SearchFilter = { field: "project", value: project.toLowerCase(), excluded: false };
  return { ...query, filters: [...query.filters, filter] };
}

async function answer(work: () => Promise<object>) {
  try {
    return { content: [{ type: "text" as const, text: JSON.stringify(await work()) }] };
  } catch (error) {
    return { isError: true, content: [{ type: "text" as const, text: messageOf(error) }] };
  }
}
