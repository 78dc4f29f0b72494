import * as z from "zod";
import { fileChange } from "../file-change.ts";
import { locate, named, PathError, type Place, replaceFile } from "../paths.ts";
import { readTextFile, type TextFile } from "../text-file.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import { inputSchema, readInput, requireWellFormed } from "../tool-input.ts";

const input = z.object({
  path: z
    .string()
    .describe("Path of the file, relative to the session's folder. Missing folders are created."),
  content: z.string().describe("The complete new content."),
});

/** Writes a whole file. */
export function createWriteTool(): Tool {
  return {
    definition: {
      name: "write",
      description:
        "Writes a text file. Creates it or replaces its content. To change part of a file use edit.",
      input_schema: inputSchema(input),
    },
    parallel: false,
    default_decision: "ask",
    time_limit_ms: 60_000,
    prepare(raw, host) {
      const { path, content } = readInput(input, raw);
      requireWellFormed(content, "The content");
      const place = locate(host, path);
      return {
        subject: `write ${JSON.stringify(named(place))} with these ${Buffer.byteLength(content)} bytes:\n${content}`,
        target: named(place),
        run: () => write(place, content),
      };
    },
  };
}

async function write(place: Place, content: string): Promise<ToolOutput> {
  const path = named(place);
  try {
    const before = await readTextFile(place).catch((error: unknown): TextFile | "new" | "binary" => {
      if (!(error instanceof PathError)) throw error;
      return error.is_missing ? "new" : "binary";
    });
    await replaceFile(place, Buffer.from(content));
    if (before === "binary") return { output_text: `${path} was replaced.` };
    const change = fileChange(path, before === "new" ? undefined : before.text, content);
    return {
      output_text: `${path} was ${before === "new" ? "created" : "written"} (+${change.additions} −${change.deletions} lines).`,
      ui_extra: { type: "diff", files: [change] },
    };
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { status: "error", output_text: error.message };
  }
}
