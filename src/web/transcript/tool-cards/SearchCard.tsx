import type { ReactNode } from "react";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CardBodyProps, oneLine, shortPath, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** A search for files by content or name: query, folder and number of matches. */
export const searchCard: ToolCard = {
  payloads: ["search"],
  kind: "search",
  summary: ({ call, input, extra, cwd }) => {
    const query =
      (extra?.type === "search" ? extra.query : undefined) ??
      text(input, "pattern", "query", "glob", "path", "dir_path") ??
      "";
    const where = text(input, "path", "dir_path");
    const place = where === undefined || where === query ? "" : t.cards.in(shortPath(where, cwd));
    const filter = text(input, "glob", "include", "type");
    const only = filter === undefined || filter === query ? "" : ` (${filter})`;
    return {
      label: toolLabel(call.tool_name, "search"),
      subject: (
        <>
          {visible(oneLine(query), "code")}
          <span className="subject-more">{visible(place + only, "name")}</span>
        </>
      ),
      title: query + place + only,
      figures: extra?.type === "search" ? t.count.matches(extra.match_count) : undefined,
    };
  },
  Body: SearchBody,
};

function SearchBody({ view: { extra, output } }: CardBodyProps): ReactNode {
  // Do not list files that the output already names.
  if (extra?.type !== "search" || extra.files.length === 0 || output.includes(extra.files[0] ?? ""))
    return null;
  return (
    <ul className="card-list">
      {extra.files.slice(0, 200).map((file, index) => (
        <li key={index}>{visible(file, "name")}</li>
      ))}
      {extra.files.length > 200 && <li>{t.cards.more(extra.files.length - 200)}</li>}
    </ul>
  );
}
