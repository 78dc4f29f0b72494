import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { namedStores, sessionRoots } from "../../src/server/cli/agent-folders.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { hasSessions } from "../../src/server/import/samples.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { cline } from "../../src/sources/cline/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { openclaw } from "../../src/sources/openclaw/format.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { pi } from "../../src/sources/pi/format.ts";
import { qwenCode } from "../../src/sources/qwen-code/format.ts";
import { eventually } from "../eventually.ts";
import { storedIn } from "./stored-in.ts";

const fixtures = join(import.meta.dirname, "../fixtures");
let home: string;
let place: string;
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "places-")));
  [home, place] = [join(folder, "home"), join(folder, "elsewhere")];
  for (const path of [home, place]) mkdirSync(path);
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(join(home, ".."), { recursive: true });
});

/** The agents of the sessions that are found in the usual places of an agent. */
async function agentsFound(format: Format): Promise<string[]> {
  const roots = sessionRoots(format);
  const paths = namedStores(format);
  expect(paths.length > 0 || (await hasSessions(roots))).toBe(true);
  const data = join(home, "data");
  const sessions = createSessions({ formats: [format], roots, paths, ...storedIn(data), hints: false });
  try {
    return await eventually(() => {
      expect(sessions.status().index.done).toBe(true);
      expect(sessions.list().length).toBeGreaterThan(0);
      return [...new Set(sessions.list().map(({ agent }) => agent))];
    });
  } finally {
    await sessions.close();
  }
}

it.each<[string, Format, string, string]>([
  ["PI_CODING_AGENT_SESSION_DIR", pi, "pi/--home-mara-tide--", "."],
  ["QWEN_RUNTIME_DIR", qwenCode, "qwen-code/projects", "projects"],
  ["OPENCLAW_HOME", openclaw, "openclaw/agents", ".openclaw/agents"],
])("finds the sessions in the place that %s names", async (variable, format, from, to) => {
  cpSync(join(fixtures, from), join(place, to), { recursive: true });
  expect(await hasSessions(sessionRoots(format))).toBe(false);
  vi.stubEnv(variable, place);
  expect(await agentsFound(format)).toEqual([format.id]);
});

it("finds sessions of Claude Code below the folder for settings, if there is one", async () => {
  expect(sessionRoots(claudeCode)).toHaveLength(1);
  cpSync(join(fixtures, "claude-code"), join(home, ".config/claude/projects/-p"), { recursive: true });
  expect(await agentsFound(claudeCode)).toEqual([claudeCode.id]);
});

it("finds the sessions of Cline in the folder that CLINE_SESSION_DATA_DIR names", async () => {
  mkdirSync(join(place, "1_a"));
  const document = {
    agent: "lead",
    sessionId: "1_a",
    origin: {},
    messages: [{ role: "user", content: "Hi" }],
  };
  writeFileSync(join(place, "1_a/1_a.messages.json"), JSON.stringify(document));
  vi.stubEnv("CLINE_SESSION_DATA_DIR", place);
  expect(await agentsFound(cline)).toEqual([cline.id]);
});

it.each([
  ["absolute", (): string => join(place, "work.db")],
  ["relative to opencode's folder", (): string => "work.db"],
])("finds the database that OPENCODE_DB names, %s", async (_, value) => {
  const folder = join(home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  vi.stubEnv("XDG_DATA_HOME", "");
  const store = new DatabaseSync(value() === "work.db" ? join(folder, "work.db") : value());
  store.exec(`
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
      time_created INTEGER, time_updated INTEGER, time_archived INTEGER, revert TEXT);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    INSERT INTO session (id, title, time_created, time_updated) VALUES ('ses_1', 'Tide', 1, 1);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"Hi"}');`);
  store.close();
  vi.stubEnv("OPENCODE_DB", value());
  expect(await agentsFound(openCode)).toEqual([openCode.id]);
});

it("finds no database that OPENCODE_DB does not name", () => {
  vi.stubEnv("OPENCODE_DB", ":memory:");
  expect(namedStores(openCode)).toEqual([]);
});
