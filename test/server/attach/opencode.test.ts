import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAnswerLog } from "../../../src/server/attach/answer-log.ts";
import { createHeldRequests, type HeldRequests } from "../../../src/server/attach/held-requests.ts";
import { type HookSocket, openHookSocket } from "../../../src/server/attach/hook-socket.ts";
import { readAskedEvent } from "../../../src/server/attach/opencode/asked-event.ts";
import { openCodeAttachment } from "../../../src/server/attach/opencode/attachment.ts";
import { openCodeSessionId } from "../../../src/sources/opencode/reader.ts";
import { eventually } from "../../eventually.ts";

// The plugin as it is installed; of opencode there are its events, as opencode 1.18.33 was recorded, and its client.

const SESSION = "ses_deb247308ffeYhduk9Z5UOW0q0";

let folder: string;
let held: HeldRequests;
let socket: HookSocket;
/** What the plugin asked of opencode's API. */
let posted: { url: string; body: unknown }[];
let sendEvent: (event: object) => Promise<void>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "opencode-"));
  posted = [];
  held = createHeldRequests({
    readProcesses: async () => new Map(),
    isWatched: () => false,
    log: createAnswerLog(folder),
    now: Date.now,
    report: (error) => expect.fail(String(error)),
  });
  socket = await openHookSocket(folder, (body, connection) => {
    const asked = readAskedEvent(body);
    if (asked === undefined) connection.release();
    else void held.hold(asked, connection);
  });
  const attachment = openCodeAttachment({ data_dir: folder, config_dir: join(folder, "config") });
  expect(attachment.describe()).toMatchObject({
    is_installed: false,
    diff: expect.stringContaining("+import"),
  });
  attachment.install();
  const { file, is_installed } = attachment.describe();
  expect(is_installed).toBe(true);
  const { Verbatim } = await import(pathToFileURL(file).href);
  const post = async ({ url, body }: { url: string; body: unknown }) => posted.push({ url, body });
  const plugin = await Verbatim({ client: { _client: { post } } });
  sendEvent = (event) => plugin.event({ event });
});
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
