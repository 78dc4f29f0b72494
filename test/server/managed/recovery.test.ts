import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endGroup, markOf, startGroup } from "../../../src/agent/processes.ts";
import type { Request } from "../../../src/model/request.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, type PlayedOptions, played, promptOf, words } from "./play.ts";

let folder: string;
const running = new Set<ManagedSessions>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recovery-"));
});
afterEach(async () => {
  for (const managed of running) await managed.close();
  rmSync(folder, { recursive: true });
});

/** A shutdown leaves turns on disk unfinished, like a kill does. */
async function restart(
  play: Play,
  options: PlayedOptions = {},
  now: () => number = Date.now,
): Promise<ManagedSessions> {
  for (const managed of running) await managed.close();
  running.clear();
  const managed = await openManaged({ folder, agents: played(play, options), now });
  expect(managed.status().notices).toEqual([]);
  running.add(managed);
  return managed;
}

async function begin(managed: ManagedSessions): Promise<string> {
  const id = randomUUID();
  await managed.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
  return id;
}

async function shown(managed: ManagedSessions, id: string): Promise<string[]> {
  const session = await managed.open(id);
  return session ? words(session.transcript) : [];
}
const sees = (managed: ManagedSessions, id: string, line: string) =>
  eventually(async () => expect(await shown(managed, id)).toContain(line));
const idle = (managed: ManagedSessions, id: string) =>
  eventually(() => expect(managed.get(id)?.control?.state).toBe("idle"));

const question = (request_id: string, more: Partial<Request> = {}): Request => ({
  request_id,
  kind: "question",
  title: "Which?",
  options: [
    { id: "a", label: "A" },
    { id: "b", label: "B" },
  ],
  ...more,
});
const answer = { answer: { option_ids: ["b"] } };
const never = () => new Promise<never>(() => {});
const done: Play = async (stage) => {
  await stage.say("Done.");
  return "completed";
};

