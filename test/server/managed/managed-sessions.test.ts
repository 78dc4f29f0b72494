import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Request } from "../../../src/model/request.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, type PlayedOptions, played, promptOf, words } from "./play.ts";

let folder: string;
const running = new Set<ManagedSessions>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "managed-"));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const managed of running) await managed.close();
  running.clear();
  rmSync(folder, { recursive: true });
});

async function open(play: Play, options: PlayedOptions = {}): Promise<ManagedSessions> {
  const managed = await openManaged({ folder, agents: played(play, options) });
  expect(managed.status().notices).toEqual([]);
  running.add(managed);
  return managed;
}

async function close(managed: ManagedSessions): Promise<void> {
  running.delete(managed);
  await managed.close();
}

async function begin(managed: ManagedSessions, text: string): Promise<string> {
  const session_id = randomUUID();
  await managed.start(session_id, { agent: "player", cwd: folder, prompt: promptOf(text) });
  return session_id;
}

async function shown(managed: ManagedSessions, id: string): Promise<string[]> {
  const session = await managed.open(id);
  return session ? words(session.transcript) : [];
}

const idle = (managed: ManagedSessions, id: string) =>
  eventually(() => {
    expect(managed.get(id)?.control?.state).toBe("idle");
    expect(managed.get(id)?.status).not.toBe("running");
  });

const echo: Play = async (stage, prompt) => {
  const [part] = prompt.parts;
  await stage.say(`You said: ${part?.type === "text" ? part.text : ""}`);
  return "completed";
};

/** Starts a call, then waits to be stopped. */
const hang: Play = async (stage, _prompt, signal) => {
  stage.call("long", "shell");
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  stage.interrupt();
  return "interrupted";
};

const approval = (request_id: string, tool_call_id?: string): Request => ({
  request_id,
  kind: "approval",
  title: "Run ls?",
  subject: "ls",
  digest: createHash("sha256").update("ls").digest("hex"),
  options: [
    { id: "yes", label: "Allow", kind: "allow_once" },
    { id: "no", label: "Deny", kind: "reject_once" },
  ],
  ...(tool_call_id === undefined ? {} : { tool_call_id }),
});
const yes = { digest: approval(randomUUID()).digest ?? "", answer: { option_ids: ["yes"] } };
const no = { ...yes, answer: { option_ids: ["no"] } };

