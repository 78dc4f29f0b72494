import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ingestToken } from "../../../src/server/auth/access.ts";
import { createIngestion } from "../../../src/server/managed/ingest.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { eventually } from "../../eventually.ts";
import { startTestServer, type TestServer } from "../test-server.ts";
import { openManaged } from "./open-managed.ts";
import { played, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions;
let httpServer: TestServer;
let id: string;

const start = async (now = Date.now, isElsewhere = (_id: string) => false) => {
  managed = await openManaged({
    folder,
    agents: played(async () => "completed"),
    now,
    isInOtherSource: isElsewhere,
  });
  httpServer = await startTestServer({ sessions: managed, managed });
};
const stop = async () => {
  await httpServer.close();
  await managed.close();
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ingest-"));
  id = randomUUID();
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const address = (query = "") => `${httpServer.origin}/api/ingest/${id}${query}`;
const bearer = () => ({ authorization: `Bearer ${ingestToken(httpServer.access)}` });

async function push(body: string | object[], query = "") {
  const text = typeof body === "string" ? body : body.map((line) => `${JSON.stringify(line)}\n`).join("");
  const reply = await fetch(address(query), { method: "POST", headers: bearer(), body: text });
  return { status: reply.status, body: await reply.json() };
}
const shown = async (of = id) => {
  const session = await managed.open(of);
  return session ? words(session.transcript) : [];
};

const [message, part, prompt, turn] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const at = 1_790_000_000_000;
/** One turn: a prompt, a text in two deltas, a call and its result. */
const whole = [
  { type: "turn.start", at, turn_id: turn },
  { type: "user.message", at, message_id: prompt, parts: [{ type: "text", text: "Go" }] },
  { type: "message.start", at, message_id: message, model: "theirs" },
  { type: "message.part_start", at, part_id: part, kind: "text" },
  { type: "message.delta", at, kind: "text", part_id: part, text: "Hello, ", offset: 0 },
  { type: "message.delta", at, kind: "text", part_id: part, text: "harbour.", offset: 7 },
  { type: "message.part_end", at, part_id: part },
  { type: "message.tool_call", at, tool_call_id: "c", tool_name: "shell", arguments_json: "{}" },
  { type: "message.end", at, message_id: message, stop_reason: "tool_use" },
  {
    type: "message.tool_result",
    at,
    tool_call_id: "c",
    is_error: false,
    status: "success",
    output_text: "ok",
    parts: [],
  },
  { type: "turn.end", at, turn_id: turn, status: "completed" },
];
const numbered = whole.map((frame, index) => ({ ...frame, epoch: "one", seq: index + 1 }));
const transcript = ["prompt: Go", "text: Hello, harbour.", "call: shell completed", "result: success ok"];

it("creates no session with an id of another source, and continues existing ones", async () => {
  expect((await push(whole.slice(0, 2))).status).toBe(200);
  await stop();
  const [begun, taken] = [id, randomUUID()];
  await start(Date.now, (other) => other === begun || other === taken);
  expect((await push(whole.slice(2))).status).toBe(200);
  expect(await shown()).toEqual(transcript);
  id = taken;
  expect(await push(whole)).toMatchObject({
    status: 409,
    body: { error: { code: "session_id", message: expect.stringContaining("agent's file") } },
  });
  const given = { agent: "played", cwd: folder, prompt: { message_id: randomUUID(), parts: [] } };
  await expect(managed.start(taken, given)).rejects.toMatchObject({ status: 409, code: "session_id" });
  expect(managed.list()).toHaveLength(1);
});

describe("frames that an agent pushes", () => {
  it("are a session in the list, also after a restart", async () => {
    expect(await push(whole, "?agent=their-agent")).toEqual({
      status: 200,
      body: { applied: whole.length, repeated: 0 },
    });
    expect(await shown()).toEqual(transcript);
    await stop();
    await start();
    expect(await shown()).toEqual(transcript);
    expect(managed.get(id)).toMatchObject({
      agent: "their-agent",
      status: "completed",
      model: "theirs",
      turns: 1,
    });
    expect(managed.get(id)?.control).toBeUndefined();
  });

  it("mark changes made after the turn's end, also after a restart, and keep the first version", async () => {
    await push(whole);
    const later = at + 1_000;
    await push([
      { type: "message.part_end", at: later, part_id: part, text: "Nothing." },
      { type: "message.tool_call", at: later, tool_call_id: "c", tool_name: "look", arguments_json: "{}" },
      { ...whole[9], at: later, output_text: "nothing" },
    ]);
    const revised = async () =>
      [...((await managed.open(id))?.transcript.parts ?? [])].map((part) => [part?.type, part?.revised_at]);
    const marked = [
      ["text", later],
      ["tool_call", later],
      ["tool_result", later],
    ];
    expect((await revised()).filter(([, at]) => at !== undefined)).toEqual(marked);
    expect(await shown()).toEqual([
      "prompt: Go",
      "text: Nothing.",
      "call: look completed",
      "result: success nothing",
    ]);
    await stop();
    await start();
    expect((await revised()).filter(([, at]) => at !== undefined)).toEqual(marked);
    expect((await managed.raw(id, part ?? ""))?.text).toContain("Hello, harbour.");
  });

  it("have the raw record of each error without an id, also after a restart", async () => {
    const told = (message: string, later: number) => ({ type: "error", at: at + later, message });
    const long = `${"Lost ".repeat(60)}at the end`;
    await push([...whole.slice(0, 4), told("Lost", 0), told("Lost", 1), told(long, 1), ...whole.slice(4)]);
    for (const again of [false, true]) {
      if (again) {
        await stop();
        await start();
      }
      const parts = [...((await managed.open(id))?.transcript.parts ?? [])];
      const errors = parts.flatMap((part) =>
        part?.type === "marker" && part.kind === "error" ? [part.id] : [],
      );
      const records = await Promise.all(
        errors.map(async (error) => (await managed.raw(id, error))?.text ?? "{}"),
      );
      expect(records.map((text) => JSON.parse(text))).toMatchObject([
        told("Lost", 0),
        told("Lost", 1),
        told(long, 1),
      ]);
    }
  });

  it("use the sender's name, truncated between characters", async () => {
    await push(whole, `?agent=${encodeURIComponent(`${"a".repeat(99)}😀`)}`);
    expect(managed.get(id)?.agent).toBe(`${"a".repeat(99)}…`);
  });

  it("need a UUID as session id, and have a default agent name", async () => {
    await push(whole, "?agent=");
    expect(managed.get(id)?.agent).toBe("pushed");
    id = "no-uuid";
    expect(await push(whole)).toMatchObject({ status: 400, body: { error: { code: "session" } } });
    expect(await push("")).toMatchObject({ status: 400, body: { error: { code: "session" } } });
  });

  it("are applied once, however they are split and repeated, also across a restart", async () => {
    const body = (applied: number, repeated: number, seq: number) => ({
      status: 200,
      body: { applied, repeated, epoch: "one", seq },
    });
    expect(await push(numbered.slice(0, 5))).toEqual(body(5, 0, 5));
    expect(await push(numbered.slice(0, 5))).toEqual(body(0, 5, 5));
    await stop();
    await start();
    expect(managed.get(id)?.status).toBe("running");
    expect(await push(numbered.slice(3))).toEqual(body(6, 2, 11));
    expect(await push(numbered)).toEqual(body(0, 11, 11));
    expect(await shown()).toEqual(transcript);
    // A restarted sender counts from the beginning.
    expect(await push([{ type: "todo.change", at, todos: [], epoch: "two", seq: 1 }])).toMatchObject({
      body: { applied: 1, seq: 1 },
    });
  });

  it.each([4, 5, 8])("end what the sender's earlier epoch left open after %i frames", async (count) => {
    const again = [
      { type: "user.message", at, message_id: randomUUID(), parts: [{ type: "text", text: "Again" }] },
      { type: "turn.end", at },
    ].map((frame, index) => ({ ...frame, epoch: "two", seq: index + 1 }));
    expect((await push([...numbered.slice(0, count), ...again])).status).toBe(200);
    const words_shown = await shown();
    expect(words_shown.slice(-2)).toEqual([
      expect.stringContaining("The stream ended early"),
      "prompt: Again",
    ]);
    expect(managed.get(id)?.status).toBe("completed");
    await stop();
    await start();
    expect(await shown()).toEqual(words_shown);
  });

  it("continue a turn of another epoch that waits for its answer", async () => {
    await push(numbered.slice(0, 2));
    const answer = whole.slice(2).map((frame, index) => ({ ...frame, epoch: "two", seq: index + 1 }));
    expect((await push(answer)).status).toBe(200);
    expect(await shown()).toEqual(transcript);
  });

  it("may follow the end of their channel, in the same push or the next, also after a restart", async () => {
    const end = { type: "end", at };
    const revision = { type: "message.part_end", at, part_id: part, text: "Hello, harbour master." };
    const next = {
      type: "user.message",
      at,
      message_id: randomUUID(),
      parts: [{ type: "text", text: "On" }],
    };
    expect((await push([...whole, end, end, next])).status).toBe(200);
    expect((await push([end])).status).toBe(200);
    expect((await push([revision])).status).toBe(200);
    const all = ["prompt: Go", "text: Hello, harbour master.", ...transcript.slice(2), "prompt: On"];
    expect(await shown()).toEqual(all);
    await stop();
    await start();
    expect((await push([revision])).status).toBe(200);
    expect(await shown()).toEqual(all);
  });

  it("are rejected after a gap, with the expected number", async () => {
    await push(numbered.slice(0, 2));
    expect(await push([...numbered.slice(2, 4), ...numbered.slice(5)])).toMatchObject({
      status: 409,
      body: { error: { code: "gap", expected: 5, line: 3, epoch: "one", seq: 4, applied: 2 } },
    });
    expect(await push([{ ...numbered[0], epoch: "two", seq: 2 }])).toMatchObject({
      body: { error: { expected: 1 } },
    });
    expect(await push(numbered.slice(4))).toMatchObject({ status: 200 });
    expect(await shown()).toEqual(transcript);
  });

  it.each<[string, (object | string)[], string, string]>([
    ["text before its part starts", [whole[4] ?? {}], "delta_before_start", part ?? ""],
    [
      "a call inside open text",
      [whole[2] ?? {}, whole[3] ?? {}, whole[7] ?? {}],
      "tool_call_in_open_part",
      "must end",
    ],
    ["text after a gap", [whole[2] ?? {}, whole[3] ?? {}, whole[5] ?? {}], "offset_gap", "0 characters"],
    ["invalid JSON", ["{"], "json", "JSON"],
    ["an unknown frame", [{ type: "hologram", at }], "frame", "type"],
    ["a frame without a field", [{ type: "message.end", at }], "frame", "message_id"],
    ["a fractional number", [{ ...whole[0], seq: 1 }], "frame", "epoch"],
    ["another session's frame", [{ ...whole[0], session_id: randomUUID() }], "session", "session_id"],
    ["an impossible time", [{ ...whole[0], at: 1e300 }], "frame", "at"],
    ["excessive nesting", [`{"a":${"[".repeat(600)}${"]".repeat(600)}}`], "depth", "levels"],
  ])("are rejected with the violated rule and its line: %s", async (_, lines, code, words_of_it) => {
    const before = whole.slice(0, 2);
    const text = [...before, ...lines, whole[1] ?? {}]
      .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
      .join("\n");
    const reply = await push(text);
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject({ code, line: before.length + lines.length });
    expect(reply.body.error.message).toContain(words_of_it);
    // Earlier lines are stored, later ones are not processed, and a valid push continues from there.
    const kept = (await managed.open(id))?.transcript.parts.length;
    expect(kept).toBe(code === "tool_call_in_open_part" || code === "offset_gap" ? 3 : 1);
    const again = await push(text.split("\n").at(-2) ?? "");
    expect(again.body.error.code).toBe(code);
  });

  it("can set facts about their session, but not fields of the daemon", async () => {
    const patch = { title: "Theirs", id: randomUUID(), archived: true, control: { state: "idle" }, parts: 7 };
    await push([...whole, { type: "session.update", at, patch }]);
    expect(managed.get(id)).toMatchObject({ id, title: "Theirs" });
    expect(managed.get(id)?.parts).toBe((await managed.open(id))?.transcript.parts.length);
    expect(managed.get(id)?.archived).toBeUndefined();
    expect(managed.get(id)?.control).toBeUndefined();
    const result = { type: "message.tool_result", at, tool_call_id: "x", is_error: false, status: "success" };
    const said = { truncated: { output_text: 9_000 }, output_end: "the end" };
    await push([{ ...result, output_text: "all of it", parts: [], ...said }]);
    const last = [...((await managed.open(id))?.transcript.parts ?? [])].at(-1);
    expect(last).toMatchObject({ output_text: "all of it" });
    expect(last).not.toHaveProperty("truncated");
    expect(last).not.toHaveProperty("output_end");
  });

  it("keep a result without a call, and legacy messages next to new ones", async () => {
    const legacy = (role: string, content: string, more = {}) => ({
      type: "message.legacy",
      at,
      message: { role, id: randomUUID(), created_at: new Date(at).toISOString(), content, ...more },
    });
    const frames = [
      legacy("user", "Old prompt"),
      legacy("assistant", "Old answer", { thinking: "Old thought" }),
      ...whole,
      { ...whole[9], tool_call_id: "nobody's" },
    ];
    expect((await push(frames)).status).toBe(200);
    const look = async () => {
      const parts = [...((await managed.open(id))?.transcript.parts ?? [])];
      return parts.map((entry) =>
        entry?.type === "legacy" ? `${entry.content} ${entry.thinking}` : entry?.type,
      );
    };
    const before = await look();
    expect(before.slice(0, 3)).toEqual(["Old prompt undefined", "Old answer Old thought", "prompt"]);
    expect(before.at(-1)).toBe("tool_result");
    await stop();
    await start();
    expect(await look()).toEqual(before);
  });

  it("do not count a stopped call as failed, also after a restart", async () => {
    const stopped = whole.map((frame) =>
      frame.type === "message.tool_result" ? { ...frame, is_error: true, status: "aborted" } : frame,
    );
    expect((await push(stopped)).status).toBe(200);
    const look = async () => {
      const { turns, parts } = (await managed.open(id))?.transcript ?? {};
      const result = [...(parts ?? [])].find((entry) => entry?.type === "tool_result");
      return { row: managed.get(id)?.errors, turn: turns?.at(0)?.errors, result };
    };
    const before = await look();
    expect(before).toMatchObject({ row: 0, turn: 0, result: { status: "aborted", is_error: false } });
    await stop();
    await start();
    expect(await look()).toEqual(before);
  });

  it("are shown while the body is received, and kept after a broken connection", async () => {
    const lines = numbered.map((frame) => `${JSON.stringify(frame)}\n`);
    const sending = await new Promise<ClientRequest>((resolve) => {
      const open = request(address(), { method: "POST", headers: bearer() });
      open.on("error", () => {});
      open.write(lines.slice(0, 5).join(""), () => resolve(open));
    });
    await eventually(async () => expect(await shown()).toEqual(["prompt: Go", "text: Hello, "]));
    // An incomplete line is not applied.
    sending.write(lines[5]?.slice(0, 40));
    sending.destroy();
    expect(await push(numbered)).toMatchObject({ body: { applied: 6, repeated: 5 } });
    expect(await shown()).toEqual(transcript);
  });

  it("come from one sender at a time: the newest", async () => {
    const old = request(address(), { method: "POST", headers: bearer() });
    const answered = new Promise<number | undefined>((resolve) =>
      old.on("response", (reply) => resolve(reply.statusCode)),
    );
    old.on("error", () => {});
    old.write(`${JSON.stringify(numbered[0])}\n`);
    await eventually(() => expect(managed.get(id)).toBeDefined());
    await push(numbered);
    old.write(`${JSON.stringify(numbered[1])}\n`);
    expect(await answered).toBe(409);
    expect(await shown()).toEqual(transcript);
    old.destroy();
  });

  it("need the token, which gives no other access", async () => {
    const body = JSON.stringify(whole[0]);
    const send = (headers: Record<string, string>) => fetch(address(), { method: "POST", headers, body });
    expect((await send({})).status).toBe(401);
    expect((await send({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await send({ cookie: httpServer.cookie, "sec-fetch-site": "same-origin" })).status).toBe(401);
    expect((await send({ ...bearer(), origin: "https://evil.invalid" })).status).toBe(403);
    expect((await fetch(`${httpServer.origin}/api/sessions`, { headers: bearer() })).status).toBe(401);
    expect(managed.get(id)).toBeUndefined();
    expect((await send(bearer())).status).toBe(200);
    expect(managed.get(id)).toBeDefined();
  });
});

describe("a foreign stream that is pushed", () => {
  const events = [
    { type: "start", messageId: "m" },
    { type: "start-step" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hello " },
    { type: "text-delta", id: "t", delta: "from elsewhere." },
    { type: "text-end", id: "t" },
    { type: "finish-step" },
    { type: "finish" },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const sse = events.join("");

  it("is translated, once per epoch", async () => {
    expect((await push(sse, "?format=ai-sdk&epoch=one")).status).toBe(200);
    expect(await shown()).toEqual(["text: Hello from elsewhere."]);
    expect((await push(sse, "?format=ai-sdk&epoch=one")).body).toMatchObject({ applied: 0 });
    expect(await shown()).toEqual(["text: Hello from elsewhere."]);
    expect(managed.get(id)?.agent).toBe("ai-sdk");
    expect((await push(sse, "?format=telegraph")).body.error.message).toContain("ag-ui");
  });

  it.each(events.map((_, count) => count))(
    "that ended after %i events, or in the middle of the next, is completed by the same epoch",
    async (count) => {
      const before = events.slice(0, count).join("");
      const query = "?format=ai-sdk&epoch=one";
      expect((await push(before, query)).status).toBe(200);
      expect((await push(before + events[count]?.slice(0, 20), query)).body).toMatchObject({ applied: 0 });
      const { status, body } = await push(sse, query);
      expect(status).toBe(200);
      expect(await push(sse, query)).toMatchObject({ body: { seq: body.seq, applied: 0 } });
      expect(await shown()).toEqual(["text: Hello from elsewhere."]);
      expect(managed.get(id)?.status).toBe("completed");
    },
  );

  const run = { threadId: "t", runId: "r" };
  const helper = { subagentRunId: "s", name: "Helper" };
  it.each([
    [
      "after an error",
      "ai-sdk",
      [
        { type: "start" },
        { type: "text-delta", id: "1", delta: "Before." },
        { type: "error", errorText: "overloaded" },
      ],
      [{ type: "text-delta", id: "2", delta: "After it." }, { type: "finish" }],
      ["text: Before.", "error: overloaded", "text: After it."],
    ],
    [
      "in a text after a run",
      "ag-ui",
      [
        { type: "RUN_STARTED", ...run },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "In it." },
        { type: "RUN_FINISHED", ...run },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "n", delta: "Behind " },
      ],
      [
        { type: "TEXT_MESSAGE_CONTENT", messageId: "n", delta: "it." },
        { type: "TEXT_MESSAGE_END", messageId: "n" },
      ],
      ["text: In it.", "text: Behind it."],
    ],
    [
      "in a person's text after a run",
      "ag-ui",
      [
        { type: "RUN_STARTED", ...run },
        { type: "RUN_FINISHED", ...run },
        { type: "TEXT_MESSAGE_START", messageId: "n", role: "user" },
      ],
      [
        { type: "TEXT_MESSAGE_CONTENT", messageId: "n", delta: "Typed." },
        { type: "TEXT_MESSAGE_END", messageId: "n" },
      ],
      ["steer: Typed."],
    ],
    [
      "while a sub-agent continues after a run",
      "ag-ui",
      [
        { type: "RUN_STARTED", ...run },
        { type: "RUN_FINISHED", ...run },
        { type: "TEXT_MESSAGE_CONTENT", ...helper, delta: "Half " },
      ],
      [
        { type: "TEXT_MESSAGE_CONTENT", ...helper, delta: "and whole." },
        { type: "SUBAGENT_FINISHED", ...helper },
      ],
      ["note: Helper ended"],
    ],
    [
      "after a run that was cancelled with its sub-agent",
      "ag-ui",
      [
        { type: "RUN_STARTED", ...run },
        { type: "TEXT_MESSAGE_CONTENT", ...helper, delta: "Half" },
        { type: "RUN_FINISHED", ...run, outcome: { type: "cancelled" } },
      ],
      [{ type: "CUSTOM", name: "Later" }],
      ["note: Helper did not end", "interrupt: Cancelled", "note: Later"],
    ],
  ])("whose connection breaks (%s) is completed by the same epoch", async (_, format, before, rest, all) => {
    const text = (sent: object[]) => sent.map((event) => `${JSON.stringify(event)}\n`).join("");
    async function* body() {
      yield new TextEncoder().encode(text(before));
      throw new Error("The connection was reset");
    }
    const sending = createIngestion(managed, Date.now).push({ session_id: id, format, epoch: "one" }, body());
    await expect(sending).rejects.toMatchObject({ code: "cut_off" });
    for (const _ of [1, 2]) {
      expect((await push([...before, ...rest], `?format=${format}&epoch=one`)).status).toBe(200);
    }
    expect(await shown()).toEqual(all);
  });

  it("with an epoch that ends with its own error fails at once", async () => {
    const failed = [{ type: "start" }, { type: "text-delta", id: "1", delta: "Half" }, { type: "error" }];
    for (const _ of [1, 2]) expect((await push(failed, "?format=ai-sdk&epoch=one")).status).toBe(200);
    expect(managed.get(id)?.status).toBe("failed");
  });

  it("that ended early waits for its rest, does not run forever, and is ended by another one", async () => {
    await push(events.slice(0, 4).join(""), "?format=ai-sdk&epoch=one");
    expect(await shown()).toEqual(["text: Hello "]);
    expect(managed.get(id)?.status).toBe("running");
    await stop();
    await start(() => Date.now() + 3_600_000);
    expect(managed.get(id)?.status).toBe("failed");
    expect((await push(events.slice(0, 5).join(""), "?format=ai-sdk&epoch=one")).status).toBe(200);
    expect((await push(whole.slice(1, 2))).status).toBe(200);
    expect((await push(sse, "?format=ai-sdk&epoch=two")).status).toBe(200);
    expect(await shown()).toEqual([
      "text: Hello from elsewhere.",
      expect.stringContaining("The stream ended early"),
      "prompt: Go",
      "text: Hello from elsewhere.",
    ]);
    expect(managed.get(id)?.status).toBe("completed");
  });

  it.each([
    ["numbered", numbered, "", ""],
    ["numbered", numbered, "&epoch=a", "&epoch=b"],
    ["not numbered", whole, "", ""],
    ["not numbered", whole, "&epoch=a", "&epoch=b"],
  ])("ends what %s frames left open, and is shown after them (%#)", async (_, frames, first, second) => {
    expect((await push(frames.slice(0, 5))).status).toBe(200);
    for (const epoch of [first, second]) {
      expect((await push(sse, `?format=ai-sdk${epoch}`)).status).toBe(200);
    }
    expect(await shown()).toEqual([
      "prompt: Go",
      "text: Hello, ",
      expect.stringContaining("The stream ended early"),
      "text: Hello from elsewhere.",
      "text: Hello from elsewhere.",
    ]);
    expect(managed.get(id)?.status).toBe("completed");
  });

  it.each(["hangs", "is lost with the daemon"])(
    "without an epoch, whose connection %s, is over when another begins",
    async (how) => {
      const sending = request(address("?format=ai-sdk"), { method: "POST", headers: bearer() });
      sending.on("error", () => {});
      sending.write(events.slice(0, 4).join(""));
      await eventually(async () => expect(await shown()).toEqual(["text: Hello "]));
      if (how !== "hangs") {
        await managed.close();
        sending.destroy();
        await httpServer.close();
        await start();
      }
      for (const _ of [1, 2]) expect((await push(sse, "?format=ai-sdk")).status).toBe(200);
      expect(await shown()).toEqual([
        "text: Hello ",
        expect.stringContaining("The stream ended early"),
        "text: Hello from elsewhere.",
        "text: Hello from elsewhere.",
      ]);
      expect(managed.get(id)?.status).toBe("completed");
      sending.destroy();
    },
  );

  it("without an epoch that was rejected halfway is ended by another one", async () => {
    const long = "x".repeat(8 * 1024 * 1024 + 1);
    expect((await push(events.slice(0, 4).join("") + long, "?format=ai-sdk")).status).toBe(413);
    expect((await push(sse, "?format=ai-sdk")).status).toBe(200);
    expect((await shown()).at(-1)).toBe("text: Hello from elsewhere.");
  });

  it.each(["body", "connection"])(
    "with an epoch, whose %s ends early, keeps all its parts when another begins",
    async (how) => {
      const cut = [
        { type: "RUN_STARTED", threadId: "t", runId: "r" },
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "write", parentMessageId: "m" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"path":"a' },
        {
          type: "TEXT_MESSAGE_CONTENT",
          messageId: "h",
          delta: "Helped.",
          subagentRunId: "s",
          name: "helper",
        },
        { type: "STATE_SNAPSHOT", snapshot: {} },
      ]
        .map((event) => `data: ${JSON.stringify(event)}\n\n`)
        .join("");
      const look = async () => {
        const parts = [...((await managed.open(id))?.transcript.parts ?? [])];
        return parts.flatMap((one) => {
          if (one?.type === "tool_call") return `${one.tool_name} ${one.arguments_json}`;
          if (one?.type === "marker") return `${one.title} ${one.text ?? ""}`.trim();
          return [];
        });
      };
      const send = (text: string, isWhole = true) => {
        async function* body() {
          yield new TextEncoder().encode(text);
          if (!isWhole) throw new Error("The connection was reset");
        }
        return createIngestion(managed, Date.now)
          .push({ session_id: id, format: "ag-ui", epoch: "one" }, body())
          .catch((error) => error.code);
      };
      if (how === "body") expect(await send(cut)).toMatchObject({ applied: 3 });
      else expect(await send(`${cut}data: {"type": "RUN_FIN`, false)).toBe("cut_off");
      // A shorter push than before does not show how the stream ends.
      expect(await send(cut.slice(0, cut.indexOf("data", 1)))).toMatchObject({ applied: 0 });
      expect(await look()).toEqual(["write ", "State"]);
      await stop();
      await start();
      for (const _ of [1, 2]) expect((await push(sse, "?format=ai-sdk")).status).toBe(200);
      expect(await look()).toEqual([
        'write {"path":"a',
        "State",
        "helper did not end Helped.",
        "The stream ended early. The rest was never sent.",
      ]);
      expect((await shown()).slice(-2)).toEqual(Array(2).fill("text: Hello from elsewhere."));
    },
  );

  it("whose end is not on disk yet when another begins is not shown as cut off", async () => {
    const ingestion = createIngestion(managed, Date.now);
    const send = (text: string, epoch: string) => {
      async function* body() {
        yield new TextEncoder().encode(text);
      }
      return ingestion.push({ session_id: id, format: "ai-sdk", epoch }, body());
    };
    await send(events.slice(0, 4).join(""), "one");
    const rest = send(sse, "one");
    // After its frames were applied, and before the commit that stores them.
    await setImmediate();
    await Promise.all([rest, send(sse, "two")]);
    expect(await shown()).toEqual(["text: Hello from elsewhere.", "text: Hello from elsewhere."]);
  });

  it("is rejected at the line of the event that violates the order, however its bytes are split", async () => {
    // A message ends only once. One that is sent again after another epoch has already ended.
    await push(sse, "?format=ai-sdk&epoch=one");
    await push([{ ...numbered[0], epoch: "two" }]);
    const text = `: ping\n\n\n${sse}`;
    const replies = [];
    for (const cut of [text.length, 1, 11, 12, 40]) {
      const sending = request(address("?format=ai-sdk&epoch=one"), { method: "POST", headers: bearer() });
      const replied = new Promise<string>((resolve, reject) => {
        sending.on("error", reject);
        sending.on("response", async (reply) => resolve((await reply.toArray()).join("")));
      });
      sending.write(text.slice(0, cut));
      sending.end(text.slice(cut));
      replies.push(JSON.parse(await replied));
    }
    const places = replies.map(({ error: { code, line, message } }) => ({ code, line, message }));
    const message = expect.stringMatching(/^Line 18: Message .* has already ended/);
    for (const place of places) expect(place).toEqual({ code: "ended_twice", line: 18, message });
  });
});

describe("a line that is too long", () => {
  const LIMIT = 8 * 1024 * 1024;
  const told = { type: "text-delta", id: "t", delta: "Told before." };
  const long = (start: string, length: number) => start + "x".repeat(length - start.length);

  it.each([
    ["of frames", "", `${JSON.stringify(whole[1])}\n`, "prompt: Go", 2],
    ["of a foreign stream", "?format=ai-sdk", `data: ${JSON.stringify(told)}\n\n`, "text: Told before.", 3],
  ])("%s is rejected, and earlier lines are kept", async (_, query, before, shown_before, line) => {
    const refused = {
      status: 413,
      body: { error: { code: "too_long", line, message: expect.stringContaining(`${LIMIT} characters`) } },
    };
    for (const after of ["", "\n"]) {
      id = randomUUID();
      expect(await push(before + long("data: ", LIMIT + 1) + after, query)).toMatchObject(refused);
      expect(await shown()).toEqual([shown_before]);
    }
    id = randomUUID();
    const fits = await push(`${before}${long("data: ", LIMIT)}\n\n`, query);
    expect(fits.body.error?.code).toBe(query === "" ? "json" : undefined);
  });

  it("is rejected before it ends, and so is an event of many lines", async () => {
    for (const [query, piece, last] of [
      ["", "x".repeat(65_536), "x"],
      ["?format=ai-sdk", "x".repeat(65_536), "x"],
      ["?format=ai-sdk", `${long("data: ", 65_536)}\n`, "data: x\n"],
    ] as const) {
      const sending = request(address(query), { method: "POST", headers: bearer() });
      const replied = new Promise<number | undefined>((resolve) =>
        sending.on("response", (reply) => resolve(reply.statusCode)),
      );
      sending.on("error", () => {});
      for (let sent = 0; sent < LIMIT; sent += piece.length) sending.write(piece);
      sending.write(last);
      expect(await replied).toBe(413);
      sending.destroy();
    }
  });
});
