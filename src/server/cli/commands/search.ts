import { fullToolLabel } from "../../../model/parts/tool-label.ts";
import { parseSearch, SearchQueryError } from "../../../model/search/query.ts";
import type { SearchHit, SearchPage } from "../../../store/index/contract.ts";
import { openSourceChoices } from "../../import/source-choices.ts";
import { UsageError } from "../../usage-error.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { BUDGET, hitOf, notedParts, openStoredIndex } from "../stored-search.ts";
import { print } from "../terminal.ts";
import { safe } from "../terminal-text.ts";

const DEFAULT_LIMIT = 20;

/** Prints the parts that match a query. The exit code is 1 if there are none. */
export async function searchSessions(operands: string[], flags: Flags): Promise<number> {
  const text = operands.join(" ").trim();
  if (text === "") throw new UsageError('Specify words to search for: search "QUERY"');
  const limit = readLimit(flags.limit);
  const sort = flags.sort ?? "newest";
  if (sort !== "newest" && sort !== "rank") throw new UsageError("--sort takes newest or rank.");
  const query = (() => {
    try {
      return parseSearch(text, Date.now());
    } catch (error) {
      if (error instanceof SearchQueryError) throw new UsageError(error.message);
      throw error;
    }
  })();
  const data_dir = dataDirOf(flags);
  const noted = notedParts(data_dir, query);
  const index = openStoredIndex(data_dir);
  const skipped_agents = [...openSourceChoices(data_dir).off];
  try {
    const page = await searchOn(limit, (rest, cursor) =>
      index.search({
        query,
        ...noted,
        skipped_agents,
        limit: rest,
        sort,
        budget: BUDGET,
        ...(cursor !== undefined && { cursor }),
      }),
    );
    await print(
      flags.json ? `${safe(JSON.stringify({ ...page, hits: page.hits.map(hitOf) }))}\n` : textOf(page),
    );
    return page.hits.length === 0 ? 1 : 0;
  } finally {
    await index.close();
  }
}

/** Collects several pages, since a page may end early when its time is up. */
async function searchOn(
  limit: number,
  search: (limit: number, cursor: string | undefined) => Promise<SearchPage>,
): Promise<SearchPage> {
  let page = await search(limit, undefined);
  while (page.next !== undefined && page.hits.length < limit) {
    const more = await search(limit - page.hits.length, page.next);
    page = { ...more, hits: [...page.hits, ...more.hits] };
  }
  return page;
}

function textOf(page: SearchPage): string {
  const lines = page.hits.map(hitText);
  const more = page.next === undefined ? "" : " There are more: --limit N prints them.";
  const cut =
    page.cut_parts === 0 ? "" : ` Of ${page.cut_parts} long parts only the beginning and end are searched.`;
  lines.push(
    `${page.hits.length === 0 ? "No matches" : `${page.hits.length} matches`} in ${page.searched} of ${page.sessions} sessions.${more}${cut}`,
  );
  return safe(`${lines.join("\n")}\n`);
}

function hitText(hit: SearchHit): string {
  const { session, part, snippet, link } = hitOf(hit);
  const at = part.at ?? session.last_activity_at;
  const date = at > 0 ? minuteOf(new Date(at)) : "no time recorded";
  const what = [
    part.kind,
    part.tool && fullToolLabel(part.tool),
    part.status === "ok" ? undefined : part.status,
  ]
    .filter(Boolean)
    .join(" ");
  return `${date}  ${session.agent}  ${oneLine(session.title ?? session.id)}\n  turn ${part.turn} · ${what}: ${oneLine(snippet.text)}\n  ${link}`;
}

/** `2026-11-27 02:05` */
const minuteOf = (at: Date): string =>
  `${at.toLocaleDateString("sv")} ${at.toLocaleTimeString("sv").slice(0, 5)}`;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").slice(0, 300);

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError("--limit takes a number of matches, from 1.");
  return Number(text);
}
