import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { exportSession } from "../../src/server/sessions/export.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { verbatim } from "../../src/sources/verbatim/format.ts";
import { eventually } from "../eventually.ts";
import { sharedData } from "../shared-data.ts";
import { storedIn } from "./stored-in.ts";

const fixtures = join(import.meta.dirname, "../fixtures");
const samples = join(import.meta.dirname, "../../src/server/samples");
const corpus = sharedData("corpus");

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith(".jsonl") && statSync(path).isFile())
    .sort();

/** All frames of a file, by session. */
function framesOf(format: Format, path: string, bytes: Uint8Array): Map<string, Frame[]> {
  const reader = format.createReader({ path });
  const records = [...reader.push(bytes), ...reader.close()];
  return Map.groupBy(
    records.flatMap(({ frames }) => frames),
    ({ session_id }) => session_id,
  );
}

const fold = (session_id: string, frames: readonly Frame[]): Transcript =>
  frames.reduce(accumulate, emptyTranscript(session_id));

/** Everything that a transcript shows, without source positions, which differ in an export. */
const shownBy = (transcript: Transcript): string =>
  JSON.stringify([[...transcript.turns], [...transcript.parts]], (key, value) =>
    key === "source" ? undefined : value,
  );

async function* batches(frames: readonly Frame[]) {
  yield frames;
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

async function expectRoundTrip(path: string) {
  const bytes = readFileSync(path);
  const format = formats.find((candidate) => candidate.detect(bytes.subarray(0, 65_536)));
  if (format === undefined) return;
  for (const [id, frames] of framesOf(format, path, bytes)) {
    const jsonl = await textOf(exportSession({ id, agent: format.id }, batches(frames), "jsonl"));
    const again = Buffer.from(jsonl);
    expect(verbatim.detect(again.subarray(0, 65_536))).toBe(true);
    const read = framesOf(verbatim, "export.jsonl", again);
    expect([...read.keys()]).toEqual([id]);
    expect(shownBy(fold(id, read.get(id) ?? []))).toBe(shownBy(fold(id, frames)));
  }
}

describe("an exported session that is read back", () => {
  it.each([...filesBelow(samples), ...filesBelow(fixtures)])("shows the same parts: %s", expectRoundTrip);
});

describe.skipIf(!corpus)(
  "every real session that is exported and read back (skipped without the shared data)",
  () => {
    it.each(corpus === undefined ? [] : filesBelow(corpus))("shows the same parts: %s", expectRoundTrip);
  },
);

describe("the export route", () => {
  const access = newAccess();
  const root = join(samples, "claude-code");
  const data = realpathSync(mkdtempSync(join(tmpdir(), "export-")));
  const format = formats.find(({ id }) => id === "claude-code");
  if (format === undefined) throw new Error("Claude Code is not among the sources.");
  const sessions = createSessions({
    formats,
    roots: [{ format, path: root }],
    ...storedIn(data),
    hints: false,
  });
  const guard = createGuard({ origins: ["http://127.0.0.1:4747"], access });
  const app = createApp({ sessions, guard, version: "0" });
  const get = (path: string) =>
    app.request(`http://127.0.0.1:4747${path}`, {
      headers: { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}` },
    });
  const firstRow = () =>
    eventually(() => {
      const row = sessions.status().index.done
        ? sessions.list().find(({ parent }) => parent === undefined)
        : undefined;
      if (row === undefined) throw new Error("No session is listed yet.");
      return row;
    });
  afterAll(async () => {
    await sessions.close();
    rmSync(data, { recursive: true });
  });

  it("returns a session of an agent's file as history, which opens as the same session", async () => {
    const row = await firstRow();
    const response = await get(`/api/sessions/${row.id}/export`);
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${row.id}.jsonl"`);
    const read = framesOf(verbatim, "export.jsonl", Buffer.from(await response.text()));
    expect(fold(row.id, read.get(row.id) ?? []).parts.length).toBe(
      (await sessions.open(row.id))?.transcript.parts.length,
    );
  });

  it("returns Markdown with every turn and every text unchanged", async () => {
    const row = await firstRow();
    const markdown = await (await get(`/api/sessions/${row.id}/export?format=md`)).text();
    expect(markdown.match(/^## Turn /gm)).toHaveLength(row.turns);
    const open = await sessions.open(row.id);
    const texts = [...(open?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "text" ? [part.text] : [],
    );
    expect(texts.length).toBeGreaterThan(0);
    let at = 0;
    for (const text of texts) {
      at = markdown.indexOf(text, at);
      expect(at, `${text.slice(0, 60)} stands in its place`).toBeGreaterThan(-1);
    }
  });

  it("rejects unknown formats and sessions", async () => {
    const row = await firstRow();
    expect((await get(`/api/sessions/${row.id}/export?format=pdf`)).status).toBe(400);
    expect((await get("/api/sessions/00000000-0000-4000-8000-000000000000/export")).status).toBe(404);
  });
});
