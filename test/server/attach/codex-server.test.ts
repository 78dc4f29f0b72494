import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import type { Answer } from "../../../src/model/request.ts";
import {
  type AppServer,
  type AppServerOptions,
  followAppServer,
} from "../../../src/server/attach/codex/app-server.ts";
import type { LiveEvent } from "../../../src/server/attach/live-text/live-event.ts";
import type { HookConnection, TerminalRequest } from "../../../src/server/attach/terminal-request.ts";
import { eventually } from "../../eventually.ts";

// Messages of Codex 0.169.0's app server as recorded, sent over a real socket.

const THREAD = "01a214d3-dab6-76f3-9340-93eef13ec01d";
const OTHER = "01a214d5-61fa-7d40-89a9-7f8c8a070fcc";
const EPHEMERAL = "01a214d5-61fa-7d40-89a9-7f8c8a070fff";

interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

interface Thread {
  id: string;
  ephemeral: boolean;
  status: object;
}

let folder: string;
let http: Server;
let sockets: WebSocketServer;
let client: WebSocket | undefined;
let userAgent: string;
/** The messages that the server received, in order. */
let got: Message[];
/** The threads that are loaded when Verbatim connects. */
let loaded: Thread[];
let may_answer: boolean;
/** The turn that is running in the thread. */
let turn: string | undefined;
/** How many more attempts to join a thread fail. */
let unrecorded: number;
/** The error with which the server refuses new turns. */
let refusal: string | undefined;
let live: LiveEvent[];
let held: { asked: TerminalRequest; connection: HookConnection }[];
let app_server: AppServer;

const send = (message: object) => client?.send(JSON.stringify(message));
const setStatus = (threadId: string, status: object) =>
  send({ method: "thread/status/changed", params: { threadId, status }, emittedAtMs: 5_000 });
const active = (...activeFlags: string[]) => ({ type: "active", activeFlags });

function reply({ id, method, params }: Message) {
  if (id === undefined || method === undefined) return;
  const turns = turn === undefined ? [] : [{ id: turn, status: "inProgress" }];
  const results: Record<string, object> = {
    initialize: { userAgent },
    "thread/loaded/list": { data: loaded.map(({ id }) => id) },
    "thread/read": { thread: loaded.find(({ id }) => id === params?.threadId) },
    "thread/turns/list": { data: turns },
  };
  if (method === "thread/resume" && unrecorded > 0) {
    unrecorded -= 1;
    send({ id, error: { code: -32600, message: "no rollout found" } });
  } else if (refusal !== undefined && method.startsWith("turn/"))
    send({ id, error: { code: -1, message: refusal } });
  else send({ id, result: results[method] ?? {} });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "codex-"));
  userAgent = "codex-tui/0.169.0 (Debian 12.0.0; x86_64)";
  got = [];
  held = [];
  live = [];
  loaded = [
    { id: THREAD, ephemeral: false, status: { type: "idle" } },
    { id: EPHEMERAL, ephemeral: true, status: { type: "idle" } },
  ];
  may_answer = true;
  turn = undefined;
  refusal = undefined;
  unrecorded = 0;
  http = createServer();
  sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket) => {
    client = socket;
    socket.on("message", (data) => {
      const message: Message = JSON.parse(String(data));
      got.push(message);
      reply(message);
    });
  });
  await new Promise<void>((done) => http.listen(join(folder, "app.sock"), done));
});
afterEach(async () => {
  app_server.close();
  for (const socket of sockets.clients) socket.terminate();
  await new Promise((done) => http.close(done));
  rmSync(folder, { recursive: true, force: true });
});

