import type { Source } from "./transcript.ts";

/** The place of a record on one line, for display: `opencode.db · table part · row prt_1`. `whole`: with the file's full path. */
export function sourceText(source: Source, whole = false): string {
  switch (source.kind) {
    case undefined:
      return `${nameOf(source.file, whole)}${source.line > 0 ? `:${source.line}` : ""} · byte ${source.byte}`;
    case "document":
      return `${nameOf(source.file, whole)}${source.pointer === "" ? "" : ` · ${source.pointer}`}`;
    case "row":
      return `${nameOf(source.file, whole)} · table ${source.table} · row ${source.key}`;
    case "log":
      return `${source.log} · entry ${source.sequence}`;
    default:
      return source satisfies never;
  }
}

const nameOf = (path: string, whole: boolean): string =>
  whole ? path : (path.split(/[\\/]/).at(-1) ?? path);

/** The place of the record in the file that was read: the agent's own file of lines, or the session's record log. */
export function linePlace(
  source: Source | undefined,
): { line: number; byte: number; length: number } | undefined {
  return source === undefined || source.kind === undefined ? source : source.logged;
}
