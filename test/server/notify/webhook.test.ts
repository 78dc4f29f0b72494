import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWebhook, type WebhookMessage } from "../../../src/server/notify/webhook.ts";
import { eventually } from "../../eventually.ts";
import { uuidOf } from "../../uuid-of.ts";
import { asks, row, rowsOf } from "./rows.ts";

let server: Server;
let url: string;
let received: WebhookMessage[];
/** Statuses of the next replies; 200 afterwards. */
let answers: number[];
let failures: string[];
let webhook: { close(): void } | undefined;
beforeEach(async () => {
  received = [];
  answers = [];
  failures = [];
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const status = answers.shift() ?? 200;
    if (status === 200) received.push(JSON.parse(body));
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterEach(() => {
  webhook?.close();
  server.close();
});

const open = (sessions: ReturnType<typeof rowsOf>, of: "waiting" | "all" = "all", dwell = 0) => {
  webhook = openWebhook({
    ...{ url, of, sessions, dwell, retries: [0, 0] },
    onFailure: (problem) => failures.push(problem),
  });
};

describe("the webhook", () => {
  it("posts what waits, with the request, each once", async () => {
    const sessions = rowsOf(row("a"));
    open(sessions, "waiting");
    sessions.set(asks("a", "Run npm test?"));
    sessions.set({ ...asks("a", "Run npm test?"), parts: 2 });
    sessions.set(row("b", { status: "failed" }));
    sessions.set(asks("c", "Which one?"));
    await eventually(() => expect(received).toHaveLength(2));
    expect(received[0]).toEqual({
      kind: "waiting",
      session_id: uuidOf("a"),
      agent: "codex",
      title: "a",
      request: "Run npm test?",
      since: 42,
      text: "Waiting for you: a – Run npm test?",
      content: "Waiting for you: a – Run npm test?",
    });
    expect(received[1]?.request).toBe("Which one?");
  });

  it("posts how sessions end, but not for earlier ends, runs or samples", async () => {
    const sessions = rowsOf(row("old", { status: "completed" }), row("a"), row("run"), row("sample"));
    open(sessions);
    sessions.set(row("old", { status: "completed", parts: 9 }));
    sessions.set(row("found", { status: "failed" }));
    sessions.set(row("run", { status: "failed", parent: { session_id: uuidOf("a") } }));
    sessions.set(row("sample", { status: "failed", sample: true }));
    sessions.set(row("a", { status: "failed" }));
    sessions.set(row("a", { status: "running", turns: 2 }));
    sessions.set(row("a", { status: "completed", turns: 2 }));
    await eventually(() => expect(received.map(({ kind }) => kind)).toEqual(["finished"]));
    expect(received[0]?.text).toBe("Finished: a");
  });

  it("posts each alert of a rule once, whatever it is set to", async () => {
    const alert = { rule_id: uuidOf("rule"), name: "Deletes", since: 42, at: 42, count: 1, text: "rm -rf x" };
    const sessions = rowsOf(row("old", { alerts: [alert] }), row("a"));
    open(sessions, "waiting");
    sessions.set(row("old", { alerts: [{ ...alert, at: 50, count: 2 }] }));
    sessions.set(row("a", { alerts: [alert] }));
    sessions.set(row("a", { alerts: [{ ...alert, at: 60, count: 2 }] }));
    sessions.set({ ...asks("a", "Run npm test?"), alerts: [alert] });
    await eventually(() => expect(received.map(({ kind }) => kind).sort()).toEqual(["rule", "waiting"]));
    expect(received.find(({ kind }) => kind === "rule")).toEqual({
      kind: "rule",
      session_id: uuidOf("a"),
      agent: "codex",
      title: "a",
      rule: "Deletes",
      detail: "rm -rf x",
      since: 42,
      text: "Deletes: a – rm -rf x",
      content: "Deletes: a – rm -rf x",
    });
  });

  it("posts nothing that was answered within the delay", async () => {
    const sessions = rowsOf(row("a"));
    open(sessions, "waiting", 60);
    sessions.set(asks("a", "Run npm test?"));
    sessions.set(row("a"));
    sessions.set(asks("a", "Run npm start?"));
    await eventually(() => expect(received.map(({ request }) => request)).toEqual(["Run npm start?"]));
  });

  it("retries a failed message, and reports the third failure", async () => {
    const sessions = rowsOf(row("a"));
    answers = [500, 503];
    open(sessions);
    sessions.set(asks("a", "One?"));
    await eventually(() => expect(received).toHaveLength(1));
    expect(failures).toEqual([]);
    answers = [500, 500, 404];
    sessions.set(asks("a", "Two?"));
    await eventually(() => expect(failures).toEqual(["it answered 404"]));
  });

  it("follows no redirects", async () => {
    const sessions = rowsOf(row("a"));
    answers = [302, 302, 302];
    open(sessions);
    sessions.set(asks("a", "One?"));
    await eventually(() => expect(failures).toHaveLength(1));
    expect(received).toEqual([]);
  });
});
