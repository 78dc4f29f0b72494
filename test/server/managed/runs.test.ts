import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emptySummary } from "../../../src/model/transcript/summarize.ts";
import type { ManagedSession } from "../../../src/server/managed/managed-session.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { createRuns } from "../../../src/server/managed/runs.ts";
import { eventually } from "../../eventually.ts";
import { mountable, mountSmall } from "../small-disk.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, played, promptOf, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runs-"));
});
afterEach(async () => {
  await managed?.close();
  managed = undefined;
  rmSync(folder, { recursive: true });
});

async function open(play: Play, data = folder): Promise<ManagedSessions> {
  managed = await openManaged({ folder: data, agents: played(play) });
  return managed;
}
async function begin(at: ManagedSessions, text = "Go"): Promise<string> {
  const id = randomUUID();
  await at.start(id, { agent: "player", cwd: folder, prompt: promptOf(text) });
  return id;
}
const shown = async (at: ManagedSessions, id: string) => {
  const session = await at.open(id);
  return session ? words(session.transcript) : [];
};
const idle = (at: ManagedSessions, id: string) =>
  eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));

/** Starts the number of concurrent runs in its prompt. Each run streams its name repeatedly. */
const parent: Play = async (stage, prompt, signal) => {
  const [said] = prompt.parts;
  const text = said?.type === "text" ? said.text : "";
  if (stage.host.depth > 0) {
    await stage.say(`${text} `.repeat(60));
    return "completed";
  }
  const names = Array.from({ length: Number(text) }, (_, n) => `run-${n}`);
  for (const name of names) stage.call(name, "task");
  const reports = await Promise.all(
    names.map((name) => stage.host.startRun({ tool_call_id: name, name, prompt: name }, signal)),
  );
  for (const [index, name] of names.entries()) stage.result(name, reports[index]?.text ?? "");
  return "completed";
};

