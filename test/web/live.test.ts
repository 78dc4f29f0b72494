import { afterEach, expect, test, vi } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { openSession } from "../../src/web/app/open-session.ts";
import type { Client } from "../../src/web/app/store.ts";
import { eventually } from "../eventually.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

const SESSION = "5f0c3a7e-3333-4444-8555-666677778888";
const common = { session_id: SESSION, at: 1_700_000_000_000 };
const uuid = (number: number): string => `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;

/** A turn that streams: text in deltas, calls, results out of order. */
function turnFrames(turn: number): Frame[] {
  const id = (step: number) => uuid(turn * 1_000 + step);
  const message_id = id(1);
  return [
    { ...common, type: "user.message", message_id: id(0), parts: [{ type: "text", text: `Prompt ${turn}` }] },
    { ...common, type: "message.start", message_id },
    { ...common, type: "message.part_start", part_id: id(2), kind: "text", message_id },
    ..."Let me look at it.".split("").map(
      (text, offset): Frame => ({
        ...common,
        type: "message.delta",
        kind: "text",
        part_id: id(2),
        text,
        offset,
      }),
    ),
    { ...common, type: "message.part_end", part_id: id(2) },
    ...[10, 11, 12].map(
      (call): Frame => ({
        ...common,
        type: "message.tool_call",
        tool_call_id: id(call),
        tool_name: "Bash",
        arguments_json: `{"command":"ls ${call}"}`,
        part_id: id(call),
        message_id,
      }),
    ),
    ...[12, 10, 11].map(
      (call): Frame => ({
        ...common,
        type: "message.tool_result",
        tool_call_id: id(call),
        is_error: call === 11,
        status: call === 11 ? "error" : "success",
        output_text: `out ${call}`,
        parts: [],
        part_id: id(call + 20),
        message_id: id(call + 40),
      }),
    ),
    { ...common, type: "message.end", message_id, stop_reason: "stop" },
  ];
}

let daemon: TestDaemon;
let client: Client;
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("a transcript that was cut off 41 times while it grew equals the undisturbed one", async () => {
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, turnFrames(0));
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().synced).toBe(true));

  let truth = emptyTranscript(SESSION);
  for (const frame of turnFrames(0)) truth = accumulate(truth, frame);
  let cuts = 0;
  for (let turn = 1; turn <= 40; turn += 1) {
    for (const [at, frame] of turnFrames(turn).entries()) {
      truth = accumulate(truth, frame);
      daemon.sessions.push(SESSION, [frame]);
      if (at % 28 === turn % 28) {
        daemon.cut();
        cuts += 1;
        await eventually(() => expect(client.live.connection.getState().status).toBe("lost"));
        client.live.reconnect();
        await eventually(() => expect(client.live.connection.getState().status).toBe("live"));
      }
    }
  }
  expect(cuts).toBe(41);
  await eventually(
    () => expect(session.state.getState().transcript?.parts.length).toBe(truth.parts.length),
    5_000,
  );
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  await session.load(0, truth.parts.length);
  const { transcript } = session.state.getState();
  // As sent to clients, where only the result has the output.
  const wire = (of: typeof truth | undefined): unknown =>
    JSON.parse(JSON.stringify([...(of?.parts ?? [])].map((part) => part && truncatePart(part))));
  expect(wire(transcript)).toEqual(wire(truth));
}, 60_000);

test("the pages of a long session are loaded where they are viewed, and stay consistent with new frames", async () => {
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, Array.from({ length: 100 }, (_, turn) => turnFrames(turn)).flat());
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  const count = session.state.getState().transcript?.parts.length ?? 0;
  expect(count).toBeGreaterThan(700);
  expect(session.partAt(0)).toBeUndefined();
  expect(session.partAt(count - 1)).toBeDefined();
  const loaded = session.load(0, 10);
  daemon.sessions.push(SESSION, turnFrames(100));
  await loaded;
  expect(session.partAt(0)).toMatchObject({ type: "prompt" });
  await eventually(() =>
    expect(session.state.getState().transcript?.parts.length).toBe(
      daemon.sessions.transcript(SESSION).parts.length,
    ),
  );
  await session.load(0, count);
  for (let index = 0; index < count; index += 1)
    expect(session.partAt(index)?.id).toBe(daemon.sessions.transcript(SESSION).parts.at(index)?.id);
});

test("a page whose connection died silently is loaded once the daemon responds again", async () => {
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, Array.from({ length: 100 }, (_, turn) => turnFrames(turn)).flat());
  let asked = 0;
  daemon.answer(({ route }) => {
    if (!route.includes("/parts?")) return undefined;
    asked += 1;
    return asked === 1 ? new Promise(() => {}) : undefined;
  });
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  const loaded = session.load(0, 10);
  await eventually(() => expect(asked).toBe(1));
  daemon.cutSockets();
  await loaded;
  expect(session.partAt(0)).toMatchObject({ type: "prompt" });
});

test("a page whose connection died during sleep is loaded after waking", async () => {
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, Array.from({ length: 100 }, (_, turn) => turnFrames(turn)).flat());
  let asked = 0;
  daemon.answer(({ route }) => {
    if (!route.includes("/parts?")) return undefined;
    asked += 1;
    return asked === 1 ? new Promise(() => {}) : undefined;
  });
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  const loaded = session.load(0, 10);
  await eventually(() => expect(asked).toBe(1));
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
  dispatchEvent(new Event("online"));
  expect(client.live.connection.getState().status).toBe("lost");
  await loaded;
  clock.mockRestore();
  expect(session.partAt(0)).toMatchObject({ type: "prompt" });
});

test("an unanswered status request is aborted, so that it does not hold a connection", async () => {
  daemon = await startTestDaemon();
  let asked = 0;
  daemon.answer(({ route }) => {
    if (route !== "GET /api/status") return undefined;
    asked += 1;
    return new Promise(() => {});
  });
  client = clientOf(daemon);
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
  const answered = client.refreshStatus();
  await eventually(() => expect(asked).toBe(1));
  limit.abort();
  await answered;
  expect(timeout).toHaveBeenCalledWith(10_000);
  timeout.mockRestore();
});

test("a page of long parts in several replies is loaded completely", async () => {
  daemon = await startTestDaemon();
  const text = "a long text ".repeat(5_000);
  const frames = Array.from(
    { length: 300 },
    (_, n): Frame => ({ ...common, type: "marker", part_id: uuid(n), kind: "note", title: `${n}`, text }),
  );
  daemon.sessions.add(SESSION, frames);
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  await session.load(0, 200);
  for (let index = 0; index < 200; index += 1)
    expect(session.partAt(index)).toMatchObject({ title: `${index}` });
});

test("a missing daemon is reported, and reconnected to when it returns", async () => {
  daemon = await startTestDaemon();
  daemon.sessions.add(SESSION, turnFrames(0));
  client = clientOf(daemon);
  const { connection } = client.live;
  await eventually(() => expect(connection.getState().status).toBe("live"));
  daemon.down();
  await eventually(() => expect(connection.getState().status).toBe("lost"));
  expect(connection.getState().last_message_at).toBeGreaterThan(0);
  expect(connection.getState().retry_at).toBeGreaterThan(0);
  daemon.up();
  await eventually(() => expect(connection.getState().status).toBe("live"));
  await eventually(() => expect(client.rows.getState().byId.has(SESSION)).toBe(true));
});

test("a browser without a valid cookie is informed and stops retrying", async () => {
  daemon = await startTestDaemon();
  client = clientOf(daemon);
  await eventually(() => expect(client.live.connection.getState().status).toBe("live"));
  daemon.signOut();
  await eventually(() => expect(client.live.connection.getState().status).toBe("unauthorized"));
  expect(client.live.connection.getState().retry_at).toBeUndefined();
});

test("a session that does not exist is refused", async () => {
  daemon = await startTestDaemon();
  client = clientOf(daemon);
  const session = openSession(client, SESSION);
  session.subscribe();
  await eventually(() => expect(session.state.getState().refused?.code).toBe("no_channel"));
});