describe("a managed session", () => {
  it("shows its turn, also after a restart", async () => {
    const managed = await open(echo);
    const id = await begin(managed, "Hello");
    await idle(managed, id);
    const expected = ["prompt: Hello", "text: You said: Hello"];
    expect(await shown(managed, id)).toEqual(expected);
    expect(managed.get(id)).toMatchObject({
      agent: "player",
      status: "completed",
      turns: 1,
      steps: 1,
      scripted: true,
      first_prompt: "Hello",
      cwd: folder,
      usage: { input: 10, output: 5 },
    });
    const row = (of: ManagedSessions) => JSON.parse(JSON.stringify(of.get(id)));
    const before = row(managed);
    const parts = (await managed.open(id))?.transcript.parts;
    await close(managed);
    const again = await open(echo);
    expect(row(again)).toEqual(before);
    const session = await again.open(id);
    expect(JSON.parse(JSON.stringify(session?.summary))).toEqual(before);
    expect([...(session?.transcript.parts ?? [])]).toEqual([...(parts ?? [])]);
    await again.send(id, promptOf("More"), "queue");
    await idle(again, id);
    expect(await shown(again, id)).toEqual([...expected, "prompt: More", "text: You said: More"]);
  });

  it("reports the size of its agent's context, also after a restart", async () => {
    const managed = await open(async (stage, prompt, signal) => {
      const { session_id, now, emit } = stage.host;
      emit({ type: "context.usage", session_id, at: now(), tokens: 1_000 });
      await echo(stage, prompt, signal);
      emit({ type: "context.usage", session_id, at: now(), tokens: 2_000, limit: 8_000 });
      return "completed";
    });
    const id = await begin(managed, "Hello");
    await idle(managed, id);
    const context = { tokens: 2_000, limit: 8_000 };
    expect((await managed.open(id))?.transcript.context).toEqual(context);
    await close(managed);
    expect((await (await open(echo)).open(id))?.transcript.context).toEqual(context);
  });

  it("begins once and accepts a prompt once, however often it is sent, also after a restart", async () => {
    const managed = await open(echo);
    const id = randomUUID();
    const prompt = promptOf("Once");
    const start = (at: ManagedSessions) => at.start(id, { agent: "player", cwd: folder, prompt });
    await Promise.all([start(managed), start(managed), managed.send(id, prompt, "queue")]);
    await idle(managed, id);
    await start(managed);
    await close(managed);
    const again = await open(echo);
    await start(again);
    await again.send(id, prompt, "steer");
    expect(await shown(again, id)).toEqual(["prompt: Once", "text: You said: Once"]);
    for (const other of [{ prompt: promptOf("Other") }, { cwd: "/srv" }]) {
      const given = { agent: "player", cwd: folder, prompt, ...other };
      await expect(again.start(id, given)).rejects.toMatchObject({ code: "session_id" });
    }
  });

  it("queues prompts, withdraws them, and steers into the turn", async () => {
    let release = () => {};
    const managed = await open(async (stage, prompt, signal) => {
      if (prompt.parts[0]?.type === "text" && prompt.parts[0].text === "First") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        for (const taken of stage.host.takeSteering()) await echo(stage, taken, signal);
      }
      return await echo(stage, prompt, signal);
    });
    const id = await begin(managed, "First");
    const back = promptOf("Not this");
    await managed.send(id, promptOf("Second,\nand on"), "queue");
    await managed.send(id, back, "queue");
    await managed.send(id, promptOf("Now"), "steer");
    await eventually(() =>
      expect(managed.get(id)?.control?.queued.map(({ text }) => text)).toEqual([
        "Second, and on",
        "Not this",
      ]),
    );
    expect(await managed.waiting(id, back.message_id)).toEqual(back);
    await managed.withdraw(id, back.message_id);
    await managed.withdraw(id, back.message_id);
    await expect(managed.waiting(id, back.message_id)).rejects.toThrow("No such prompt is queued.");
    await managed.send(id, back, "queue");
    release();
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual([
      "prompt: First",
      "steer: Now",
      "text: You said: Now",
      "text: You said: First",
      "prompt: Second,\nand on",
      "text: You said: Second,\nand on",
    ]);
    await expect(managed.withdraw(id, back.message_id)).resolves.toBeUndefined();
    await expect(managed.withdraw(id, randomUUID())).rejects.toMatchObject({ code: "no_prompt" });
  });

  it("confirms the withdrawal of a prompt to one of two people, also if repeated and after a restart", async () => {
    const managed = await open(hang);
    const id = await begin(managed, "Go");
    const prompt = promptOf("Later");
    await managed.send(id, prompt, "queue");
    const [one, other] = [randomUUID(), randomUUID()];
    await managed.withdraw(id, prompt.message_id, one);
    const gone = { code: "no_prompt", status: 404 };
    await expect(managed.withdraw(id, prompt.message_id, other)).rejects.toMatchObject(gone);
    await managed.withdraw(id, prompt.message_id, one);
    await close(managed);
    const again = await open(hang);
    await again.withdraw(id, prompt.message_id, one);
    await expect(again.withdraw(id, prompt.message_id, other)).rejects.toMatchObject(gone);
    await again.withdraw(id, prompt.message_id);
  });

  it("continues the turn for a steered prompt if the agent had just finished", async () => {
    let release = () => {};
    const managed = await open(async (stage, prompt, signal) => {
      const outcome = await echo(stage, prompt, signal);
      if (prompt.parts[0]?.type === "text" && prompt.parts[0].text === "First") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return outcome;
    });
    const id = await begin(managed, "First");
    await eventually(async () => expect(await shown(managed, id)).toHaveLength(2));
    await managed.send(id, promptOf("Late"), "steer");
    release();
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual([
      "prompt: First",
      "text: You said: First",
      "steer: Late",
      "text: You said: Late",
    ]);
    expect(managed.get(id)?.turns).toBe(1);
  });

  it("can be stopped: open calls are aborted, the turn is interrupted, and queued prompts wait for the user", async () => {
    const managed = await open(hang);
    const id = await begin(managed, "Go");
    await managed.send(id, promptOf("Later"), "queue");
    await eventually(async () => expect(await shown(managed, id)).toContain("call: shell running"));
    await managed.stop(id);
    await managed.stop(id);
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual([
      "prompt: Go",
      "call: shell aborted",
      "interrupt: Stopped",
      "result: aborted",
    ]);
    expect(managed.get(id)).toMatchObject({
      status: "interrupted",
      control: { queued: [{ text: "Later" }] },
    });
  });

  it.each([
    ["stop", "interrupted"],
    ["failure", "failed"],
  ] as const)(
    "holds queued prompts after a %s, and starts them before prompts sent later",
    async (_, status) => {
      let release = () => {};
      const managed = await open(async (stage, prompt, signal) => {
        const [part] = prompt.parts;
        if (part?.type !== "text" || part.text !== "Go") return await echo(stage, prompt, signal);
        await new Promise<void>((resolve) => {
          release = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        return status;
      });
      const id = await begin(managed, "Go");
      await managed.send(id, promptOf("One"), "queue");
      await managed.send(id, promptOf("Two"), "queue");
      if (status === "interrupted") await managed.stop(id);
      else release();
      await idle(managed, id);
      expect(managed.get(id)).toMatchObject({
        status,
        control: { queued: [{ text: "One" }, { text: "Two" }] },
      });
      await managed.send(id, promptOf("Three"), "steer");
      await eventually(() => expect(managed.get(id)?.turns).toBe(4));
      await idle(managed, id);
      expect((await shown(managed, id)).filter((line) => line.startsWith("prompt"))).toEqual([
        "prompt: Go",
        "prompt: One",
        "prompt: Two",
        "prompt: Three",
      ]);
    },
  );

  it("starts a held prompt on request, once, and the following ones after that turn", async () => {
    const managed = await open(async (stage, prompt, signal) => {
      const [part] = prompt.parts;
      const play = part?.type === "text" && part.text === "Go" ? hang : echo;
      return await play(stage, prompt, signal);
    });
    const id = await begin(managed, "Go");
    const one = promptOf("One");
    await managed.send(id, one, "queue");
    await managed.send(id, promptOf("Two"), "queue");
    await managed.beginHeld(id, one.message_id);
    expect(await managed.waiting(id, one.message_id)).toEqual(one);
    await managed.stop(id);
    await idle(managed, id);
    await managed.beginHeld(id, one.message_id);
    await managed.beginHeld(id, one.message_id);
    await eventually(() => expect(managed.get(id)?.turns).toBe(3));
    await idle(managed, id);
    await managed.beginHeld(id, one.message_id);
    expect((await shown(managed, id)).slice(-4)).toEqual([
      "prompt: One",
      "text: You said: One",
      "prompt: Two",
      "text: You said: Two",
    ]);
    await expect(managed.beginHeld(id, randomUUID())).rejects.toMatchObject({ code: "no_prompt" });
  });

  it.each([
    ["keeps holding it", []],
    ["starts it before prompts sent meanwhile", ["Two"]],
  ])("compacts while a prompt is held, and %s", async (_, meanwhile) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const play: Play = async (stage, prompt, signal) => {
      const [part] = prompt.parts;
      return await (part?.type === "text" && part.text === "Go" ? hang : echo)(stage, prompt, signal);
    };
    const managed = await open(play, { can_steer: false, compact: () => released.then(() => "completed") });
    const id = await begin(managed, "Go");
    await managed.send(id, promptOf("One"), "queue");
    await managed.stop(id);
    await idle(managed, id);
    await managed.compact(id);
    for (const text of meanwhile) await managed.send(id, promptOf(text), "queue");
    release();
    await eventually(() => expect(managed.get(id)?.turns).toBe(meanwhile.length === 0 ? 2 : 4));
    await idle(managed, id);
    expect(managed.get(id)?.status).toBe("completed");
    expect((await shown(managed, id)).filter((line) => line.startsWith("prompt"))).toEqual(
      ["Go", ...(meanwhile.length === 0 ? [] : ["One", ...meanwhile])].map((text) => `prompt: ${text}`),
    );
    expect(managed.get(id)?.control?.queued).toMatchObject(meanwhile.length === 0 ? [{ text: "One" }] : []);
  });

  it("runs prompts steered into a compaction, then queued ones, and compacts again", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let compactions = 0;
    const play: Play = async (stage, prompt, signal) => {
      const [part] = prompt.parts;
      return await (part?.type === "text" && part.text === "Go" ? hang : echo)(stage, prompt, signal);
    };
    const compact: Play = async () => {
      await gates[compactions++]?.promise;
      return "completed";
    };
    const managed = await open(play, { compact });
    const id = await begin(managed, "Go");
    await managed.send(id, promptOf("One"), "queue");
    await managed.stop(id);
    await idle(managed, id);
    await managed.compact(id);
    await eventually(() => expect(compactions).toBe(1));
    await managed.send(id, promptOf("Two"), "steer");
    gates[0]?.resolve();
    await eventually(async () => expect((await shown(managed, id)).at(-1)).toBe("text: You said: One"));
    await idle(managed, id);
    expect((await shown(managed, id)).slice(-4)).toEqual([
      "steer: Two",
      "text: You said: Two",
      "prompt: One",
      "text: You said: One",
    ]);
    await managed.compact(id);
    await eventually(() => expect(compactions).toBe(2));
    await managed.send(id, promptOf("Three"), "steer");
    gates[1]?.resolve();
    await idle(managed, id);
    expect((await shown(managed, id)).at(-1)).toBe("text: You said: Three");
    await managed.compact(id);
    await eventually(() => expect(compactions).toBe(3));
  });

  it("is stopped only in the named turn, not in one that began later", async () => {
    let release = () => {};
    const managed = await open(async (stage, prompt, signal) => {
      const [part] = prompt.parts;
      if (part?.type === "text" && part.text === "Second") return await hang(stage, prompt, signal);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return "completed";
    });
    const running = async () => {
      const turns = [...((await managed.open(id))?.transcript.turns ?? [])];
      return turns.at(-1)?.id;
    };
    const id = await begin(managed, "First");
    const first = await running();
    await managed.send(id, promptOf("Second"), "queue");
    await eventually(() => {
      release();
      expect(managed.get(id)?.turns).toBe(2);
    });
    await eventually(async () => expect(await shown(managed, id)).toContain("call: shell running"));
    await managed.stop(id, first);
    await managed.stop(id, randomUUID());
    expect(await shown(managed, id)).toEqual(["prompt: First", "prompt: Second", "call: shell running"]);
    await managed.stop(id, await running());
    await idle(managed, id);
    expect(await shown(managed, id)).toContain("call: shell aborted");
  });

  it("is stopped for that turn only: one that runs 30 s later continues, also if the first was steered at its end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    let release = () => {};
    const managed = await open(async (stage, prompt, signal) => {
      const [part] = prompt.parts;
      if (part?.type === "text" && part.text === "Late") return await hang(stage, prompt, signal);
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await echo(stage, prompt, signal);
      await released;
      await stage.say("Done");
      return "completed";
    });
    const id = await begin(managed, "First");
    await eventually(async () => expect(await shown(managed, id)).toContain("text: You said: First"));
    await managed.send(id, promptOf("Late"), "steer");
    release();
    await eventually(async () => expect(await shown(managed, id)).toContain("call: shell running"));
    await managed.stop(id);
    await idle(managed, id);
    await managed.send(id, promptOf("Next"), "queue");
    await eventually(async () => expect(await shown(managed, id)).toContain("text: You said: Next"));
    vi.advanceTimersByTime(60_000);
    release();
    await idle(managed, id);
    expect((await shown(managed, id)).at(-1)).toBe("text: Done");
  });

  it("shows the error if its agent throws", async () => {
    const managed = await open(async () => {
      throw new Error("No such model.");
    });
    const id = await begin(managed, "Go");
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual(["prompt: Go", "error: No such model."]);
    expect(managed.get(id)?.status).toBe("failed");
  });
});

