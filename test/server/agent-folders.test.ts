import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sessionRoots } from "../../src/server/cli/agent-folders.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { hasSessions } from "../../src/server/import/samples.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { openclaw } from "../../src/sources/openclaw/format.ts";
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
  expect(await hasSessions(roots)).toBe(true);
  const data = join(home, "data");
  const sessions = createSessions({ formats: [format], roots, ...storedIn(data), hints: false });
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
