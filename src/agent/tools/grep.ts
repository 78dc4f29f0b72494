import type { FileHandle } from "node:fs/promises";
import * as z from "zod";
import { walkFiles } from "../file-walk.ts";
import { compileGlob } from "../glob-pattern.ts";
import { compilePattern, createLineSearch, SlowPatternError } from "../line-search.ts";
import { locate, named, openFile, PathError, type Place } from "../paths.ts";
import { leftOutNote, mayShow, type PermissionRule } from "../permissions.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .max(2_000)
    .describe("A JavaScript regular expression, matched against each line."),
  path: z.string().optional().describe("Folder (or file) to search. Default: the session's folder."),
  glob: z
    .string()
    .optional()
    .describe(
      "Only files that match: `*.ts` (a name at any depth), `src/**/*.{ts,tsx}` (below the searched folder).",
    ),
  ignore_case: z.boolean().optional(),
  limit: z.number().min(1).max(2_000).optional().describe("Maximum number of matching lines. Default: 200."),
});
type GrepInput = z.infer<typeof input>;

const DEFAULT_LIMIT = 200;
/** Maximum size of a searched file, in bytes. Larger ones are mostly data. */
const FILE_LIMIT = 16 * 1024 ** 2;
/** Maximum number of bytes read per search. */
const TOTAL_LIMIT = 2 * 1024 ** 3;
/** Time limit of a search, in milliseconds, after which it returns what it has found. */
const TIME_LIMIT = 30_000;

interface GrepOptions {
  /** The current rules, which determine the files whose lines may be shown. */
  rules: () => readonly PermissionRule[];
  /** Maximum time of the pattern per file, in milliseconds. */
  pattern_time_ms?: number;
}

/** Searches the lines of files. */
export function createGrepTool({ rules, pattern_time_ms = 2_000 }: GrepOptions): Tool {
  return {
    definition: {
      name: "grep",
      description:
        "Searches text files for lines that match a regular expression; returns `path:line: text`. Skips files ignored by .gitignore, .git and node_modules, unless one of these is the searched folder.",
      input_schema: inputSchema(input),
    },
    parallel: true,
    default_decision: "allow",
    time_limit_ms: TIME_LIMIT * 2,
    prepare(raw, host) {
      const read = readInput(input, raw);
      const pattern = compilePattern(read.pattern, read.ignore_case ?? false);
      const glob = read.glob === undefined ? () => true : compileGlob(forAnyDepth(read.glob));
      const place = locate(host, read.path ?? ".");
      return {
        subject: `grep ${JSON.stringify({ ...read, path: named(place) })}`,
        target: named(place),
        run: (context) => search(place, pattern, glob, read, rules(), pattern_time_ms, context),
      };
    },
  };
}

function forAnyDepth(glob: string): string {
  return glob.includes("/") ? glob : `**/${glob}`;
}

async function search(
  place: Place,
  pattern: RegExp,
  glob: (path: string) => boolean,
  { pattern: query, limit = DEFAULT_LIMIT }: GrepInput,
  rules: readonly PermissionRule[],
  pattern_time_ms: number,
  { signal }: ToolContext,
): Promise<ToolOutput> {
  const lines: string[] = [];
  const files: string[] = [];
  const notes = new Set<string>();
  const own = { tool_name: "grep", target: named(place) };
  let left_out = 0;
  let large = 0;
  let total = 0;
  const over = AbortSignal.timeout(TIME_LIMIT);
  const either = AbortSignal.any([signal, over]);
  const matcher = createLineSearch(pattern, pattern_time_ms);
  try {
    for await (const file of filesOf(place, either, (why) => notes.add(why))) {
      if (!glob(file.below)) continue;
      // The search must not show what `read` may not.
      if (!mayShow(rules, own, ["grep", "read"], file.path)) {
        left_out++;
        continue;
      }
      const bytes = await readText(file.open, () => large++);
      if (bytes === undefined) continue;
      total += bytes.length;
      const found = await matcher.search(bytes, limit - lines.length).catch((error: unknown) => {
        if (error instanceof SlowPatternError)
          throw new PathError(`${error.message} Stopped at ${file.path}.`);
        throw error;
      });
      if (found.length > 0) files.push(file.path);
      for (const { line, text } of found) lines.push(`${file.path}:${line}: ${text}`);
      if (lines.length >= limit) {
        notes.add(`only the first ${limit} matching lines are listed`);
        break;
      }
      if (total > TOTAL_LIMIT) {
        notes.add(`only the first ${TOTAL_LIMIT / 1024 ** 3} GB were searched`);
        break;
      }
    }
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { status: "error", output_text: [error.message, ...lines].join("\n") };
  } finally {
    await matcher.close();
  }
  if (signal.aborted) return { status: "error", output_text: ["Stopped.", ...lines].join("\n") };
  if (over.aborted) notes.add(`the search was stopped after ${TIME_LIMIT / 1_000} s`);
  if (left_out > 0) notes.add(leftOutNote(left_out));
  if (large > 0)
    notes.add(`${large} ${large === 1 ? "file" : "files"} over ${FILE_LIMIT / 1024 ** 2} MB not searched`);
  const body = lines.length === 0 ? ["No match."] : lines;
  return {
    output_text: [...body, ...[...notes].map((note) => `[${note}]`)].join("\n"),
    ui_extra: { type: "search", query, match_count: lines.length, files },
  };
}

/** The given file, or all files below the folder. */
async function* filesOf(place: Place, signal: AbortSignal, onCut: (why: string) => void) {
  try {
    yield* walkFiles(place, { signal, onCut });
  } catch (error) {
    if (!(error instanceof PathError) || place.relative === "") throw error;
    // Throws a more specific error if the path is not a file either.
    await (await openFile(place)).close();
    yield {
      path: place.relative,
      below: place.relative.split("/").at(-1) ?? "",
      open: () => openFile(place),
    };
  }
}

/** The bytes of a text file; `undefined` if it is binary, too large, or unreadable. */
async function readText(
  open: () => Promise<FileHandle>,
  onLarge: () => void,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const file = await open().catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > FILE_LIMIT) {
      onLarge();
      return undefined;
    }
    const bytes = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await file.read(bytes, length, size - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, 8_000).includes(0) ? undefined : bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
