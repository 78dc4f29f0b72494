import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { WatchRoot } from "../../src/server/import/watch/found-file.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { hermes } from "../../src/sources/hermes/format.ts";
import { kiro } from "../../src/sources/kiro/format.ts";
import { eventually } from "../eventually.ts";
import { createState, writeTides } from "../sources/hermes-support.ts";
import { conversation, createDatabase, history } from "../sources/kiro-support.ts";

let home: string;
let sessions: Sessions | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "kiro-hermes-"));
});
afterEach(async () => {
  await sessions?.close();
  rmSync(home, { recursive: true, force: true });
});

function start(...roots: WatchRoot[]): Sessions {
  sessions = createSessions({
    formats: [kiro, hermes],
    roots,
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  return sessions;
}

it("lists Kiro CLI's conversations of the database and its logs, with the files beside them", async () => {
  const data = join(home, ".local/share");
  createDatabase(join(data, "kiro-cli/data.sqlite3")).put("/home/mara/wind", conversation("c1", history));
  const logs = join(home, ".kiro/sessions/cli");
  mkdirSync(logs, { recursive: true });
  const id = "8e247382-c779-440f-b1db-ed9bad1afaee";
  cpSync(join(import.meta.dirname, `../fixtures/kiro/sessions/cli/${id}.jsonl`), join(logs, `${id}.jsonl`));
  writeFileSync(
    join(logs, `${id}.json`),
    JSON.stringify({ session_id: id, cwd: "/home/mara/tide", title: "The tide" }),
  );
  const all = start(
    { format: kiro, path: join(home, ".kiro") },
    { format: kiro, path: data, folders: ["kiro-cli", "amazon-q"] },
  );
  await eventually(() => {
    expect(
      all
        .list()
        .map(({ cwd, title }) => [cwd, title])
        .sort(),
    ).toEqual([
      ["/home/mara/tide", "The tide"],
      ["/home/mara/wind", undefined],
    ]);
  });
});

it("lists the sessions of all of Hermes Agent's profiles, with sub-agents below them", async () => {
  writeTides(createState(join(home, ".hermes/state.db")));
  const other = createState(join(home, ".hermes/profiles/coder/state.db"));
  other.session("s", { title: "Code" });
  other.message("s", "user", "Hi");
  // A copy that is no profile.
  const copy = createState(join(home, ".hermes/backups/state.db"));
  copy.session("s2", { title: "Copy" });
  copy.message("s2", "user", "Hi");
  const all = start({ format: hermes, path: join(home, ".hermes") });
  await eventually(() => {
    const rows = all.list();
    expect(rows.map(({ title }) => title).sort()).toEqual(["Code", "Tides", undefined]);
    const tides = rows.find(({ title }) => title === "Tides");
    expect(rows.find(({ title }) => title === undefined)?.parent).toEqual({
      session_id: tides?.id,
      tool_call_id: "c4",
    });
  });
});
