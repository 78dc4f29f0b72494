import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import { plainMarkdown } from "../text/plain-markdown.ts";
import { t } from "../text/text.ts";

/**
 * What the page calls a session: its title, else what was asked first. A run: what it was asked to do. Hidden characters are
 * written out, for it stands in attributes and in the window's title too.
 */
export const sessionTitle = (row: SessionSummary): string =>
  visibleText(
    plainMarkdown(row.run?.task || row.title || row.first_prompt || row.run?.name || t.sessions.untitled),
    "prose",
  );

/** Which kind of agent a run is, for beside its title; `undefined`: no run, or the title says it already. */
export const runKind = (row: SessionSummary): string | undefined =>
  row.run?.name === sessionTitle(row) ? undefined : row.run?.name;