describe("a request to the user", () => {
  it("is answered once, by the first answer, whose digest must match what is run", async () => {
    const request_id = randomUUID();
    const managed = await open(async (stage, _prompt, signal) => {
      stage.call("c", "shell");
      const answer = await stage.host.ask(approval(request_id, "c"), signal);
      stage.result("c", answer?.option_ids.join() ?? "nothing");
      return "completed";
    });
    const id = await begin(managed, "Go");
    await eventually(() =>
      expect(managed.get(id)?.requests).toMatchObject([{ request_id, title: "Run ls?" }]),
    );
    expect(managed.get(id)?.control?.state).toBe("waiting");
    await expect(managed.answer(id, request_id, { ...yes, digest: "00" })).rejects.toMatchObject({
      code: "digest",
    });
    await expect(managed.answer(id, request_id, { answer: yes.answer })).rejects.toMatchObject({
      code: "digest",
    });
    await expect(
      managed.answer(id, request_id, { ...yes, answer: { option_ids: ["maybe"] } }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(
      managed.answer(id, request_id, { ...yes, answer: { option_ids: ["yes", "no"] } }),
    ).rejects.toMatchObject({ status: 400 });
    const replies = await Promise.all([
      managed.answer(id, request_id, yes),
      managed.answer(id, request_id, no),
    ]);
    const first = { outcome: "answered", answer: { option_ids: ["yes"] } };
    expect(replies).toEqual([first, first]);
    await idle(managed, id);
    expect(await managed.answer(id, request_id, no)).toEqual(first);
    expect(await shown(managed, id)).toEqual([
      "prompt: Go",
      "call: shell completed",
      "approval: answered yes",
      "result: success yes",
    ]);
    expect(managed.get(id)?.requests).toBeUndefined();
    await expect(managed.answer(id, randomUUID(), yes)).rejects.toMatchObject({ code: "no_request" });
  });

  it("is in the list only once its part is in the transcript", async () => {
    const request_id = randomUUID();
    const managed = await open(async (stage, _prompt, signal) => {
      await stage.host.ask(approval(request_id), signal);
      return "completed";
    });
    const id = await begin(managed, "Go");
    const session = await managed.open(id);
    const seen: boolean[] = [];
    const look = () => {
      if (managed.get(id)?.requests?.some((asked) => asked.request_id === request_id) !== true) return;
      seen.push([...(session?.transcript.parts ?? [])].some((part) => part?.id === request_id));
    };
    const end = managed.subscribe(look);
    await eventually(() => expect(seen).not.toEqual([]));
    end();
    expect(seen).not.toContain(false);
    await managed.answer(id, request_id, yes);
    await idle(managed, id);
  });

  it("expires visibly", async () => {
    const managed = await open(async (stage, _prompt, signal) => {
      const answer = await stage.host.ask({ ...approval(randomUUID()), expires_at: Date.now() + 20 }, signal);
      await stage.say(String(answer));
      return "completed";
    });
    const id = await begin(managed, "Go");
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual(["prompt: Go", "approval: expired", "text: undefined"]);
  });

  describe("that expired while the machine was asleep", () => {
    const request_id = randomUUID();
    async function asleep(): Promise<{ managed: ManagedSessions; id: string }> {
      let elapsed_ms = 0;
      const play: Play = async (stage, _prompt, signal) => {
        const expires_at = Date.now() + 60_000;
        await stage.say(String(await stage.host.ask({ ...approval(request_id), expires_at }, signal)));
        return "completed";
      };
      const managed = await openManaged({ folder, agents: played(play), now: () => Date.now() + elapsed_ms });
      running.add(managed);
      const id = await begin(managed, "Go");
      await eventually(() => expect(managed.get(id)?.requests).toHaveLength(1));
      elapsed_ms = 8 * 3_600_000;
      return { managed, id };
    }
    const expired = ["prompt: Go", "approval: expired", "text: undefined"];

    it("can no longer be allowed", async () => {
      const { managed, id } = await asleep();
      expect(await managed.answer(id, request_id, yes)).toEqual({ outcome: "expired" });
      await idle(managed, id);
      expect(await shown(managed, id)).toEqual(expired);
    });

    it("is closed within half a minute after waking up", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
      const { managed, id } = await asleep();
      vi.advanceTimersByTime(30_000);
      await eventually(async () => expect(await shown(managed, id)).toEqual(expired));
    });
  });

  it("is withdrawn by a stop", async () => {
    const request_id = randomUUID();
    const managed = await open(async (stage, _prompt, signal) => {
      await stage.host.ask(approval(request_id), signal);
      stage.interrupt();
      return "interrupted";
    });
    const id = await begin(managed, "Go");
    await eventually(() => expect(managed.get(id)?.requests).toHaveLength(1));
    await managed.stop(id);
    await idle(managed, id);
    expect(await shown(managed, id)).toEqual(["prompt: Go", "approval: cancelled", "interrupt: Stopped"]);
    expect(await managed.answer(id, request_id, yes)).toEqual({ outcome: "cancelled" });
  });
});

it("shows the event that each part was made from, not others that refer to it", async () => {
  const message_id = randomUUID();
  const [text_id, call_id, note_id, request_id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const managed = await open(async ({ host, say, result }) => {
    const common = { session_id: host.session_id, at: host.now() };
    host.emit({ ...common, type: "message.start", message_id });
    host.emit({ ...common, type: "message.part_start", part_id: text_id, kind: "text" });
    host.emit({ ...common, type: "message.part_end", part_id: text_id, text: "I look." });
    const call = { part_id: call_id, tool_call_id: "c", tool_name: "bash", arguments_json: "{}" };
    host.emit({ ...common, type: "message.tool_call", message_id, ...call });
    // Agents that are driven by a protocol emit all this before the message with the call ends.
    host.emit({ ...common, type: "task.metadata", tool_call_id: "c", metadata: { of: text_id } });
    const request = { request_id, kind: "question" as const, title: note_id, options: [] };
    host.emit({ ...common, type: "request.open", request });
    host.emit({ ...common, type: "marker", kind: "note", part_id: note_id, title: request_id });
    result("c", call_id);
    host.emit({ ...common, type: "message.end", message_id, stop_reason: "tool_use" });
    await say(note_id);
    host.emit({ ...common, type: "message.retract", message_id, part_id: text_id, reason: "Wrong" });
    return "completed";
  });
  const id = await begin(managed, "Go");
  await idle(managed, id);
  const parts = [...((await managed.open(id))?.transcript.parts ?? [])].filter((part) => part !== undefined);
  const told = await Promise.all(
    parts.map(async (part) => {
      const event = JSON.parse((await managed.raw(id, part.id))?.text ?? "{}");
      return `${part.type} of ${event.role ?? event.type}${event.id === message_id ? " one" : ""}`;
    }),
  );
  expect(told).toEqual([
    "prompt of user",
    "step_start of assistant one",
    "text of assistant one",
    "tool_call of assistant one",
    "request of request",
    "marker of marker",
    "tool_result of tool",
    "step_finish of assistant one",
    "step_start of assistant",
    "text of assistant",
    "step_finish of assistant",
  ]);
});
