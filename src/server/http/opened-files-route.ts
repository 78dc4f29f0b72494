import type { Hono } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { OPENED_HEAD_LIMIT, type OpenedFilesHead, openedFilesHead } from "../../protocol.ts";
import type { GivenFile, OpenedFiles } from "../sessions/opened-files.ts";
import { CUT_OFF, Refused, refusal } from "../sessions/refused.ts";

const NEWLINE = 0x0a;

/** Adds the routes for session files that a browser sends to open them without storing them. */
export function addOpenedFilesRoutes(app: Hono, opened_files: OpenedFiles): void {
  app.post("/api/opened-files", async (context) => {
    try {
      const files = await readFiles(context.req.raw.body, opened_files);
      return context.json(await opened_files.open(files), 201);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // The rest of the body is not read.
      context.header("connection", "close");
      return refusal(context, error);
    }
  });

  app.get("/api/opened-files/:session", (context) => {
    const found = opened_files.together(context.req.param("session"));
    if (found === undefined)
      throw new Refused(404, "no_session", daemonText("opened_file_closed"), daemonText("open_again"));
    return context.json(found);
  });
}

/** Reads a line of JSON with the files' sizes, then the files, into reserved memory. */
async function readFiles(
  body: ReadableStream<Uint8Array> | null,
  opened_files: OpenedFiles,
): Promise<GivenFile[]> {
  const pieces: Uint8Array[] = [];
  let files: GivenFile[] | undefined;
  let release = () => {};
  let at = 0;
  let filled = 0;
  /** Copies bytes into the current file. */
  const fill = (bytes: Uint8Array): void => {
    let rest = bytes;
    while (rest.length > 0) {
      const file = files?.[at];
      if (file === undefined) throw new Refused(400, "body", daemonText("body_longer_than_files"));
      const piece = rest.subarray(0, file.bytes.length - filled);
      file.bytes.set(piece, filled);
      filled += piece.length;
      rest = rest.subarray(piece.length);
      if (filled < file.bytes.length) return;
      at += 1;
      filled = 0;
    }
  };
  try {
    for await (const chunk of body ?? []) {
      if (files) {
        fill(chunk);
        continue;
      }
      const newline = chunk.indexOf(NEWLINE);
      pieces.push(newline === -1 ? chunk : chunk.subarray(0, newline));
      if (pieces.reduce((sum, piece) => sum + piece.length, 0) > OPENED_HEAD_LIMIT)
        throw new Refused(413, "too_large", daemonText("file_list_too_long"));
      if (newline === -1) continue;
      const head = readHead(Buffer.concat(pieces).toString());
      release = opened_files.reserve(head.files.reduce((sum, { size }) => sum + size, 0));
      files = head.files.map(({ path, size, modified_at }) => ({
        path: plainPath(path),
        bytes: new Uint8Array(size),
        modified_at,
      }));
      fill(chunk.subarray(newline + 1));
    }
    while (files?.[at]?.bytes.length === 0) at += 1;
    if (files === undefined || at < files.length) throw CUT_OFF;
    return files;
  } finally {
    // `open` counts the files itself.
    release();
  }
}

function readHead(text: string): OpenedFilesHead {
  try {
    const parsed = openedFilesHead.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Refused(400, "body", `\`${issue?.path.join(".") || "body"}\`: ${issue?.message ?? "wrong"}.`);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(400, "body", daemonText("first_line_not_json"));
  }
}

/** Whether a path is relative and has no `..`. */
const plainPath = (path: string): string =>
  path
    .split(/[\\/]+/)
    .filter((name) => name !== "" && name !== "." && name !== "..")
    .join("/") || "file";
