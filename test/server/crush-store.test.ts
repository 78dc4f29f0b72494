import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { crush } from "../../src/sources/crush/format.ts";
import { eventually } from "../eventually.ts";
import { createCrush, finish, text } from "../sources/crush-support.ts";

let home: string;
let sessions: Sessions | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "crush-"));
});
afterEach(async () => {
  await sessions?.close();
  rmSync(home, { recursive: true, force: true });
});

it("finds the database of a project in a named folder, and follows an answer while it is written", async () => {
  const project = createCrush(join(home, "work/tide/.crush/crush.db"));
  const id = "5e6f7a8b-9c0d-4e1f-8a2b-3c4d5e6f7a8b";
  project.session(id, "Tides");
  project.put(id, "u1", "user", [text("Fix the tide table")]);
  project.put(id, "a1", "assistant", [text("It")]);
  sessions = createSessions({
    formats: [crush],
    roots: [{ format: crush, path: join(home, "global") }],
    paths: [join(home, "work")],
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  const all = sessions;
  await eventually(() => expect(all.list()).toMatchObject([{ id, title: "Tides" }]));
  const open = await all.open(id);
  const textsOf = () =>
    [...(open?.transcript.parts ?? [])].flatMap((part) => (part?.type === "text" ? [part.text] : []));
  await eventually(() => expect(textsOf()).toEqual(["It"]));
  project.update("a1", [text("It is fixed."), finish("end_turn")]);
  await eventually(() => expect(textsOf()).toEqual(["It is fixed."]));
  await eventually(() => expect(open?.transcript.turns.at(0)?.status).toBe("completed"));
  project.database.close();
});
