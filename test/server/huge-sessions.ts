import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptPart, Turn } from "../../src/model/transcript/transcript.ts";
import { createSessions, type FileBackedSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import type { SessionsTiming } from "../../src/server/import/timing.ts";
import { type IndexState, openIndexState } from "../../src/server/index/index-state.ts";
import { loadPieces } from "../../src/server/sessions/load-parts.ts";
import type { OpenSession, Sessions } from "../../src/server/sessions/sessions.ts";
import type { Format } from "../../src/sources/contract.ts";
import { storedIn } from "./stored-in.ts";

const TIMING = { hot: 20, list: 50, publish: 5, persist: 20, tick: 50 };

/** The sessions of an agent's folder, with a part index in `data`, as the daemon has them. */
export async function startIndexed(
  format: Format,
  { agent, data, timing = TIMING }: { agent: string; data: string; timing?: Partial<SessionsTiming> },
): Promise<{ sessions: FileBackedSessions; state: IndexState; close(): Promise<void> }> {
  mkdirSync(data, { recursive: true });
  const state = await openIndexState(join(data, "index.db"), true);
  const indexer = createIndexer((report) => {
    if (report.type === "indexed") state.written(report.generation, report);
  });
  const sessions = createSessions({
    formats: [format],
    roots: [{ format, path: agent }],
    ...storedIn(data),
    indexer,
    part_index: state,
    hints: false,
    timing,
  });
  return {
    sessions,
    state,
    async close() {
      await sessions.close();
      state.close();
    },
  };
}

/** The same folder without threads: no session counts as huge, and all parts are in memory. */
export const startInMemory = (format: Format, agent: string): FileBackedSessions =>
  createSessions({
    formats: [format],
    roots: [{ format, path: agent }],
    hints: false,
    timing: TIMING,
  });

export async function opened(sessions: Pick<Sessions, "open">, id: string): Promise<OpenSession> {
  const open = await sessions.open(id);
  if (!open) throw new Error(`${id} cannot be opened`);
  return open;
}

/** All parts of a session, also those that are not in its view, and its turns. */
export async function wholeSession(open: OpenSession): Promise<{ turns: Turn[]; parts: TranscriptPart[] }> {
  const parts: TranscriptPart[] = [];
  for await (const { transcript, from, to } of loadPieces(open))
    for (const part of transcript.parts.slice(from, to)) if (part) parts.push(part);
  return { turns: [...open.transcript.turns].flatMap((turn) => turn ?? []), parts };
}
