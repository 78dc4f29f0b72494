import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ClaudeSession, TimedLine } from "./claude-code.ts";
import type { CodexSession } from "./codex.ts";
import { lineSearch, slowBenchmark } from "./gridsolve.ts";
import { discovery } from "./kiln.ts";
import { chartLegend, daylightSaving, memoryGrowth, storeMigration } from "./tidewatch.ts";

const text = (lines: TimedLine[]) => lines.map((line) => `${JSON.stringify(line.value)}\n`).join("");

function claudeFiles(project: string, session: ClaudeSession): [string, string][] {
  const folder = `claude-code/projects/${project}`;
  return [
    [`${folder}/${session.id}.jsonl`, text(session.lines)],
    ...session.agents.flatMap((agent): [string, string][] => [
      [`${folder}/${session.id}/subagents/agent-${agent.agent_id}.jsonl`, text(agent.lines)],
      [`${folder}/${session.id}/subagents/agent-${agent.agent_id}.meta.json`, JSON.stringify(agent.meta)],
    ]),
  ];
}

function codexFile(session: CodexSession, id: string, local: string): [string, string] {
  const [day = ""] = local.split("T");
  const name = `rollout-${local.replaceAll(":", "-")}-${id}.jsonl`;
  return [`codex/sessions/${day.replaceAll("-", "/")}/${name}`, text(session.lines)];
}

/** Every sample file by its path below `src/server/samples`. */
export function sampleFiles(): Map<string, string> {
  return new Map([
    ...claudeFiles("-home-mara-tidewatch", daylightSaving()),
    ...claudeFiles("-home-mara-tidewatch", memoryGrowth()),
    ...claudeFiles("-home-mara-tidewatch", chartLegend()),
    ...claudeFiles("-home-mara-tidewatch", storeMigration()),
    ...claudeFiles("-home-mara-kiln", discovery()),
    codexFile(lineSearch(), "01a1f6c2-3d40-7b11-8e52-6c09f7a4d810", "2026-11-17T20:30:02"),
    codexFile(slowBenchmark(), "01a1f1a9-77c0-7e20-9a04-2f8b6d13c5e9", "2026-11-16T21:11:40"),
  ]);
}

/** `node test/samples/write.ts` writes the samples again from their stories. */
if (import.meta.main) {
  const root = resolve(import.meta.dirname, "../../src/server/samples");
  rmSync(root, { recursive: true, force: true });
  for (const [path, content] of sampleFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
