import { expect, it } from "vitest";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { uuidOf } from "../uuid-of.ts";
import { openDoors, rawRequest, sendRaw } from "./doors.ts";
import { createMemorySessions } from "./memory-sessions.ts";

it("cuts off a request that does not come, and none that has come and is answered for long", async () => {
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
  const doors = await openDoors({ sessions, password: "correct horse", request_ms: 100 });
  const headers = { Host: `127.0.0.1:${doors.port}`, [CLIENT_HEADER]: "1" };
  const path = `/api/sessions/${id}`;
  const answer = sendRaw(
    doors.port,
    rawRequest({ method: "GET", path, headers: { ...headers, Cookie: doors.cookie } }),
  );
  await asked.promise;
  // Its time begins after that of the one above, and so it is over later.
  const login = { ...headers, "Content-Type": "application/json", "Content-Length": "20" };
  const late = await sendRaw(doors.port, rawRequest({ method: "POST", path: "/api/login", headers: login }));
  expect(late.status).toBe(408);
  read.resolve();
  const { status, body } = await answer;
  expect(status).toBe(200);
  expect(body).toContain(id);
  await doors.close();
});