const optionsFor = (socket: string): AppServerOptions => ({
  socket,
  mayAnswer: () => may_answer,
  onStates: () => {},
  onRequest: (asked, connection) => held.push({ asked, connection }),
  onLive: (event) => live.push(event),
});
async function connect() {
  app_server = followAppServer(optionsFor(join(folder, "app.sock")));
  await eventually(() => expect(app_server.states.has(THREAD)).toBe(true));
}
const methods = () => got.map(({ method }) => method);
const askForCommand = () =>
  send({
    id: 7,
    method: "item/commandExecution/requestApproval",
    params: {
      threadId: THREAD,
      itemId: "call_1",
      kind: "command",
      reason: "May I make the file?",
      command: "/bin/bash -lc 'touch made.txt'",
      cwd: "/w/tide",
      availableDecisions: [
        "accept",
        { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["touch"] } },
        { notKnownToUs: {} },
        "cancel",
      ],
    },
  });
const asked = () =>
  eventually(() => {
    const last = held.at(-1);
    if (last === undefined) throw new Error("nothing is held");
    return last;
  });
const resultOf = ({ requests, replyTo }: TerminalRequest, ...answers: Answer[]) =>
  replyTo(new Map(requests.map(({ request_id }, at) => [request_id, answers[at] ?? { option_ids: [] }])));

describe("the state of a thread", () => {
  it("is read from the server for loaded threads", async () => {
    await connect();
    expect([...app_server.states.keys()]).toEqual([THREAD]);
    expect(app_server.states.get(THREAD)).toMatchObject({ busy: false });
    setStatus(THREAD, active());
    await eventually(() => expect(app_server.states.get(THREAD)).toMatchObject({ busy: true, since: 5_000 }));
    setStatus(OTHER, active("waitingOnUserInput"));
    await eventually(() =>
      expect(app_server.states.get(OTHER)).toMatchObject({ waiting: { for: "input needed" } }),
    );
    send({ method: "thread/closed", params: { threadId: OTHER } });
    await eventually(() => expect(app_server.states.has(OTHER)).toBe(false));
  });

  it("is read for a thread that asked before the connection, and the thread is joined for its request", async () => {
    loaded.push({ id: OTHER, ephemeral: false, status: active("waitingOnApproval") });
    await connect();
    await eventually(() =>
      expect(app_server.states.get(OTHER)).toMatchObject({ waiting: { for: "permission prompt" } }),
    );
    await eventually(() =>
      expect(got).toContainEqual(
        expect.objectContaining({ method: "thread/resume", params: { threadId: OTHER, excludeTurns: true } }),
      ),
    );
  });

  it("is read from a new server at the path of a dead one", async () => {
    await new Promise((done) => http.close(done));
    const socket = join(folder, "app.sock");
    writeFileSync(socket, "");
    app_server = followAppServer(optionsFor(socket));
    rmSync(socket);
    await new Promise<void>((done) => http.listen(socket, done));
    await eventually(() => expect(app_server.states.has(THREAD)).toBe(true));
  });

  it("is dropped when the connection closes, and read again after reconnecting", async () => {
    await connect();
    client?.terminate();
    await eventually(() => expect(app_server.states.size).toBe(0));
    await eventually(() => expect(app_server.states.size).toBe(1));
  });

  it("is read before the agent is attached, without joining a thread", async () => {
    may_answer = false;
    await connect();
    setStatus(THREAD, active("waitingOnApproval"));
    await eventually(() => expect(app_server.states.get(THREAD)?.waiting).toBeDefined());
    askForCommand();
    setStatus(OTHER, active());
    await eventually(() => expect(app_server.states.has(OTHER)).toBe(true));
    expect(held).toEqual([]);
    expect(methods()).toEqual([
      "initialize",
      "initialized",
      "thread/loaded/list",
      "thread/read",
      "thread/read",
    ]);
    may_answer = true;
    app_server.refresh();
    await eventually(() => expect(methods().at(-1)).toBe("thread/resume"));
  });

  it("is read from an untested version, without joining a thread", async () => {
    userAgent = "codex-tui/0.200.1 (Debian)";
    await connect();
    setStatus(THREAD, active("waitingOnApproval"));
    await eventually(() => expect(app_server.states.get(THREAD)?.waiting).toBeDefined());
    setStatus(OTHER, active());
    await eventually(() => expect(app_server.states.has(OTHER)).toBe(true));
    expect(methods()).not.toContain("thread/resume");
  });
});

