import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsReply, CLIENT_HEADER } from "../../../src/protocol.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { mergeSessions } from "../../../src/server/sessions/merge-sessions.ts";
import { eventually } from "../../eventually.ts";
import { uuidOf } from "../../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "../memory-sessions.ts";
import { startTestServer, type TestServer } from "../test-server.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, played, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions;
let found: MemorySessions;
let httpServer: TestServer;

async function open(play: Play): Promise<void> {
  managed = await openManaged({ folder, agents: played(play) });
  found = createMemorySessions();
  httpServer = await startTestServer({ sessions: mergeSessions([managed, found]), managed });
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "managed-routes-"));
});
afterEach(async () => {
  await httpServer.close();
  await managed.close();
  rmSync(folder, { recursive: true });
});

const echo: Play = async (stage, prompt) => {
  await stage.say(`Parts: ${prompt.parts.length}`);
  return "completed";
};

async function post(path: string, body: unknown) {
  const reply = await fetch(`${httpServer.origin}${path}`, {
    method: "POST",
    headers: {
      cookie: httpServer.cookie,
      [CLIENT_HEADER]: "1",
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: reply.status, body: await reply.json() };
}
async function get(path: string) {
  const headers = { cookie: httpServer.cookie, [CLIENT_HEADER]: "1" };
  return await (await fetch(`${httpServer.origin}${path}`, { headers })).json();
}

const image = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes, 7).toString("base64")}`;
const newPrompt = (text: string, more: object = {}) => ({ message_id: randomUUID(), text, ...more });
const newSession = (more: object = {}) => ({
  session_id: randomUUID(),
  agent: "player",
  cwd: folder,
  prompt: newPrompt("Hello"),
  ...more,
});

describe("the routes of managed sessions", () => {
  it("list what a session can be started with, and what was used last", async () => {
    await open(echo);
    const before = agentsReply.parse(await get("/api/agents"));
    expect(before).toMatchObject({ recent: [], agents: [{ id: "player", scripted: true }] });
    await post("/api/sessions", newSession({ model: "one" }));
    await post("/api/sessions", newSession({ model: "one" }));
    const { recent } = agentsReply.parse(await get("/api/agents"));
    expect(recent).toEqual([{ agent: "player", model: "one", cwd: folder }]);
  });

  it("start a session, which is in the list with those of agents' files, and can be opened", async () => {
    await open(echo);
    found.add(uuidOf("found"));
    const body = newSession();
    expect(await post("/api/sessions", body)).toEqual({ status: 201, body: { session_id: body.session_id } });
    expect(await post("/api/sessions", body)).toEqual({ status: 201, body: { session_id: body.session_id } });
    await eventually(async () => {
      const { sessions } = await get("/api/sessions");
      expect(sessions.map(({ id }: { id: string }) => id)).toEqual([body.session_id, uuidOf("found")]);
      expect(sessions[0]).toMatchObject({ status: "completed", control: { state: "idle" } });
    });
    const { page } = await get(`/api/sessions/${body.session_id}`);
    const text = page.parts.find(({ part }: { part: { type: string } }) => part.type === "text").part;
    expect(text.text).toBe("Parts: 1");
    const raw = await get(`/api/sessions/${body.session_id}/parts/${text.id}/raw`);
    expect(JSON.parse(raw.text)).toMatchObject({ role: "assistant", stop_reason: "stop" });
    expect(raw.file).toBe(join(folder, "history.db"));
  });

  it("accept images of 5 MB each, and return them", async () => {
    await open(echo);
    const images = Array.from({ length: 3 }, () => image(5 * 1024 * 1024));
    const body = newSession({ prompt: newPrompt("Look", { images }) });
    expect((await post("/api/sessions", body)).status).toBe(201);
    await eventually(async () => {
      const session = await managed.open(body.session_id);
      expect(session && words(session.transcript)[1]).toBe("text: Parts: 4");
    });
    const { page } = await get(`/api/sessions/${body.session_id}`);
    const { id, parts } = page.parts[0].part;
    expect(parts[3].url).toBe(`attachment:${id}:2`);
    const reply = await fetch(`${httpServer.origin}/api/sessions/${body.session_id}/attachments/${id}/2`, {
      headers: { cookie: httpServer.cookie, [CLIENT_HEADER]: "1" },
    });
    expect(reply.headers.get("content-type")).toBe("image/png");
    expect((await reply.arrayBuffer()).byteLength).toBe(5 * 1024 * 1024);
  });

  it("return a queued prompt as typed, until it is withdrawn", async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await open(async (stage, prompt, signal) => {
      await released;
      return await echo(stage, prompt, signal);
    });
    const { session_id } = (await post("/api/sessions", newSession())).body;
    const prompt = newPrompt(`Look\n\n${"closely ".repeat(100)}`, { images: [image(10)] });
    const at = `/api/sessions/${session_id}/prompts`;
    await post(at, { prompt, when: "queue" });
    expect(await get(`${at}/${prompt.message_id}`)).toEqual(prompt);
    const withdraw = (body: object) => post(`${at}/${prompt.message_id}/withdraw`, body);
    expect(await withdraw({ withdrawal_id: "x" })).toMatchObject({ status: 400 });
    const body = { withdrawal_id: randomUUID() };
    expect(await withdraw(body)).toEqual({ status: 200, body: {} });
    expect(await withdraw(body)).toEqual({ status: 200, body: {} });
    expect(await withdraw({ withdrawal_id: randomUUID() })).toMatchObject({ status: 404 });
    expect(await get(`${at}/${prompt.message_id}`)).toMatchObject({ error: { code: "no_prompt" } });
    release();
  });

  it.each<[string, () => unknown, number, string]>([
    ["invalid JSON", () => "{", 400, "JSON"],
    ["a session without an id", () => newSession({ session_id: "x" }), 400, "session_id"],
    ["a prompt without text", () => newSession({ prompt: newPrompt(" ") }), 400, "prompt.text"],
    ["a prompt without an id", () => newSession({ prompt: { text: "x" } }), 400, "prompt.message_id"],
    ["a missing folder", () => newSession({ cwd: "/no/such/folder" }), 400, "cwd"],
    ["a relative folder", () => newSession({ cwd: "src" }), 400, "cwd"],
    ["an unknown agent", () => newSession({ agent: "nobody" }), 400, "agent"],
    [
      "an image that is too large",
      () => newSession({ prompt: newPrompt("x", { images: [image(5 * 1024 * 1024 + 9)] }) }),
      400,
      "prompt.images.0",
    ],
    [
      "an image that is a script",
      () => newSession({ prompt: newPrompt("x", { images: ["data:image/svg+xml;base64,AAAA"] }) }),
      400,
      "prompt.images.0",
    ],
    [
      "too many images",
      () => newSession({ prompt: newPrompt("x", { images: Array.from({ length: 11 }, () => image(1)) }) }),
      400,
      "prompt.images",
    ],
  ])("reject %s, name the field, and start nothing", async (_, body, status, field) => {
    await open(echo);
    const reply = await post("/api/sessions", body());
    expect(reply.status).toBe(status);
    expect(reply.body.error.message).toContain(field);
    // `recent` is updated at once, while the list publishes changes with a delay.
    expect(managed.recent()).toEqual([]);
  });

  it("reject what the session does not support, with a message", async () => {
    await open(echo);
    const { session_id } = (await post("/api/sessions", newSession())).body;
    await eventually(() => expect(managed.get(session_id)?.control?.state).toBe("idle"));
    const at = `/api/sessions/${session_id}`;
    expect(await post(`/api/sessions/${randomUUID()}/stop`, {})).toMatchObject({ status: 404 });
    expect(await post(`${at}/stop`, {})).toEqual({ status: 200, body: {} });
    expect(await post(`${at}/stop`, { turn_id: randomUUID() })).toEqual({ status: 200, body: {} });
    expect(await post(`${at}/stop`, { turn_id: 1 })).toMatchObject({ status: 400 });
    expect(await post(`${at}/compact`, {})).toMatchObject({
      status: 409,
      body: { error: { code: "cannot" } },
    });
    expect(await post(`${at}/model`, { model: "" })).toMatchObject({ status: 400 });
    expect(await post(`${at}/requests/${randomUUID()}`, { answer: { option_ids: [] } })).toMatchObject({
      status: 404,
    });
    expect(await post(`${at}/prompts/${randomUUID()}/withdraw`, {})).toMatchObject({ status: 404 });
    expect(await post(`${at}/prompts/${randomUUID()}/begin`, {})).toMatchObject({ status: 404 });
    expect(await post(`${at}/rewind`, { before: randomUUID() })).toMatchObject({ status: 400 });
    expect(await post(`${at}/prompts`, { prompt: newPrompt("x"), when: "soon" })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("when") } },
    });
  });

  it("switch the model once", async () => {
    await open(echo);
    const { session_id } = (await post("/api/sessions", newSession({ model: "one" }))).body;
    for (let sent = 0; sent < 2; sent++) {
      expect((await post(`/api/sessions/${session_id}/model`, { model: "two" })).status).toBe(200);
    }
    await eventually(() => expect(managed.recent()[0]?.model).toBe("two"));
  });
});
