import * as z from "zod";
import { fileChange } from "../file-change.ts";
import { locate, named, PathError, type Place, replaceFile } from "../paths.ts";
import { readTextFile } from "../text-file.ts";
import { type Tool, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput, requireWellFormed } from "../tool-input.ts";

const input = z.object({
  path: z.string().describe("Path of the file, relative to the session's folder."),
  old_text: z.string().describe("The text to replace, exactly as in the file, without line numbers."),
  new_text: z.string().describe("The text to put in its place."),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replace every occurrence; otherwise there must be exactly one."),
});
type EditInput = z.infer<typeof input>;

/** Replaces text in a file. */
export function createEditTool(): Tool {
  return {
    definition: {
      name: "edit",
      description:
        "Replaces text in a file. old_text must occur in the file exactly once, including white space (add surrounding lines to make it unique), unless replace_all is set.",
      input_schema: inputSchema(input),
    },
    parallel: false,
    default_decision: "ask",
    time_limit_ms: 60_000,
    prepare(raw, host) {
      const read = readInput(input, raw);
      if (read.old_text === "") throw new ToolInputError("old_text is empty. To create a file use write.");
      if (read.old_text === read.new_text) throw new ToolInputError("old_text and new_text are the same.");
      requireWellFormed(read.old_text, "old_text");
      requireWellFormed(read.new_text, "new_text");
      const place = locate(host, read.path);
      // The lengths precede the texts, so that no part of a text can be mistaken for the separator line.
      const { old_text, new_text, replace_all = false } = read;
      return {
        subject: `edit ${JSON.stringify(named(place))}: replace ${replace_all ? "every occurrence" : "the one occurrence"} of these ${Buffer.byteLength(old_text)} bytes:\n${old_text}\nwith these ${Buffer.byteLength(new_text)} bytes:\n${new_text}`,
        target: named(place),
        run: () => edit(place, read),
      };
    },
  };
}

async function edit(place: Place, { old_text, new_text, replace_all }: EditInput): Promise<ToolOutput> {
  const path = named(place);
  try {
    const { text, identity } = await readTextFile(place);
    const pieces = text.split(old_text);
    const count = pieces.length - 1;
    if (count === 0) throw new PathError(`old_text was not found in ${path}.${hint(text, old_text)}`);
    if (count > 1 && !replace_all)
      throw new PathError(
        `old_text occurs ${count} times in ${path}. Add surrounding lines, or set replace_all.`,
      );
    const after = pieces.join(new_text);
    await replaceFile(place, Buffer.from(after), identity);
    const change = fileChange(path, text, after);
    return {
      output_text: `${path} was changed${count > 1 ? ` in ${count} places` : ""} (+${change.additions} −${change.deletions} lines).`,
      ui_extra: { type: "diff", files: [change] },
    };
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { status: "error", output_text: error.message };
  }
}

/** A possible reason why `old_text` is not found, as a hint for the model. */
function hint(text: string, old_text: string): string {
  if (text.includes("\r\n") && text.replaceAll("\r\n", "\n").includes(old_text.replaceAll("\r\n", "\n")))
    return " The file's lines end with \\r\\n, and old_text's do not.";
  const loose = (value: string): string => value.replace(/\s+/g, " ").trim();
  if (loose(text).includes(loose(old_text)))
    return " It occurs with different white space. Read the file again and copy it exactly.";
  return " Read the file again and copy it exactly, without line numbers.";
}
