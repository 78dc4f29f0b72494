import { afterEach, beforeEach, expect, it } from "vitest";
import type { Frame } from "../../../src/model/frames/frame.ts";
import { addLiveText } from "../../../src/server/attach/live-text/add-live-text.ts";
import { createLiveTexts, type LiveTexts } from "../../../src/server/attach/live-text/live-texts.ts";
import type { OpenSession } from "../../../src/web/app/open-session.ts";
import { eventually } from "../../eventually.ts";
import { uuidOf } from "../../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "../memory-sessions.ts";
import { openPageClient, type PageClient } from "../page-client.ts";
import { startTestServer, type TestServer } from "../test-server.ts";

// The web client, connected to the daemon's real socket.

const SESSION = uuidOf("session");
const common = { session_id: SESSION, at: 2_000 };

let sessions: MemorySessions;
let texts: LiveTexts;
let httpServer: TestServer;
let clients: PageClient[];
beforeEach(async () => {
  sessions = createMemorySessions();
  texts = createLiveTexts({ now: () => 2_000 });
  httpServer = await startTestServer({ sessions, addLiveText: (open) => addLiveText(open, texts) });
  clients = [];
  sessions.add(SESSION, [
    { ...common, type: "turn.start", turn_id: uuidOf("turn") },
    { ...common, type: "message.start", message_id: uuidOf("message") },
  ]);
});
afterEach(async () => {
  for (const client of clients) client.close();
  texts.close();
  await httpServer.close();
});

function openClient(): {
  client: PageClient;
  session: OpenSession;
  live: () => string[];
  texts: () => string[];
} {
  const client = openPageClient({
    daemon_port: () => httpServer.port,
    headers: () => ({ cookie: httpServer.cookie, origin: httpServer.origin }),
  });
  clients.push(client);
  const session = client.follow(SESSION);
  const textsOf = () => {
    const { transcript } = session.state.getState();
    return transcript === undefined
      ? []
      : [...transcript.parts].flatMap((part) => (part?.type === "text" ? [part.text] : []));
  };
  return {
    client,
    session,
    live: () => session.state.getState().live.map(({ text }) => text),
    texts: textsOf,
  };
}
const recordOf = (text: string): Frame[] => [
  { ...common, type: "message.part_start", part_id: uuidOf(text), kind: "text" },
  { ...common, type: "message.part_end", part_id: uuidOf(text), text },
];
const start = (id: string) =>
  texts.report({ session_id: SESSION, at: 1_000, type: "start", id, kind: "text" });
const write = (id: string, text: string) =>
  texts.report({ session_id: SESSION, at: 1_000, type: "delta", id, text });

it("streams a text, and replaces it with its record atomically", async () => {
  const { session, live, texts: recorded } = openClient();
  await eventually(() => expect(session.state.getState().synced).toBe(true));
  const seen: string[][] = [];
  session.state.subscribe(() => seen.push([...recorded(), ...live()]));
  start("a");
  for (const word of ["One ", "two ", "three."]) write("a", word);
  await eventually(() => expect(live()).toEqual(["One two three."]));
  sessions.push(SESSION, recordOf("One two three."));
  start("b");
  write("b", "Next");
  await eventually(() => expect(live()).toEqual(["Next"]));
  expect(recorded()).toEqual(["One two three."]);
  for (const shown of seen)
    expect(shown.filter((text) => text.startsWith("One"))).toHaveLength(shown.length === 0 ? 0 : 1);
});

it("sends the text so far to a client that subscribes or reconnects mid-stream", async () => {
  start("a");
  write("a", "Before. ");
  const { client, live, texts: recorded } = openClient();
  await eventually(() => expect(live()).toEqual(["Before. "]));
  client.socket?.terminate();
  await eventually(() => expect(client.connected).toBe(false));
  write("a", "Meanwhile. ");
  await eventually(() => expect(live()).toEqual(["Before. Meanwhile. "]));
  write("a", "After.");
  await eventually(() => expect(live()).toEqual(["Before. Meanwhile. After."]));

  client.socket?.terminate();
  await eventually(() => expect(client.connected).toBe(false));
  sessions.push(SESSION, recordOf("Before. Meanwhile. After."));
  await eventually(() => expect(recorded()).toEqual(["Before. Meanwhile. After."]));
  expect(live()).toEqual([]);
});

it("sends only the record to a client that opens the session after it was written", async () => {
  start("a");
  write("a", "One two three.");
  sessions.push(SESSION, recordOf("One two three."));
  const { live, texts: recorded } = openClient();
  await eventually(() => expect(recorded()).toEqual(["One two three."]));
  expect(live()).toEqual([]);
});

it("keeps the live text when a rewritten file replaces the transcript", async () => {
  const { live, texts: recorded } = openClient();
  start("a");
  write("a", "Still written");
  await eventually(() => expect(live()).toEqual(["Still written"]));
  sessions.rewrite(SESSION, [
    { ...common, type: "message.start", message_id: uuidOf("message") },
    ...recordOf("Another past."),
  ]);
  await eventually(() => expect(recorded()).toEqual(["Another past."]));
  expect(live()).toEqual(["Still written"]);
});