describe("a daemon that ended while its sessions were working", () => {
  it("kills the commands that a killed daemon left running, and no others, and notes it in the result", async () => {
    const started = (session_id: string, call_id: string) =>
      startGroup("/bin/sh", ["-c", "sleep 60 & sleep 60"], {
        env: { PATH: process.env.PATH ?? "" },
        mark: `${markOf(session_id, call_id)}${randomUUID()}`,
      });
    const first = await restart(async (stage) => {
      stage.call("ended", "shell");
      stage.result("ended", "Started a server.");
      stage.call("one", "shell");
      stage.call("two", "shell");
      await stage.host.stored();
      return await never();
    });
    const id = await begin(first);
    await sees(first, id, "call: shell running");
    const left = started(id, "one");
    const others = [started(id, "ended"), started(randomUUID(), "one")];
    const end = once(left, "exit");
    const second = await restart(done);
    expect(await end).toEqual([null, "SIGTERM"]);
    expect((await shown(second, id)).filter((line) => line.startsWith("result"))).toEqual([
      "result: success Started a server.",
      expect.stringMatching(
        /^result: aborted \[The daemon ended while this was running\. Its remaining processes/,
      ),
      "result: aborted",
    ]);
    for (const other of others) {
      expect(other.exitCode ?? other.signalCode).toBeNull();
      await endGroup(other.pid);
    }
  });

  it("finalizes what was open, keeps all parts, and continues with a new prompt", async () => {
    const first = await restart(async (stage) => {
      await stage.say("Before.");
      stage.call("one", "shell");
      stage.call("two", "read");
      stage.result("two", "Read.");
      await stage.host.stored();
      // A message that never ends.
      await stage.say("The beginning of", undefined, false);
      return await never();
    });
    const id = await begin(first);
    await sees(first, id, "text: The beginning of");
    const second = await restart(done);
    const settled = [
      "prompt: Go",
      "text: Before.",
      "call: shell aborted",
      "call: read completed",
      "result: success Read.",
      "text: The beginning of",
      "interrupt: Interrupted: The daemon ended",
      "result: aborted",
    ];
    expect(await shown(second, id)).toEqual(settled);
    expect(second.get(id)).toMatchObject({ status: "failed", control: { state: "idle" } });
    await second.send(id, promptOf("Again"), "queue");
    await idle(second, id);
    const whole = [...settled, "prompt: Again", "text: Done."];
    expect(await shown(second, id)).toEqual(whole);
    expect(await shown(await restart(done), id)).toEqual(whole);
  });

  it("does not count its downtime in turns and calls", async () => {
    const first = await restart(async (stage) => {
      stage.call("one", "shell");
      await stage.host.stored();
      return await never();
    });
    const id = await begin(first);
    await sees(first, id, "call: shell running");
    const last = first.get(id)?.last_activity_at ?? Number.NaN;
    const nextDay = () => Date.now() + 24 * 3_600_000;
    for (let time = 0; time < 2; time += 1) {
      const managed = await restart(done, {}, nextDay);
      const { turns, parts } = (await managed.open(id))?.transcript ?? {};
      expect(turns?.at(0)).toMatchObject({ status: "failed", ended_at: last });
      const ends = Array.from(parts ?? [], (part) => {
        if (part?.type === "tool_call" && part.state.status === "aborted") return part.state.time.end;
        return part?.type === "marker" ? part.at : undefined;
      });
      expect(ends.filter((end) => end !== undefined)).toEqual([last, last]);
      expect(managed.get(id)?.last_activity_at).toBe(last);
    }
  });

  it("counts in a call and its turn how long its run worked", async () => {
    let clock = Date.now();
    const work: Play = async (stage, _prompt, signal) => {
      if (stage.host.depth === 0) {
        stage.call("task", "task");
        await stage.host.startRun({ tool_call_id: "task", prompt: "Work" }, signal);
      }
      clock += 60_000;
      await stage.say("So far.");
      return await never();
    };
    const first = await restart(work, {}, () => clock);
    const id = await begin(first);
    await eventually(() => expect(first.list()).toHaveLength(2));
    const child = first.list().find((row) => row.id !== id)?.id ?? "";
    await sees(first, child, "text: So far.");
    const last = first.get(child)?.last_activity_at ?? Number.NaN;
    expect(last).toBeGreaterThan(first.get(id)?.last_activity_at ?? Number.NaN);
    const managed = await restart(done);
    for (const session_id of [id, child])
      expect((await managed.open(session_id))?.transcript.turns.at(0)).toMatchObject({ ended_at: last });
    expect(Array.from((await managed.open(id))?.transcript.parts ?? [])).toContainEqual(
      expect.objectContaining({
        tool_call_id: "task",
        state: expect.objectContaining({ status: "aborted", time: expect.objectContaining({ end: last }) }),
      }),
    );
  });

  it("waits for the same answer as before, and resumes if its agent can", async () => {
    const request_id = randomUUID();
    const ask: Play = async (stage, _prompt, signal) => {
      const said = await stage.host.ask(question(request_id, { tool_call_id: "asks" }), signal);
      stage.result("asks", said?.option_ids.join() ?? "nothing");
      return "completed";
    };
    const first = await restart(
      async (stage, prompt, signal) => {
        stage.call("works", "shell");
        stage.call("asks", "ask");
        return await ask(stage, prompt, signal);
      },
      { resume: ask },
    );
    const id = await begin(first);
    await sees(first, id, "question: open");
    const second = await restart(done, { resume: ask });
    expect(second.get(id)).toMatchObject({
      status: "running",
      control: { state: "waiting" },
      requests: [{ request_id }],
    });
    await second.answer(id, request_id, answer);
    await idle(second, id);
    const whole = [
      "prompt: Go",
      "call: shell aborted",
      "call: ask completed",
      "question: answered b",
      "result: aborted",
      "result: success b",
    ];
    expect(await shown(second, id)).toEqual(whole);
    expect(second.get(id)).toMatchObject({ status: "completed", turns: 1 });
    expect(await second.answer(id, request_id, { answer: { option_ids: ["a"] } })).toEqual({
      outcome: "answered",
      ...answer,
    });
    expect(await shown(await restart(done), id)).toEqual(whole);
  });

  it("closes a request that its agent can no longer wait for, and one that expired", async () => {
    const ask =
      (more: Partial<Request>): Play =>
      async (stage, _prompt, signal) => {
        stage.call("asks", "ask");
        await stage.host.ask(question(randomUUID(), { tool_call_id: "asks", ...more }), signal);
        return await never();
      };
    const first = await restart(ask({}));
    const id = await begin(first);
    await sees(first, id, "question: open");
    const second = await restart(ask({ expires_at: Date.now() + 1_000 }));
    expect(await shown(second, id)).toEqual([
      "prompt: Go",
      "call: ask aborted",
      "question: cancelled",
      "interrupt: Interrupted: The daemon ended",
      "result: aborted",
    ]);
    const other = await begin(second);
    await sees(second, other, "question: open");
    for (const managed of running) await managed.close();
    running.clear();
    await eventually(async () => {
      const third = await restart(done, { resume: never });
      expect(await shown(third, other)).toContain("question: expired");
    });
  });

  it("resumes a waiting run, and the session that waits for it", async () => {
    const request_id = randomUUID();
    const run: Play = async (stage, _prompt, signal) => {
      const report = await stage.host.startRun(
        { tool_call_id: "task", prompt: "Ask", name: "asker" },
        signal,
      );
      stage.result("task", `${report.outcome}: ${report.text}`);
      return "completed";
    };
    const asked: Play = async (stage, _prompt, signal) => {
      const said = await stage.host.ask(question(request_id), signal);
      await stage.say(`Chose ${said?.option_ids.join()}`);
      return "completed";
    };
    const resume: Play = (stage, prompt, signal) =>
      stage.host.depth === 0 ? run(stage, prompt, signal) : asked(stage, prompt, signal);
    const first = await restart(
      async (stage, prompt, signal) => {
        if (stage.host.depth === 0) stage.call("task", "task");
        return await resume(stage, prompt, signal);
      },
      { resume },
    );
    const id = await begin(first);
    await eventually(() => expect(first.list()).toHaveLength(2));
    const child = first.list().find((row) => row.id !== id)?.id ?? "";
    await sees(first, child, "question: open");
    const second = await restart(done, { resume });
    expect(second.list()).toHaveLength(2);
    expect(second.get(child)).toMatchObject({
      parent: { session_id: id, tool_call_id: "task" },
      run: { name: "asker", depth: 1 },
      control: { state: "waiting" },
    });
    await second.answer(child, request_id, answer);
    await idle(second, id);
    expect(await shown(second, id)).toEqual([
      "prompt: Go",
      "call: task completed",
      "result: success completed: Chose b",
    ]);
    expect(second.list()).toHaveLength(2);
    expect(await shown(second, child)).toEqual(["prompt: Ask", "question: answered b", "text: Chose b"]);
  });

  it("keeps queued prompts, and starts them before the next one", async () => {
    const first = await restart(never);
    const id = await begin(first);
    await first.send(id, promptOf("Waits"), "queue");
    const second = await restart(done);
    expect(second.get(id)?.control?.queued).toMatchObject([{ text: "Waits" }]);
    await second.send(id, promptOf("Now"), "queue");
    await eventually(() => expect(second.get(id)?.control?.queued).toEqual([]));
    await idle(second, id);
    expect((await shown(second, id)).filter((line) => !line.startsWith("interrupt"))).toEqual([
      "prompt: Go",
      "prompt: Waits",
      "text: Done.",
      "prompt: Now",
      "text: Done.",
    ]);
  });

  it("shows the sessions of another daemon on the same folder, and runs nothing itself", async () => {
    const first = await restart(done);
    const id = await begin(first);
    await idle(first, id);
    const second = await openManaged({ folder, agents: played(done) });
    expect(second.status().notices[0]?.text).toContain(`process ${process.pid}`);
    expect(await shown(second, id)).toEqual(["prompt: Go", "text: Done."]);
    expect(second.get(id)?.control).toBeUndefined();
    await expect(second.send(id, promptOf("More"), "queue")).rejects.toMatchObject({ code: "read_only" });
    await expect(begin(second)).rejects.toMatchObject({ code: "read_only" });
    await second.close();
  });
});
