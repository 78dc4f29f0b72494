import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import { plainMarkdown } from "../text/plain-markdown.ts";
import { t } from "../text/text.ts";

/**
 * The title of a session: its own, else its first prompt; of a run, its task. Hidden characters are written out, because the title is
 * also used in attributes and as the window's title.
 */
export const sessionTitle = (row: SessionSummary): string =>
  visibleText(
    plainMarkdown(row.run?.task || row.title || row.first_prompt || row.run?.name || t.sessions.untitled),
    "prose",
  );

/** The name of a run's agent, shown beside its title. `undefined`: not a run, or the title is that name. */
export const runKind = (row: SessionSummary): string | undefined =>
  row.run?.name === sessionTitle(row) ? undefined : row.run?.name;
