import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { serve } from "../../src/server/http/serve.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions } from "./memory-sessions.ts";
import { rawRequest, sendRaw, startTestServer } from "./test-server.ts";

it("cuts off an incomplete request, but not a complete one with a slow reply", async () => {
  const id = uuidOf("slow");
  const sessions = createMemorySessions();
  sessions.add(id);
  const { open } = sessions;
  const asked = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  sessions.open = async (which) => {
    asked.resolve();
    await read.promise;
    return await open(which);
  };
  const httpServer = await startTestServer({ sessions, password: "correct horse", request_ms: 100 });
  const headers = { Host: `127.0.0.1:${httpServer.port}`, [CLIENT_HEADER]: "1" };
  const path = `/api/sessions/${id}`;
  const answer = sendRaw(
    httpServer.port,
    rawRequest({ method: "GET", path, headers: { ...headers, Cookie: httpServer.cookie } }),
  );
  await asked.promise;
  // Its timeout starts after the one above, so it ends later.
  const login = { ...headers, "Content-Type": "application/json", "Content-Length": "20" };
  const late = await sendRaw(
    httpServer.port,
    rawRequest({ method: "POST", path: "/api/login", headers: login }),
  );
  expect(late.status).toBe(408);
  read.resolve();
  const { status, body } = await answer;
  expect(status).toBe(200);
  expect(body).toContain(id);
  await httpServer.close();
});

it("waits for a long request that arrives slowly, but not for one that hardly arrives", async () => {
  const httpServer = await startTestServer({
    sessions: createMemorySessions(),
    password: "correct horse",
    request_ms: 100,
  });
  const head = (length: number) =>
    rawRequest({
      method: "POST",
      path: "/api/login",
      headers: {
        Host: `127.0.0.1:${httpServer.port}`,
        [CLIENT_HEADER]: "1",
        "Content-Type": "application/json",
        "Content-Length": String(length),
      },
    });
  /** Sends a few bytes at a time until it is stopped or disconnected. */
  const trickle = (length: number, bytes: number) => {
    const socket = connect(httpServer.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(head(length));
    let left = length;
    const timer = setInterval(() => {
      socket.write(" ".repeat(bytes));
      left -= bytes;
    }, 10);
    socket.on("close", () => clearInterval(timer));
    const end = () => {
      clearInterval(timer);
      socket.write(" ".repeat(left));
    };
    return { end, answer: text(socket) };
  };
  const long = trickle(1_000_000, 1_000);
  const hardly = trickle(1_000_000, 1);
  // Silent requests serve as a clock here: each is cut off after the timeout.
  for (let round = 0; round < 3; round++) {
    expect((await sendRaw(httpServer.port, head(20))).status).toBe(408);
  }
  expect(await hardly.answer).toContain("408 Request Timeout");
  long.end();
  expect(await long.answer).toContain("Wrong password.");
  await httpServer.close();
});

it("releases the port if the services cannot be opened", async () => {
  let taken = 0;
  const failing = serve({ host: "127.0.0.1", port: 0 }, (port) => {
    taken = port;
    throw new Error("No page today.");
  });
  await expect(failing).rejects.toThrow("No page today.");
  const httpServer = await startTestServer({ sessions: createMemorySessions(), port: taken });
  await httpServer.close();
});
