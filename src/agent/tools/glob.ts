import * as z from "zod";
import { walkFiles } from "../file-walk.ts";
import { compileGlob, type PathMatcher } from "../glob-pattern.ts";
import { locate, named, PathError, type Place } from "../paths.ts";
import { leftOutNote, mayShow, type PermissionRule } from "../permissions.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";

const input = z.object({
  pattern: z.string().min(1).describe("For example `src/**/*.ts` or `**/package.json`."),
  path: z
    .string()
    .optional()
    .describe("Folder that the pattern is relative to. Default: the session's folder."),
});

const LIMIT = 1_000;

interface GlobOptions {
  /** The current rules, which determine the files that may be listed. */
  rules: () => readonly PermissionRule[];
}

/** Finds files by name. */
export function createGlobTool({ rules }: GlobOptions): Tool {
  return {
    definition: {
      name: "glob",
      description: `Lists files whose path matches a pattern: \`*\` and \`?\` within a name, \`**\` for any folders, \`[a-z]\`, \`{a,b}\`; ${LIMIT} at most. Skips files ignored by .gitignore, .git and node_modules, unless one of these is the searched folder.`,
      input_schema: inputSchema(input),
    },
    parallel: true,
    default_decision: "allow",
    time_limit_ms: 60_000,
    prepare(raw, host) {
      const { pattern, path } = readInput(input, raw);
      const matches = compileGlob(pattern);
      const place = locate(host, path ?? ".");
      return {
        subject: `glob ${JSON.stringify({ pattern, path: named(place) })}`,
        target: named(place),
        run: (context) => list(place, pattern, matches, rules(), context),
      };
    },
  };
}

async function list(
  place: Place,
  query: string,
  matches: PathMatcher,
  rules: readonly PermissionRule[],
  { signal }: ToolContext,
): Promise<ToolOutput> {
  const files: string[] = [];
  const notes = new Set<string>();
  const own = { tool_name: "glob", target: named(place) };
  let left_out = 0;
  try {
    for await (const file of walkFiles(place, { signal, onCut: (why) => notes.add(why) })) {
      if (!matches(file.below)) continue;
      if (!mayShow(rules, own, ["glob"], file.path)) {
        left_out++;
        continue;
      }
      if (files.length >= LIMIT) {
        notes.add(`only the first ${LIMIT} files are listed`);
        break;
      }
      files.push(file.path);
    }
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { status: "error", output_text: error.message };
  }
  if (signal.aborted) return { status: "error", output_text: "Stopped." };
  if (left_out > 0) notes.add(leftOutNote(left_out));
  const body = files.length === 0 ? ["No file matches."] : files;
  return {
    output_text: [...body, ...[...notes].map((note) => `[${note}]`)].join("\n"),
    ui_extra: { type: "search", query, match_count: files.length, files },
  };
}
