import { createHash } from "node:crypto";
import { type FileHandle, writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import * as z from "zod";
import type { AgentHost } from "../agent.ts";
import { imageType } from "../image-type.ts";
import { locate, locateStored, named, openFile, PathError, type Place } from "../paths.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";
import { fileOfCall } from "../truncated-output.ts";

const input = z.object({
  path: z.string().describe("Path of the file, relative to the session's folder."),
  offset: z.number().min(1).optional().describe("First line to read (one-based)."),
  limit: z.number().min(1).optional().describe("Maximum number of lines. Default: 2000."),
});

const DEFAULT_LINES = 2_000;
/** Maximum length of a line in the result, in UTF-16 code units. */
const LINE_LIMIT = 2_000;
const TEXT_LIMIT = 200_000;
/** Maximum number of bytes that are read to find or count lines. */
const SCAN_LIMIT = 256 * 1024 ** 2;
const CHUNK = 256 * 1024;
/** Maximum size of an image that providers accept, in bytes. */
const IMAGE_LIMIT = 5 * 1024 ** 2;

/** Reads a text file, or shows an image. */
export function createReadTool(): Tool {
  return {
    definition: {
      name: "read",
      description: `Reads a file: text with its line numbers (a tab between number and line), ${DEFAULT_LINES} lines by default; PNG, JPEG, GIF and WebP as an image. Also reads the files in which other tools store long outputs.`,
      input_schema: inputSchema(input),
    },
    parallel: true,
    default_decision: "allow",
    time_limit_ms: 60_000,
    prepare(raw, host) {
      const { path, offset = 1, limit = DEFAULT_LINES } = readInput(input, raw);
      const { place, shown } = locateOwn(host, path);
      const lines = offset === 1 && limit === DEFAULT_LINES ? "" : `, ${limit} lines from ${offset}`;
      return {
        subject: `read ${shown}${lines}`,
        // Stored outputs have absolute paths, so that rules about the session's folder do not apply to them.
        target: shown,
        run: (context) => readPlace(place, path, Math.floor(offset), Math.floor(limit), context),
      };
    },
  };
}

/** Locates a file in the session's folder, or a stored output of a call of this session. */
function locateOwn(host: AgentHost, path: string): { place: Place; shown: string } {
  const kept = locateStored(host, path);
  if (kept !== undefined) return { place: kept, shown: kept.absolute };
  const place = locate(host, path);
  return { place, shown: named(place) };
}

async function readPlace(
  place: Place,
  asked: string,
  offset: number,
  limit: number,
  context: ToolContext,
): Promise<ToolOutput> {
  let file: FileHandle;
  try {
    file = await openFile(place);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    return { status: "error", output_text: error.message };
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8_192), 0, 8_192, 0);
    const start = buffer.subarray(0, bytesRead);
    const mime_type = imageType(start);
    if (mime_type !== undefined) return await readImage(file, place, mime_type, context);
    const encoding = textEncoding(start);
    if (encoding === undefined) {
      const { size } = await file.stat();
      return {
        status: "error",
        output_text: `${asked} is not text (${size.toLocaleString("en")} bytes of binary data) and not a supported image.`,
      };
    }
    return await readLines(file, place, encoding, offset, limit, context.signal);
  } finally {
    await file.close();
  }
}

async function readLines(
  file: FileHandle,
  place: Place,
  encoding: string,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const decoder = new TextDecoder(encoding);
  const shown: string[] = [];
  let text_length = 0;
  let number = 0;
  let current = "";
  let current_length = 0;
  let isFull = false;
  const endLine = (): void => {
    number++;
    if (number >= offset && shown.length < limit && !isFull) {
      const line = current.endsWith("\r") ? current.slice(0, -1) : current;
      const cut =
        current_length > LINE_LIMIT
          ? `${line.slice(0, LINE_LIMIT)} [… line of ${current_length} characters]`
          : line;
      isFull = text_length + cut.length > TEXT_LIMIT;
      if (!isFull) {
        shown.push(`${String(number).padStart(6)}\t${cut}`);
        text_length += cut.length;
      }
    }
    current = "";
    current_length = 0;
  };
  const take = (text: string): void => {
    for (let from = 0; from < text.length; ) {
      const end = text.indexOf("\n", from);
      const piece = text.slice(from, end < 0 ? text.length : end);
      current_length += piece.length;
      // Do not buffer more of a line than is needed to truncate it: a line can be gigabytes long.
      if (current.length <= LINE_LIMIT) current += piece.slice(0, LINE_LIMIT + 1);
      if (end < 0) return;
      endLine();
      from = end + 1;
    }
  };

  const bytes = new Uint8Array(CHUNK);
  let position = 0;
  let isWhole = false;
  while (position < SCAN_LIMIT && !signal.aborted) {
    const { bytesRead } = await file.read(bytes, 0, CHUNK, position);
    if (bytesRead === 0) {
      isWhole = true;
      break;
    }
    position += bytesRead;
    take(decoder.decode(bytes.subarray(0, bytesRead), { stream: true }));
  }
  if (signal.aborted) return { status: "error", output_text: "Stopped." };
  take(decoder.decode());
  if (current_length > 0) endLine();

  const path = named(place);
  const total = isWhole ? { total_lines: number } : {};
  if (number === 0)
    return {
      output_text: "[The file is empty.]",
      ui_extra: { type: "read", path, line_count: 0, total_lines: 0 },
    };
  if (shown.length === 0) {
    const known = isWhole
      ? `It has ${number} lines`
      : `Its first ${SCAN_LIMIT / 1024 ** 2} MB have ${number} lines`;
    return { status: "error", output_text: `${path} has no line ${offset}. ${known}.` };
  }
  const last = offset + shown.length - 1;
  const of = isWhole ? `${number}` : `more than ${number}`;
  const note =
    last < number || !isWhole
      ? `\n[Lines ${offset} to ${last} of ${of}; continue with offset ${last + 1}]`
      : "";
  return {
    output_text: shown.join("\n") + note,
    ui_extra: { type: "read", path, start_line: offset, line_count: shown.length, ...total },
  };
}

async function readImage(
  file: FileHandle,
  place: Place,
  mime_type: string,
  { host, call_id }: ToolContext,
): Promise<ToolOutput> {
  const { size } = await file.stat();
  const path = named(place);
  if (size > IMAGE_LIMIT)
    return {
      status: "error",
      output_text: `${path} is an image of ${size.toLocaleString("en")} bytes; the limit is ${IMAGE_LIMIT.toLocaleString("en")} bytes.`,
    };
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const whole = bytes.subarray(0, bytesRead);
  const file_path = fileOfCall(
    host,
    call_id,
    extname(basename(path))
      .toLowerCase()
      .replace(/[^.\w]/g, "")
      .slice(0, 8),
  );
  await writeFile(file_path, whole, { mode: 0o600 });
  return {
    output_text: `${path}: ${mime_type}, ${whole.length.toLocaleString("en")} bytes`,
    parts: [
      {
        type: "image_file",
        file_path,
        mime_type,
        byte_size: whole.length,
        sha256: createHash("sha256").update(whole).digest("hex"),
      },
    ],
    ui_extra: { type: "read", path },
  };
}

function textEncoding(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes.includes(0) ? undefined : "utf-8";
}
