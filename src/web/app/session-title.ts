import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import { plainMarkdown } from "../text/plain-markdown.ts";
import { t } from "../text/text.ts";

/**
 * The title of a session: a run's task, or else the session's own title or first prompt. Hidden characters are made visible,
 * because the title is also used in attributes and as the window title.
 */
export const sessionTitle = (row: SessionSummary): string =>
  visibleText(
    plainMarkdown(row.run?.task || row.title || row.first_prompt || row.run?.name || t.sessions.untitled),
    "prose",
  );

/**
 * The name of a run's agent, shown beside its title. `undefined`: the session is not a run, or the title already is that name.
 */
export const runKind = (row: SessionSummary): string | undefined =>
  row.run?.name === sessionTitle(row) ? undefined : row.run?.name;
