import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { type Attach, createAttach } from "../../../src/server/attach/attach.ts";
import { addAttachRoutes } from "../../../src/server/attach/routes.ts";
import { Refused } from "../../../src/server/sessions/refused.ts";
import { eventually } from "../../eventually.ts";
import { uuidOf } from "../../uuid-of.ts";
import { createMemorySessions } from "../memory-sessions.ts";

// Prompts over HTTP to a replay of Codex 0.169.0's app server on a real socket.

const THREAD = "01a214d3-dab6-76f3-9340-93eef13ec01d";

let folder: string;
let http: Server;
let sockets: WebSocketServer;
let attach: Attach;
let app: Hono;
/** The error with which the server refuses new turns. */
let refusal: string | undefined;
/** The texts of the started turns. */
let begun: string[];

interface Message {
  id?: number;
  method?: string;
  params?: { input?: { text: string }[] };
}

function reply({ id, method, params }: Message): object | undefined {
  if (id === undefined) return undefined;
  switch (method) {
    case "initialize":
      return { id, result: { userAgent: "codex-tui/0.169.0 (Debian 12.0.0; x86_64)" } };
    case "thread/loaded/list":
      return { id, result: { data: [THREAD] } };
    case "thread/read":
      return { id, result: { thread: { id: THREAD, ephemeral: false, status: { type: "idle" } } } };
    case "turn/start":
      if (refusal !== undefined) return { id, error: { code: -1, message: refusal } };
      begun.push(...(params?.input ?? []).map(({ text }) => text));
      return { id, result: {} };
    default:
      return { id, result: {} };
  }
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
  refusal = undefined;
  begun = [];
  mkdirSync(join(folder, "codex/app-server-control"), { recursive: true });
  mkdirSync(join(folder, "data"));
  http = createServer();
  sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket) =>
    socket.on("message", (data) => {
      const answer = reply(JSON.parse(String(data)));
      if (answer) socket.send(JSON.stringify(answer));
    }),
  );
  await new Promise<void>((done) =>
    http.listen(join(folder, "codex/app-server-control/app-server-control.sock"), done),
  );
  attach = createAttach({
    data_dir: join(folder, "data"),
    folders: {
      claude_code: join(folder, "claude"),
      codex: join(folder, "codex"),
      opencode: join(folder, "opencode"),
      hooked: {},
    },
    readProcesses: async () => new Map(),
    isWatched: () => true,
    report: (error) => expect.fail(String(error)),
  });
  attach.change("codex", "install");
  await attach.listen();
  const sessions = createMemorySessions();
  sessions.add(THREAD);
  app = new Hono();
  addAttachRoutes(app, attach, sessions, { requireUnlocked: () => {} });
  app.onError((error, context) =>
    error instanceof Refused ? context.json({ message: error.message }, error.status) : context.text("", 500),
  );
  await eventually(() => expect(attach.input.accepts(THREAD)).toBe(true));
});
afterEach(async () => {
  await attach.close();
  for (const socket of sockets.clients) socket.terminate();
  await new Promise((done) => http.close(done));
  rmSync(folder, { recursive: true, force: true });
});

const send = async (message: string, text: string): Promise<number> => {
  const { status } = await app.request(`/api/sessions/${THREAD}/terminal-prompt`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message_id: uuidOf(message), text }),
  });
  return status;
};

it("delivers a repeated message once", async () => {
  expect(await Promise.all([send("one", "Count"), send("one", "Count")])).toEqual([200, 200]);
  expect(await send("one", "Count")).toBe(200);
  expect(begun).toEqual(["Count"]);
});

it("delivers a message on retry after the agent refused it", async () => {
  refusal = "the thread is under review";
  expect(await send("one", "Count")).toBe(409);
  refusal = undefined;
  expect(await send("one", "Count")).toBe(200);
  expect(begun).toEqual(["Count"]);
});
