import type { OutlineEntry } from "../../../model/parts/turn-outline.ts";
import { exactNumber } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { titleText } from "../../text/title-text.ts";
import { toolLabel } from "../../transcript/tool-cards/tool-label.ts";

/** The number of calls per label that the transcript shows. Tools with the same label are added up. */
export function byLabel(
  tools: readonly { readonly name: string; readonly count: number }[],
): { label: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { name, count } of tools) {
    const label = toolLabel(name);
    counts.set(label, (counts.get(label) ?? 0) + count);
  }
  return [...counts]
    .map(([label, count]) => ({ label, count }))
    .sort((one, other) => other.count - one.count);
}

/** An entry of the outline in one line. */
export function entryText(entry: OutlineEntry): string {
  switch (entry.kind) {
    case "calls":
      return callsText(entry);
    case "compaction":
    case "interrupt":
      return titleText(entry.text, entry.title_code);
    case "error":
      return entry.tool_name === undefined
        ? titleText(entry.text, entry.title_code)
        : `${toolLabel(entry.tool_name)} ${entry.text}`.trim();
    default:
      return plainMarkdown(entry.text);
  }
}

/** For example `7 Read · 2 Edit +84 −5`. */
function callsText({ tools, additions, deletions }: Extract<OutlineEntry, { kind: "calls" }>): string {
  const counts = byLabel(tools)
    .map(({ label, count }) => `${exactNumber(count)} ${label}`)
    .join(" · ");
  if (additions === undefined || deletions === undefined) return counts;
  return `${counts} +${exactNumber(additions)} −${exactNumber(deletions)}`;
}
