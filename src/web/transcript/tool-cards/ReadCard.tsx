import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, count, lineCount, list, shortPath, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** A file that was read, with the range of lines. */
export const readCard: ToolCard = {
  payloads: ["read"],
  kind: "read",
  summary: (view) => {
    const path = pathOf(view);
    const lines = linesOf(view);
    return {
      label: toolLabel(view.call.tool_name, "read"),
      subject: (
        <>
          {visible(shortPath(path, view.cwd), "name")}
          {lines !== undefined && <span className="subject-more"> {lines}</span>}
        </>
      ),
      title: lines === undefined ? path : `${path} ${lines}`,
      figures: size(view),
    };
  },
};

function pathOf({ extra, input }: CallView): string {
  if (extra?.type === "read") return extra.path;
  const paths = list(input, "paths").filter((path) => typeof path === "string");
  return (
    text(input, "file_path", "path", "filePath", "filepath", "absolute_path", "notebook_path") ??
    paths.join(", ")
  );
}

/** `1–80`, if only some lines were read. */
function linesOf({ extra, input }: CallView): string | undefined {
  if (extra?.type === "read" && extra.start_line !== undefined && extra.line_count !== undefined) {
    const partial =
      extra.start_line > 1 || (extra.total_lines !== undefined && extra.line_count < extra.total_lines);
    return partial
      ? range(extra.start_line, extra.start_line + Math.max(0, extra.line_count - 1))
      : undefined;
  }
  const start = count(input, "offset", "start_line");
  const limit = count(input, "limit");
  if (limit !== undefined) return range(start ?? 1, (start ?? 1) + limit - 1);
  return isLine(start) ? t.cards.from(start) : undefined;
}

const range = (start: number, end: number): string | undefined =>
  isLine(start) && isLine(end) ? `${start}–${end}` : undefined;

/** Whether a line number from an agent is valid. Some agents count from 0. */
const isLine = (line: number | undefined): line is number => Number.isSafeInteger(line) && Number(line) >= 0;

function size({ extra, output, failed, result }: CallView): string | undefined {
  if (failed || result === undefined) return undefined;
  if (extra?.type === "read" && extra.instead !== undefined) return extra.instead;
  if (extra?.type === "read" && extra.line_count !== undefined && isLine(extra.line_count)) {
    const total = extra.total_lines;
    return total !== undefined && total > extra.line_count
      ? t.cards.linesOf(extra.line_count, total)
      : t.count.lines(extra.line_count);
  }
  return result.truncated === undefined && output !== "" ? t.count.lines(lineCount(output)) : undefined;
}
