import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { cursorIde } from "../../src/sources/cursor-ide/format.ts";
import { eventually } from "../eventually.ts";
import { createCursorUser } from "../sources/cursor-ide-support.ts";

let home: string;
let sessions: Sessions | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cursor-ide-"));
});
afterEach(async () => {
  await sessions?.close();
  rmSync(home, { recursive: true, force: true });
});

function start(): Sessions {
  sessions = createSessions({
    formats: [cursorIde],
    roots: [{ format: cursorIde, path: home }],
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  return sessions;
}

it("lists the conversations of one database with their folders, and follows one without reloading it", async () => {
  const user = createCursorUser(join(home, ".config"));
  user.workspace("new", "file:///home/mara/tide");
  user.workspace("old", "file:///home/mara/wind", ["two"]);
  user.bubble("one", "u1", { type: 1, text: "One" });
  const createdAt = new Date().toISOString();
  user.bubble("one", "x1", { type: 2, createdAt, text: "It" });
  user.conversation("one", ["u1", "x1"], { status: "generating", workspaceIdentifier: { id: "new" } });
  user.bubble("two", "u1", { type: 1, text: "Two" });
  user.conversation("two", ["u1"]);
  // Extensions have folders beside the database, which are not searched.
  const other = createCursorUser(join(home, ".config/Cursor/User/globalStorage/extension"));
  other.bubble("other", "u1", { type: 1, text: "Other" });
  other.conversation("other", ["u1"]);
  const all = start();
  const rows = await eventually(() => {
    expect(all.list()).toHaveLength(2);
    return all.list();
  });
  expect(Object.fromEntries(rows.map(({ first_prompt, cwd }) => [first_prompt, cwd]))).toEqual({
    One: "/home/mara/tide",
    Two: "/home/mara/wind",
  });
  const open = await all.open(rows.find(({ first_prompt }) => first_prompt === "One")?.id ?? "");
  let resets = 0;
  open?.subscribe((event) => {
    if (event.type === "reset") resets += 1;
  });
  const textOf = () =>
    [...(open?.transcript.parts ?? [])].flatMap((part) => (part?.type === "text" ? [part.text] : []));
  expect(textOf()).toEqual(["It"]);
  user.bubble("one", "x1", { type: 2, createdAt, text: "It is one." });
  user.conversation("one", ["u1", "x1"], { status: "completed", workspaceIdentifier: { id: "new" } });
  await eventually(() => expect(textOf()).toEqual(["It is one."]));
  await eventually(() => expect(open?.transcript.turns.at(0)?.status).toBe("completed"));
  expect(resets).toBe(0);
  user.database.close();
  other.database.close();
});
