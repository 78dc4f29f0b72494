import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAnswerLog } from "../../../src/server/attach/answer-log.ts";
import { createHeldRequests, type HeldRequests } from "../../../src/server/attach/held-requests.ts";
import { type HookSocket, openHookSocket } from "../../../src/server/attach/hook-socket.ts";
import type { LiveEvent } from "../../../src/server/attach/live-text/live-event.ts";
import { readAskedEvent } from "../../../src/server/attach/opencode/asked-event.ts";
import { openCodeAttachment } from "../../../src/server/attach/opencode/attachment.ts";
import { createOpenCodeStreams, type OpenCodeStreams } from "../../../src/server/attach/opencode/streams.ts";
import { openCodePartId, openCodeSessionId } from "../../../src/sources/opencode/ids.ts";
import { eventually } from "../../eventually.ts";

// The installed plugin, with recorded events of opencode 1.18.33 and a client that stands in for opencode's.

const SESSION = "ses_deb247308ffeYhduk9Z5UOW0q0";

let folder: string;
let held: HeldRequests;
let streams: OpenCodeStreams;
let live: LiveEvent[];
let is_attached: boolean;
/** Sessions whose input may have changed. */
let changed: string[];
/** The error that opencode's API returns. */
let refusal: unknown;
let socket: HookSocket;
/** Calls of the plugin to opencode's API. */
let posted: { url: string; body: unknown }[];
let sendEvent: (event: object) => Promise<void>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "opencode-"));
  posted = [];
  // A new array per test: connections of the previous test may still be closing.
  const events: LiveEvent[] = [];
  live = events;
  is_attached = true;
  changed = [];
  refusal = undefined;
  streams = createOpenCodeStreams({
    isAttached: () => is_attached,
    onLive: (event) => events.push(event),
    onChange: (session_id) => changed.push(session_id),
  });
  held = createHeldRequests({
    readProcesses: async () => new Map(),
    isWatched: () => false,
    log: createAnswerLog(folder),
    now: Date.now,
    report: (error) => expect.fail(String(error)),
  });
  await listen();
  const attachment = openCodeAttachment({ data_dir: folder, config_dir: join(folder, "config") });
  expect(attachment.describe()).toMatchObject({
    is_installed: false,
    diff: expect.stringContaining("+import"),
  });
  attachment.install();
  const { file, is_installed } = attachment.describe();
  expect(is_installed).toBe(true);
  const { Verbatim } = await import(pathToFileURL(file).href);
  const post = async ({ url, body }: { url: string; body: unknown }) => {
    posted.push({ url, body });
    return refusal === undefined ? { data: true } : { error: refusal };
  };
  const plugin = await Verbatim({ client: { _client: { post } } });
  sendEvent = (event) => plugin.event({ event });
});
async function listen() {
  socket = await openHookSocket(folder, (body, connection, stream) => {
    if (streams.follow(body, stream)) return;
    const asked = readAskedEvent(body);
    if (asked === undefined) connection.release();
    else void held.hold(asked, connection);
  });
}
afterEach(async () => {
  held.close();
  await socket.close();
  rmSync(folder, { recursive: true, force: true });
});

const permission = (fields: object = {}) => ({
  type: "permission.asked",
  properties: {
    id: "per_214db99b5001Kr7AUA21zpoN70",
    sessionID: SESSION,
    permission: "bash",
    patterns: ["touch made.txt"],
    metadata: { command: "touch made.txt" },
    always: ["touch *"],
    ...fields,
  },
});
const open = () => held.openOf(openCodeSessionId(SESSION));
async function firstOpen() {
  return await eventually(() => {
    const [first] = open();
    if (first === undefined) throw new Error("nothing is asked");
    return held.get(first.request_id) ?? expect.fail("it has ended");
  });
}