describe("a request", () => {
  beforeEach(async () => {
    await connect();
    setStatus(THREAD, active("waitingOnApproval"));
    await eventually(() => expect(methods()).toContain("thread/resume"));
  });
  const replies = () => got.filter(({ method, id }) => method === undefined && id === 7);

  it("for a command shows everything that would run, and offers Codex's own decisions", async () => {
    askForCommand();
    const { asked: one, connection } = await asked();
    expect(one).toMatchObject({ session_id: THREAD, agent: "codex", cwd: "/w/tide", ends_by: "agent" });
    const [request] = one.requests;
    expect(request).toMatchObject({
      title: "May I make the file?",
      subject: "/bin/bash -lc 'touch made.txt'\n\nin /w/tide",
    });
    expect(request?.options.map(({ label }) => label)).toEqual([
      "Allow",
      "Allow, and always allow touch …",
      "Deny and stop",
    ]);
    const [, always] = request?.options ?? [];
    connection.answer(resultOf(one, { option_ids: [always?.id ?? ""] }));
    const decision = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["touch"] } };
    await eventually(() => expect(replies()).toEqual([{ id: 7, result: { decision } }]));
    setStatus(THREAD, { type: "idle" });
    await eventually(() => expect(methods()).toContain("thread/unsubscribe"));
  });

  it("for answers to questions sends each answer by question id", async () => {
    const options = [{ label: "Red" }, { label: "Blue" }];
    const questions = [
      { id: "colour", question: "Which colour?", isOther: true, options },
      { id: "name", question: "Which name?", isOther: false, options: null },
    ];
    send({ id: 7, method: "item/tool/requestUserInput", params: { threadId: THREAD, questions } });
    const { asked: one, connection } = await asked();
    connection.answer(resultOf(one, { option_ids: ["1"] }, { option_ids: [], text: "Ebb" }));
    const answers = { colour: { answers: ["Blue"] }, name: { answers: ["Ebb"] } };
    await eventually(() => expect(replies()).toEqual([{ id: 7, result: { answers } }]));
  });

  it("for a patch shows the changes of its announced item", async () => {
    const changes = [
      { path: "/w/a.txt", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-one\n+two\n" },
      { path: "/w/b.txt", kind: { type: "add" }, diff: "new\n" },
    ];
    const params = { threadId: THREAD, itemId: "call_2", reason: null, grantRoot: null };
    send({
      method: "item/started",
      params: { threadId: THREAD, item: { type: "fileChange", id: "call_2", changes } },
    });
    send({ id: 7, method: "item/fileChange/requestApproval", params });
    const { asked: one, connection } = await asked();
    expect(one.requests).toMatchObject([
      {
        title: "Change /w/a.txt and 1 more",
        subject: "update /w/a.txt\n@@ -1 +1 @@\n-one\n+two\n\nadd /w/b.txt\nnew\n",
      },
    ]);
    const option = one.requests[0]?.options.find(({ label }) => label === "Allow for this session");
    connection.answer(resultOf(one, { option_ids: [option?.id ?? ""] }));
    await eventually(() => expect(replies()).toEqual([{ id: 7, result: { decision: "acceptForSession" } }]));
  });

  it("of an MCP server is answered with the values of its form", async () => {
    const properties = {
      colour: {
        type: "string",
        title: "Colour",
        oneOf: [
          { const: "r", title: "Red" },
          { const: "b", title: "Blue" },
        ],
      },
      size: { type: "string", enum: ["S", "L"], enumNames: ["Small", "Large"] },
      gift: { type: "boolean" },
      name: { type: "string", description: "For the label" },
    };
    const form = { mode: "form", serverName: "shop", message: "Your order", _meta: null };
    const requestedSchema = { type: "object", properties, required: ["colour"] };
    send({
      id: 7,
      method: "mcpServer/elicitation/request",
      params: { threadId: THREAD, ...form, requestedSchema },
    });
    const { asked: one, connection } = await asked();
    expect(one.requests.map(({ title }) => title)).toEqual([
      "shop: Your order – Colour",
      "shop: Your order – size",
      "shop: Your order – gift",
      "shop: Your order – name: For the label",
    ]);
    connection.answer(
      resultOf(
        one,
        { option_ids: ["1"] },
        { option_ids: ["0"] },
        { option_ids: ["1"] },
        { option_ids: [], text: "Ada" },
      ),
    );
    const content = { colour: "b", size: "S", gift: false, name: "Ada" };
    await eventually(() =>
      expect(replies()).toEqual([{ id: 7, result: { action: "accept", content, _meta: null } }]),
    );
  });

  it.each([
    ["Allow", { action: "accept", content: {}, _meta: null }],
    ["Allow for this session", { action: "accept", content: {}, _meta: { persist: "session" } }],
    ["Deny", { action: "decline", content: null, _meta: null }],
  ])("for a tool of an MCP server shows its input, and is answered with %s", async (label, result) => {
    const _meta = {
      codex_approval_kind: "mcp_tool_call",
      persist: ["session"],
      tool_name: "order",
      tool_params: { colour: "red" },
    };
    const requestedSchema = { type: "object", properties: {} };
    const form = { mode: "form", serverName: "shop", message: "Allow the tool?", requestedSchema, _meta };
    send({ id: 7, method: "mcpServer/elicitation/request", params: { threadId: THREAD, ...form } });
    const { asked: one, connection } = await asked();
    const [request] = one.requests;
    expect(request).toMatchObject({ kind: "approval", subject: "shop.order\ncolour: red" });
    expect(request?.options.map((option) => option.label)).toEqual([
      "Allow",
      "Allow for this session",
      "Deny",
    ]);
    const option = request?.options.find((each) => each.label === label);
    connection.answer(resultOf(one, { option_ids: [option?.id ?? ""] }));
    await eventually(() => expect(replies()).toEqual([{ id: 7, result }]));
  });

  it.each([
    ["accept", { action: "accept", content: {}, _meta: null }],
    ["decline", { action: "decline", content: null, _meta: null }],
  ])("of an MCP server for a confirmation is answered with %s", async (id, result) => {
    const requestedSchema = { type: "object", properties: {} };
    const form = { mode: "form", serverName: "shop", message: "Go on?", requestedSchema };
    send({ id: 7, method: "mcpServer/elicitation/request", params: { threadId: THREAD, ...form } });
    const { asked: one, connection } = await asked();
    connection.answer(resultOf(one, { option_ids: [id] }));
    await eventually(() => expect(replies()).toEqual([{ id: 7, result }]));
  });

  it("disappears when the terminal answers first", async () => {
    askForCommand();
    const { connection } = await asked();
    let is_gone = false;
    connection.onGone(() => {
      is_gone = true;
    });
    send({ method: "serverRequest/resolved", params: { threadId: THREAD, requestId: 7 } });
    await eventually(() => expect(is_gone).toBe(true));
    expect(replies()).toEqual([]);
  });

  it.each([
    ["of an unknown kind", "item/permissions/requestApproval", {}],
    ["for a patch without an announced item", "item/fileChange/requestApproval", { itemId: "call_9" }],
    [
      "to open a URL",
      "mcpServer/elicitation/request",
      { mode: "url", serverName: "shop", message: "Open", url: "https://x" },
    ],
    [
      "for an approval of another kind",
      "mcpServer/elicitation/request",
      {
        mode: "form",
        serverName: "shop",
        message: "Allow it?",
        requestedSchema: { type: "object", properties: {} },
        _meta: { codex_approval_kind: "notKnownToUs" },
      },
    ],
    [
      "for a text with a pattern",
      "mcpServer/elicitation/request",
      {
        mode: "form",
        serverName: "shop",
        message: "How many?",
        requestedSchema: { type: "object", properties: { code: { type: "string", pattern: "a" } } },
      },
    ],
    ["for a running command", "item/commandExecution/requestApproval", { kind: "stdin", command: "y" }],
    [
      "for network access",
      "item/commandExecution/requestApproval",
      { command: "curl x", networkApprovalContext: { host: "x" } },
    ],
    [
      "for a secret",
      "item/tool/requestUserInput",
      { questions: [{ id: "key", question: "Which key?", isSecret: true }] },
    ],
  ])("%s is left to the terminal, without any reply", async (_name, method, params) => {
    send({ id: 7, method, params: { threadId: THREAD, ...params } });
    setStatus(OTHER, active());
    await eventually(() => expect(app_server.states.has(OTHER)).toBe(true));
    expect(held).toEqual([]);
    expect(replies()).toEqual([]);
  });
});

