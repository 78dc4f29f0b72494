import type { Hono } from "hono";
import { Refused, refusal } from "../sessions/refused.ts";
import { batchLines, type PostedFiles } from "./posted-files.ts";

/** Maximum size of a batch, in bytes. */
const BATCH_LIMIT = 64 * 1024 * 1024;

/** Adds the routes of posted session files. They accept the token for pushing, which gives access to nothing else. */
export function addPostedRoutes(app: Hono, files: PostedFiles): void {
  app.post("/api/ingest/files", async (context) => {
    const { agent = "", path = "", from } = context.req.query();
    try {
      const body = await limitedText(context.req.raw.body);
      return context.json(
        await files.append(
          { agent, path },
          { lines: batchLines(body), ...(from !== undefined && { from: indexOf(from) }) },
        ),
      );
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.header("connection", "close");
      return refusal(context, error);
    }
  });

  app.get("/api/ingest/files", async (context) => {
    const { agent = "", path = "", folder } = context.req.query();
    if (folder !== undefined) return context.json({ files: await files.list({ agent, path: folder }) });
    const content = await files.read({ agent, path });
    if (content === undefined) throw new Refused(404, "file", `No such file was posted: ${path}`);
    return context.body(content, 200, { "content-type": "application/x-ndjson" });
  });
}

function indexOf(from: string): number {
  if (!/^\d{1,15}$/.test(from)) throw new Refused(400, "from", "`from`: must be the index of a record.");
  return Number(from);
}

async function limitedText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > BATCH_LIMIT) {
      throw new Refused(
        413,
        "too_large",
        `A batch can have at most ${BATCH_LIMIT} bytes.`,
        "Post fewer records per batch.",
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