describe("a permission", () => {
  it.each([
    ["Allow", undefined, { reply: "once" }],
    ["Allow, and always allow touch *", undefined, { reply: "always" }],
    ["Deny", "Not on a Thursday.", { reply: "reject", message: "Not on a Thursday." }],
  ])("is answered with %s", async (label, text, body) => {
    await sendEvent(permission());
    const { request_id, subject, digest = "", options } = await firstOpen();
    expect(subject).toBe("touch made.txt");
    const option_ids = options.filter((option) => option.label === label).map(({ id }) => id);
    held.answer(request_id, { digest, answer: { option_ids, ...(text !== undefined && { text }) } });
    await eventually(() =>
      expect(posted).toEqual([{ url: "/permission/per_214db99b5001Kr7AUA21zpoN70/reply", body }]),
    );
    expect(open()).toEqual([]);
  });

  it("shows everything it covers", async () => {
    const metadata = { filepath: "/w/a.ts", diff: "-one\n+two" };
    await sendEvent(permission({ permission: "edit", patterns: ["a.ts"], metadata }));
    expect((await firstOpen()).subject).toBe(
      'filepath: /w/a.ts\ndiff:\n  -one\n  +two\npatterns:\n  [\n    "a.ts"\n  ]',
    );
  });

  it("disappears when the terminal answers first", async () => {
    await sendEvent(permission());
    await firstOpen();
    const requestID = "per_214db99b5001Kr7AUA21zpoN70";
    await sendEvent({
      type: "permission.replied",
      properties: { sessionID: SESSION, requestID, reply: "once" },
    });
    await eventually(() => expect(open()).toEqual([]));
    expect(posted).toEqual([]);
  });
});

it("answers a question by its labels, in the order of the questions", async () => {
  const options = [{ label: "Red" }, { label: "Blue" }];
  const questions = [
    { question: "Which colour?", options },
    { question: "Which sizes?", multiple: true, options: [{ label: "S" }, { label: "L" }] },
  ];
  await sendEvent({ type: "question.asked", properties: { id: "que_1", sessionID: SESSION, questions } });
  const answers = [["1"], ["0", "1"]];
  for (const option_ids of answers) held.answer((await firstOpen()).request_id, { answer: { option_ids } });
  await eventually(() =>
    expect(posted).toEqual([{ url: "/question/que_1/reply", body: { answers: [["Blue"], ["S", "L"]] } }]),
  );
});

it("reports whether a session works, however long it writes nothing, until its process ends", async () => {
  const session_id = openCodeSessionId(SESSION);
  const status = (type: string) =>
    sendEvent({ type: "session.status", properties: { sessionID: SESSION, status: { type } } });
  expect(streams.stateOf(session_id)).toBeUndefined();
  await status("busy");
  await eventually(() => expect(streams.stateOf(session_id)).toMatchObject({ by: "server", busy: true }));
  const since = streams.stateOf(session_id)?.since;
  await status("retry");
  await sendEvent({ type: "session.idle", properties: { sessionID: SESSION } });
  await eventually(() => expect(streams.stateOf(session_id)).toMatchObject({ busy: false }));
  await status("busy");
  await eventually(() => expect(streams.stateOf(session_id)?.busy).toBe(true));
  expect(streams.stateOf(session_id)?.since).toBeGreaterThanOrEqual(since ?? Number.NaN);
  is_attached = false;
  await eventually(() => expect(streams.stateOf(session_id)).toBeUndefined());
});

it("reports the state again after a restart of the daemon", async () => {
  const session_id = openCodeSessionId(SESSION);
  await sendEvent({ type: "session.status", properties: { sessionID: SESSION, status: { type: "busy" } } });
  await eventually(() => expect(streams.stateOf(session_id)?.busy).toBe(true));
  await socket.close();
  await eventually(() => expect(streams.stateOf(session_id)).toBeUndefined());
  await listen();
  await eventually(() => expect(streams.stateOf(session_id)?.busy).toBe(true));
});