describe("runs", () => {
  it("work in parallel, 20 of them, without mixing", async () => {
    const at = await open(parent);
    const id = await begin(at, "20");
    await idle(at, id);
    // The list publishes changes with a delay.
    const rows = await eventually(() => {
      const runs = at.list().filter((row) => row.parent?.session_id === id);
      expect(runs).toHaveLength(20);
      return runs;
    });
    for (const row of rows) {
      const name = row.run?.name ?? "";
      expect(row.parent?.tool_call_id).toBe(name);
      expect(await shown(at, row.id)).toEqual([`prompt: ${name}`, `text: ${`${name} `.repeat(60)}`]);
    }
    const calls = [...((await at.open(id))?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "tool_call" ? [[part.tool_call_id, part.run?.session_id]] : [],
    );
    expect(new Map(calls as [string, string][])).toEqual(
      new Map(rows.map((row) => [row.run?.name ?? "", row.id])),
    );
    expect(await shown(at, id)).toHaveLength(41);
    expect(at.get(id)?.runs).toBe(20);
  });

  it("report their last text, and whether a last step without text followed", async () => {
    const reports: unknown[] = [];
    const at = await open(async (stage, { parts: [said] }, signal) => {
      if (stage.host.depth === 0) {
        for (const prompt of ["Look", "Look and tell"]) {
          const { text, is_earlier } = await stage.host.startRun({ tool_call_id: prompt, prompt }, signal);
          reports.push([text, is_earlier]);
        }
        return "completed";
      }
      await stage.say("No problems so far.");
      stage.call("look", "read");
      stage.result("look", "eval(input)");
      await stage.say(said?.type === "text" && said.text === "Look and tell" ? "A hole!" : "");
      return "completed";
    });
    const id = await begin(at);
    await idle(at, id);
    expect(reports).toEqual([
      ["No problems so far.", true],
      ["A hole!", false],
    ]);
  });

  it("are stopped with their session, three levels down", async () => {
    const at = await open(async (stage, _prompt, signal) => {
      stage.call("below", "task");
      if (stage.host.depth < 3) {
        const report = await stage.host.startRun({ tool_call_id: "below", prompt: "Deeper" }, signal);
        expect(report.outcome).toBe("interrupted");
      } else await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      stage.interrupt();
      return "interrupted";
    });
    const id = await begin(at);
    await eventually(() => expect(at.list().map(({ run }) => run?.depth ?? 0)).toContain(3));
    await eventually(async () => {
      const innermost = at.list().find(({ run }) => run?.depth === 3);
      expect(await shown(at, innermost?.id ?? "")).toContain("call: task running");
    });
    await at.stop(id);
    await eventually(() =>
      expect(at.list().map(({ control }) => control?.state)).toEqual(["idle", "idle", "idle", "idle"]),
    );
    for (const row of at.list()) {
      expect(at.get(row.id)?.status).toBe("interrupted");
      expect(await shown(at, row.id)).toContain("call: task aborted");
    }
  });

  it("are recorded before they start, and linked to their calls", async () => {
    const seen: string[] = [];
    const at = await open(async (stage, _prompt, signal) => {
      if (stage.host.depth > 0) {
        const self = at.get(stage.host.session_id);
        const link = self?.parent;
        seen.push(`${self?.status} of ${link?.tool_call_id}`);
        const call = [...((await at.open(link?.session_id ?? ""))?.transcript.parts ?? [])].find(
          (part) => part?.type === "tool_call",
        );
        if (call?.type === "tool_call") seen.push(String(call.run?.session_id === stage.host.session_id));
        return "completed";
      }
      stage.call("c", "task");
      await stage.host.startRun({ tool_call_id: "c", prompt: "Child" }, signal);
      return "completed";
    });
    const id = await begin(at);
    await idle(at, id);
    expect(seen).toEqual(["running of c", "true"]);
    // A call that its agent left open counts as failed unless it was stopped.
    expect(await shown(at, id)).toContain("call: task error");
  });
});

describe.skipIf(!mountable)("a full disk (skipped where no small file system can be mounted)", () => {
  it("stops agents before they act, shows nothing that could be lost, is reported, and is recovered from", async () => {
    const data = join(folder, "data");
    expect(mountSmall(data, 1_500_000)).toBe(true);
    let acted = 0;
    try {
      const long = "What the agent says. ".repeat(40_000);
      const at = await open(async (stage) => {
        await stage.say("Before.");
        await stage.host.stored();
        writeFileSync(join(data, "ballast"), Buffer.alloc(1_000_000));
        const part_id = randomUUID();
        const common = { session_id: stage.host.session_id, at: stage.host.now() };
        stage.host.emit({ ...common, type: "message.start", message_id: part_id });
        stage.host.emit({ ...common, type: "message.delta", kind: "text", text: long });
        stage.host.emit({ ...common, type: "message.end", message_id: part_id, stop_reason: "stop" });
        await stage.host.stored();
        acted += 1;
        return "completed";
      }, data);
      const notices = () =>
        at
          .status()
          .notices.map(({ text }) => text)
          .join();
      const id = await begin(at);
      await eventually(() => expect(notices()).toContain("cannot be written"));
      expect(await shown(at, id)).toEqual(["prompt: Go", "text: Before."]);
      expect(acted).toBe(0);
      expect(at.get(id)?.control?.state).toBe("working");
      rmSync(join(data, "ballast"));
      spawnSync("mount", ["-o", "remount,size=64m", data]);
      await idle(at, id);
      expect(notices()).toBe("");
      expect(acted).toBe(1);
      const whole = ["prompt: Go", "text: Before.", `text: ${long}`];
      expect(await shown(at, id)).toEqual(whole);
      await at.close();
      expect(await shown(await open(async () => "completed", data), id)).toEqual(whole);
    } finally {
      await managed?.close();
      managed = undefined;
      spawnSync("umount", [data]);
    }
  });
});

it("the runs below a session are found in linear time", () => {
  const cpuOf = (count: number): number => {
    const entryOf = (id: string, parent?: string): ManagedSession => ({
      id,
      summary: emptySummary(id, "player", 0),
      config: {
        kind: "hosted",
        agent: "player",
        cwd: folder,
        depth: 0,
        created_at: 0,
        ...(parent === undefined ? {} : { parent: { session_id: parent, tool_call_id: id } }),
      },
      state: { queue: [], withdrawn: [] },
      has_pending: false,
      used_at: 0,
    });
    const ids = Array.from({ length: count }, (_, n) => `run-${n}`);
    // Half of the runs belong to the session, and each of these has one nested run.
    const entries = ids.map((id, n) => entryOf(id, n % 2 === 0 ? "top" : `run-${n - 1}`));
    const none = () => {
      throw new Error("Nothing is started here.");
    };
    const runs = createRuns({
      entries: new Map([entryOf("top"), entryOf("other"), ...entries].map((entry) => [entry.id, entry])),
      begin: none,
      load: none,
      hostOf: none,
      now: Date.now,
    });
    const before = process.cpuUsage();
    const below = runs.below("top");
    const cpu = process.cpuUsage(before).user / 1_000;
    expect(below.toSorted()).toEqual(ids.toSorted());
    return cpu;
  };
  cpuOf(500);
  const once = cpuOf(2_000);
  expect(cpuOf(16_000)).toBeLessThan(16 * once + 200);
});
