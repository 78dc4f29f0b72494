import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { grok } from "../../src/sources/grok/format.ts";
import { eventually } from "../eventually.ts";
import { storedIn } from "./stored-in.ts";

const ID = "9a6b7c8d-9e0f-4a1b-8c2d-3e4f50617287";
const timing = { hot: 5, list: 10, settle: 60_000, publish: 5, persist: 10, retry: 20, tick: 20 };

let folder: string;
const running = new Set<Sessions>();
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "replaced-files-")));
  mkdirSync(session(), { recursive: true });
});
afterEach(async () => {
  for (const sessions of running) await sessions.close();
  running.clear();
  rmSync(folder, { recursive: true });
});

const session = () => join(folder, "grok/sessions/%2Fhome", ID);
function start(): Sessions {
  const roots = [{ format: grok, path: join(folder, "grok") }];
  const data = storedIn(join(folder, "data"));
  const sessions = createSessions({ formats: [grok], roots, ...data, hints: false, timing });
  running.add(sessions);
  return sessions;
}

function writeHistory(): void {
  const content = [{ type: "text", text: "<user_query>\nFrom the history\n</user_query>" }];
  writeFileSync(join(session(), "chat_history.jsonl"), lines({ type: "user", content, prompt_index: 0 }));
}
function writeUpdates(text: string): void {
  const content = { type: "text", text };
  const update = { sessionUpdate: "user_message_chunk", content, _meta: { promptIndex: 0 } };
  const params = {
    sessionId: ID,
    update,
    _meta: { eventId: `${ID}-1`, agentTimestampMs: 1_790_000_000_000 },
  };
  writeFileSync(
    join(session(), "updates.jsonl"),
    lines({ timestamp: 1_790_000_000, method: "session/update", params }),
  );
}
const lines = (...records: object[]): string => records.map((each) => `${JSON.stringify(each)}\n`).join("");

/** The ids and prompts of the listed sessions. */
async function listed(sessions: Sessions): Promise<string[][]> {
  const rows: string[][] = [];
  for (const { id } of sessions.list()) {
    const parts = (await sessions.open(id))?.transcript.parts.slice() ?? [];
    rows.push([
      id,
      ...parts.flatMap((part) => (part?.type === "prompt" ? [JSON.stringify(part.parts)] : [])),
    ]);
  }
  return rows;
}
const prompt = (text: string): string => JSON.stringify([{ type: "text", text }]);

describe("a session with two files, one of which replaces the other", () => {
  it("is listed once, from the file that replaces the other", async () => {
    writeHistory();
    writeUpdates("From the updates");
    const sessions = start();
    await eventually(async () => expect(await listed(sessions)).toEqual([[ID, prompt("From the updates")]]));
  });

  it("keeps its id when that file appears later, and after a restart", async () => {
    writeHistory();
    writeFileSync(join(session(), "updates.jsonl"), "");
    const sessions = start();
    await eventually(async () => expect(await listed(sessions)).toEqual([[ID, prompt("From the history")]]));
    writeUpdates("From the updates");
    await eventually(async () => expect(await listed(sessions)).toEqual([[ID, prompt("From the updates")]]));
    running.delete(sessions);
    await sessions.close();
    const again = start();
    await eventually(async () => expect(await listed(again)).toEqual([[ID, prompt("From the updates")]]));
    expect(again.status().notices).toEqual([]);
  });

  it("keeps its id if an earlier version read the other file", async () => {
    writeHistory();
    const sessions = start();
    await eventually(async () => expect(await listed(sessions)).toEqual([[ID, prompt("From the history")]]));
    running.delete(sessions);
    await sessions.close();
    writeUpdates("From the updates");
    const again = start();
    await eventually(async () => expect(await listed(again)).toEqual([[ID, prompt("From the updates")]]));
  });
});