describe("the live output of a session", () => {
  const session_id = openCodeSessionId(SESSION);
  const event = (type: string, properties: object) =>
    sendEvent({ type, properties: { sessionID: SESSION, ...properties } });
  const part = (fields: object) =>
    event("message.part.updated", {
      part: { id: "prt_1", messageID: "msg_2", sessionID: SESSION, type: "text", ...fields },
    });

  it("is reported token by token", async () => {
    await event("message.updated", { info: { id: "msg_1", role: "user" } });
    await part({ id: "prt_0", messageID: "msg_1", text: "Make a file" });
    await event("message.updated", { info: { id: "msg_2", role: "assistant" } });
    await part({ id: "prt_t", type: "tool", callID: "call_1", state: { status: "running" } });
    await part({ text: "", time: { start: 1_000 } });
    await event("message.part.delta", { partID: "prt_1", field: "text", delta: "I ma" });
    await event("message.part.delta", { partID: "prt_0", field: "text", delta: "not begun" });
    await part({ text: "I make it.", time: { start: 1_000, end: 2_000 } });
    await part({ id: "prt_2", type: "reasoning", text: "Hm", time: { start: 2_000 } });
    await event("session.idle", {});
    await eventually(() => expect(live.at(-1)).toMatchObject({ type: "turn_end" }));
    const [one, two] = [
      { session_id, id: "prt_1" },
      { session_id, id: "prt_2" },
    ];
    expect(live.slice(0, -1)).toEqual([
      { ...one, type: "start", kind: "text", at: 1_000, part_id: openCodePartId(session_id, "prt_1") },
      { ...one, type: "delta", text: "I ma", at: expect.any(Number) },
      { ...one, type: "end", text: "I make it.", at: 2_000 },
      { ...two, type: "start", kind: "thinking", at: 2_000, part_id: openCodePartId(session_id, "prt_2") },
      { ...two, type: "delta", text: "Hm", at: 2_000 },
    ]);
  });

  it("is not reported without consent, and prompts are not sent", async () => {
    is_attached = false;
    await event("message.updated", { info: { id: "msg_2", role: "assistant" } });
    await part({ text: "", time: { start: 1_000 } });
    await sendEvent(permission());
    await firstOpen();
    expect(live).toEqual([]);
    expect(streams.input.accepts(session_id)).toBe(false);
    await expect(streams.input.prompt(session_id, "Go on")).rejects.toThrow("not open");
  });

  it("accepts prompts and a stop, and reports a refusal by opencode", async () => {
    expect(streams.input.accepts(session_id)).toBe(false);
    await event("session.updated", {});
    await eventually(() => expect(streams.input.accepts(session_id)).toBe(true));
    expect(changed).toEqual([session_id]);
    await streams.input.prompt(session_id, "Go on");
    await streams.input.stop(session_id);
    expect(posted).toEqual([
      { url: `/session/${SESSION}/prompt_async`, body: { parts: [{ type: "text", text: "Go on" }] } },
      { url: `/session/${SESSION}/abort`, body: {} },
    ]);
    refusal = { name: "NotFoundError" };
    await expect(streams.input.prompt(session_id, "Go on")).rejects.toThrow(
      'opencode refused: {"name":"NotFoundError"}',
    );
  });

  it("ends with the process, and continues after a daemon restart", async () => {
    await event("session.updated", {});
    await eventually(() => expect(streams.input.accepts(session_id)).toBe(true));
    await socket.close();
    await eventually(() => expect(streams.input.accepts(session_id)).toBe(false));
    expect(live.at(-1)).toMatchObject({ session_id, type: "turn_end" });
    await listen();
    await eventually(() => expect(streams.input.accepts(session_id)).toBe(true));
    await event("session.deleted", {});
    await eventually(() => expect(streams.input.accepts(session_id)).toBe(false));
  });
});

it("ignores unknown events and a missing daemon", async () => {
  await socket.close();
  await sendEvent(permission());
  await sendEvent({ type: "permission.asked" });
  await sendEvent({ type: "session.updated", properties: { id: "x" } });
  expect(posted).toEqual([]);
});

it("does nothing in a session of the daemon itself", async () => {
  vi.stubEnv("VERBATIM_AGENT", "1");
  const { file } = openCodeAttachment({ data_dir: folder, config_dir: join(folder, "config") }).describe();
  const { Verbatim } = await import(pathToFileURL(file).href);
  expect(await Verbatim({ client: {} })).toEqual({});
  vi.unstubAllEnvs();
});

it("removes the plugin's file when detaching", () => {
  const attachment = openCodeAttachment({ data_dir: folder, config_dir: join(folder, "config") });
  attachment.remove();
  expect(existsSync(attachment.describe().file)).toBe(false);
});