describe("the live output of a thread", () => {
  const item = (method: string, fields: object) =>
    send({ method, params: { threadId: THREAD, turnId: "turn-1", ...fields }, emittedAtMs: 6_000 });
  const common = { session_id: THREAD, at: 6_000 };

  it("is reported while its turn is running", async () => {
    await connect();
    setStatus(THREAD, active());
    await eventually(() => expect(methods()).toContain("thread/resume"));
    live = [];
    item("item/started", { item: { type: "reasoning", id: "rs_1", summary: [], content: [] } });
    item("item/reasoning/summaryTextDelta", { itemId: "rs_1", delta: "**Mak", summaryIndex: 0 });
    item("item/reasoning/summaryTextDelta", { itemId: "rs_1", delta: "ing**", summaryIndex: 0 });
    item("item/reasoning/summaryTextDelta", { itemId: "rs_1", delta: "Next", summaryIndex: 1 });
    item("item/reasoning/textDelta", { itemId: "rs_1", delta: "raw", contentIndex: 0 });
    item("item/completed", { item: { type: "reasoning", id: "rs_1", summary: ["**Making**", "Next"] } });
    item("item/started", { item: { type: "agentMessage", id: "msg_1", text: "" } });
    item("item/agentMessage/delta", { itemId: "msg_1", delta: "I make " });
    item("item/completed", { item: { type: "agentMessage", id: "msg_1", text: "I make a file." } });
    item("item/started", { item: { type: "commandExecution", id: "call_1", command: "touch made.txt" } });
    item("item/commandExecution/outputDelta", { itemId: "call_1", delta: "line 1\n" });
    item("item/completed", {
      item: { type: "commandExecution", id: "call_1", aggregatedOutput: "line 1\n" },
    });
    item("item/started", { item: { type: "notKnownToUs", id: "x_1" } });
    item("turn/completed", { turn: { id: "turn-1", status: "completed" } });
    await eventually(() => expect(live.at(-1)).toEqual({ ...common, type: "turn_end" }));
    expect(live).toEqual([
      { ...common, type: "start", id: "rs_1", kind: "thinking" },
      { ...common, type: "delta", id: "rs_1", text: "**Mak" },
      { ...common, type: "delta", id: "rs_1", text: "ing**" },
      { ...common, type: "delta", id: "rs_1", text: "\n\nNext" },
      { ...common, type: "end", id: "rs_1", text: "**Making**\n\nNext" },
      { ...common, type: "start", id: "msg_1", kind: "text" },
      { ...common, type: "delta", id: "msg_1", text: "I make " },
      { ...common, type: "end", id: "msg_1", text: "I make a file." },
      { ...common, type: "start", id: "call_1", kind: "output" },
      { ...common, type: "delta", id: "call_1", text: "line 1\n" },
      { ...common, type: "end", id: "call_1" },
      { ...common, type: "turn_end" },
    ]);
    setStatus(THREAD, { type: "idle" });
    await eventually(() => expect(methods()).toContain("thread/unsubscribe"));
  });

  it("is requested only with consent, and stops when consent is withdrawn", async () => {
    may_answer = false;
    await connect();
    setStatus(THREAD, active());
    await eventually(() => expect(app_server.states.get(THREAD)?.busy).toBe(true));
    item("item/started", { item: { type: "agentMessage", id: "msg_1", text: "" } });
    setStatus(OTHER, active());
    await eventually(() => expect(app_server.states.has(OTHER)).toBe(true));
    may_answer = true;
    app_server.refresh();
    await eventually(() => expect(methods()).toContain("thread/resume"));
    may_answer = false;
    app_server.refresh();
    await eventually(() => expect(methods()).toContain("thread/unsubscribe"));
    item("item/started", { item: { type: "agentMessage", id: "msg_2", text: "" } });
    setStatus(THREAD, { type: "idle" });
    await eventually(() => expect(app_server.states.get(THREAD)?.busy).toBe(false));
    expect(live.filter(({ type }) => type !== "turn_end")).toEqual([]);
  });

  it("is requested again for a new thread until the server has its first record", async () => {
    await connect();
    unrecorded = 2;
    setStatus(THREAD, active());
    await eventually(() => expect(methods().filter((method) => method === "thread/resume")).toHaveLength(3));
    item("item/started", { item: { type: "agentMessage", id: "msg_1", text: "" } });
    await eventually(() => expect(live.at(-1)).toMatchObject({ id: "msg_1" }));
  });

  it("is not requested for the thread that Codex creates to generate a title", async () => {
    await connect();
    setStatus("01a214d5-61fa-7d40-89a9-7f8c8a070fff", active());
    setStatus(OTHER, active());
    await eventually(() => expect(methods()).toContain("thread/resume"));
    expect(got.flatMap(({ method, params }) => (method === "thread/resume" ? params?.threadId : []))).toEqual(
      [OTHER],
    );
  });
});

