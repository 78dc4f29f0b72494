import type { Context, Hono } from "hono";
import { SearchQueryError } from "../../model/search/query.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { DEFAULT_LIMIT, type Search } from "../index/search-service.ts";
import { SearchTimeout } from "../index/search-thread.ts";
import { Refused, refusal } from "../sessions/refused.ts";
import { numberOf } from "./query-number.ts";

/** Maximum length of a search query, in UTF-16 code units. */
export const QUERY_LIMIT = 1_000;
/** Maximum number of hits on a page. */
const MAX_LIMIT = 100;

/** Adds the route of the search over all sessions. */
export function addSearchRoute(app: Hono, search: Search): void {
  app.get("/api/search", async (context) => {
    const { q, limit, sort, cursor } = context.req.query();
    if (q === undefined || q.trim() === "" || q.length > QUERY_LIMIT)
      return refuse(context, "query", daemonText("search_needs_words", { limit: QUERY_LIMIT }));
    const count = limit === undefined ? DEFAULT_LIMIT : numberOf(limit);
    if (count === undefined || count < 1 || count > MAX_LIMIT)
      return refuse(context, "query", daemonText("search_limit_range", { most: MAX_LIMIT }));
    if (sort !== undefined && sort !== "newest" && sort !== "rank")
      return refuse(context, "query", daemonText("search_sort_not_known"));
    try {
      return context.json(
        await search.search(q, {
          limit: count,
          sort: sort ?? "newest",
          ...(cursor !== undefined && { cursor }),
        }),
      );
    } catch (error) {
      if (error instanceof SearchQueryError) return refuse(context, "query", error.title);
      if (error instanceof SearchTimeout)
        return refuse(context, "slow_query", error.title, daemonText("simpler_expression"));
      throw error;
    }
  });
}

const refuse = (context: Context, code: string, message: DisplayText, remedy?: DisplayText): Response =>
  refusal(context, new Refused(400, code, message, remedy));
