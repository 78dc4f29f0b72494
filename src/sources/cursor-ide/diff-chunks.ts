import { asArray, asNumber, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { DiffHunk } from "../../model/parts/ui-extra.ts";

/**
 * The hunks in the result of an edit, `{diff: {chunks: [{diffString, oldStart, newStart, …}]}}`. Cursor writes a space between the
 * sign and the line.
 */
export function chunkHunks(result: JsonObject | undefined): DiffHunk[] {
  return asArray(asObject(result?.diff)?.chunks).flatMap((each) => {
    const chunk = asObject(each);
    const diff = asString(chunk?.diffString);
    if (diff === undefined) return [];
    const lines = diff
      .split("\n")
      .filter((line) => /^[ +-]/.test(line))
      .map((line) => (line[1] === " " ? `${line[0]}${line.slice(2)}` : line));
    const count = (sign: string) => lines.filter((line) => !line.startsWith(sign)).length;
    return [
      {
        old_start: asNumber(chunk?.oldStart) ?? 0,
        old_lines: count("+"),
        new_start: asNumber(chunk?.newStart) ?? 0,
        new_lines: count("-"),
        lines,
      },
    ];
  });
}