describe("input for a thread in a terminal", () => {
  const input = [{ type: "text", text: "Look again", text_elements: [] }];
  const sent = (method: string) => got.find((message) => message.method === method)?.params;

  it("joins an idle thread, and then starts a turn", async () => {
    await connect();
    expect(app_server.input.accepts(THREAD)).toBe(true);
    await app_server.input.prompt(THREAD, "Look again");
    expect(methods().slice(-2)).toEqual(["thread/resume", "turn/start"]);
    expect(sent("turn/start")).toEqual({ threadId: THREAD, input });
  });

  it("steers the running turn", async () => {
    await connect();
    turn = "turn-1";
    setStatus(THREAD, active());
    await eventually(() => expect(app_server.states.get(THREAD)?.busy).toBe(true));
    await app_server.input.prompt(THREAD, "Look again");
    expect(sent("turn/steer")).toEqual({ threadId: THREAD, expectedTurnId: "turn-1", input });
    expect(methods()).not.toContain("turn/start");
  });

  it("stops the running turn, and reports if there is none", async () => {
    await connect();
    await expect(app_server.input.stop(THREAD)).rejects.toThrow("Nothing is running in this session.");
    turn = "turn-1";
    await app_server.input.stop(THREAD);
    expect(sent("turn/interrupt")).toEqual({ threadId: THREAD, turnId: "turn-1" });
  });

  it("reports the server's reason if it is refused", async () => {
    await connect();
    refusal = "the thread is under review";
    await expect(app_server.input.prompt(THREAD, "Look again")).rejects.toThrow(
      "Codex refused: the thread is under review",
    );
  });

  it("is rejected for an unloaded thread, without consent, or for an untested server version", async () => {
    await connect();
    await expect(app_server.input.prompt(OTHER, "Look again")).rejects.toThrow("not open");
    may_answer = false;
    expect(app_server.input.accepts(THREAD)).toBe(false);
    await expect(app_server.input.prompt(THREAD, "Look again")).rejects.toThrow("not open");
    expect(methods()).not.toContain("thread/resume");
    app_server.close();
    may_answer = true;
    userAgent = "codex-tui/0.170.0 (Debian 12.0.0; x86_64)";
    await connect();
    expect(app_server.input.accepts(THREAD)).toBe(false);
  });

  it("is rejected after the server has ended", async () => {
    await connect();
    const stop = app_server.input.stop(THREAD);
    client?.terminate();
    await expect(stop).rejects.toThrow();
    await eventually(() => expect(app_server.input.accepts(THREAD)).toBe(false));
  });
});
