import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listPastSessions, readPastSession } from "../../../src/agent/acp/past-sessions.ts";
import { createReplay } from "../../../src/agent/acp/replay.ts";
import { type Frame, frame as frameSchema } from "../../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../../src/model/frames/order.ts";
import { asObject, asString } from "../../../src/model/narrow.ts";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../../src/model/transcript/transcript-state.ts";
import { said } from "../../browser/managed-session.ts";
import { sharedData } from "../../shared-data.ts";
import { SESSION } from "./acting-host.ts";
import { type Route, type ScriptLine, says, serves, writeScript } from "./script.ts";

const OWN = "agents-own-session";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "past-sessions-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (lines: readonly ScriptLine[]) => ({
  command: process.execPath,
  args: writeScript(folder, "script", lines),
  env: { PATH: process.env.PATH },
  label: "Elsewhere",
});
const never = new AbortController().signal;
const hello = (capabilities: object): Route => ({ method: "initialize", says: [says.hello(capabilities)] });
const lists = { sessionCapabilities: { list: {} }, loadSession: true };
const list = (routes: readonly Route[], options: { cwd?: string; cursor?: string } = {}, limit_ms?: number) =>
  listPastSessions(program(serves(routes)), { folder, ...options }, never, limit_ms);
const read = (routes: readonly Route[], is_inherited = false) => {
  const session = { id: OWN, cwd: folder, session_id: SESSION, is_inherited };
  return readPastSession(program(serves(routes)), session, never);
};

/** What a transcript of the frames says, turn by turn. Checks that the frames are valid and in order. */
function turnsOf(frames: readonly Frame[]) {
  const checker = createOrderChecker();
  for (const frame of frames) {
    frameSchema.parse(frame);
    expect(checker.check(frame)).toEqual([]);
  }
  const { turns, parts, open } = frames.reduce(accumulate, emptyTranscript(SESSION));
  expect(open.turn_open).toBe(false);
  return Array.from(turns, (turn) => turn).flatMap((turn) => {
    if (turn === undefined) return [];
    const its = Array.from({ length: turn.part_count }, (_, index) => parts.at(turn.first_part + index));
    const told = its.flatMap((part) =>
      part === undefined || part.type.startsWith("step_") ? [] : [said(part)],
    );
    return [{ status: turn.status, parts: told }];
  });
}
const user = (text: string, fields: object = {}) =>
  says.update("user_message_chunk", { content: { type: "text", text }, ...fields });

describe("listing an agent's past sessions", () => {
  const page = (sessions: object[], more: object = {}): ScriptLine => says.result(1, { sessions, ...more });
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ sessionId: `s${from + index}`, cwd: "/srv" }));

  it("reads titles, folders and times, and leaves out entries that are not sessions", async () => {
    const sessions = [
      { sessionId: "a", cwd: "/srv/a", title: "One\nline", updatedAt: "2026-11-25T22:44:45.563Z" },
      { sessionId: "b", cwd: "/srv/b", title: null, updatedAt: "soon" },
      { sessionId: 3, cwd: "/srv/c" },
      { sessionId: "d" },
    ];
    expect(await list([hello(lists), { method: "session/list", says: [page(sessions)] }])).toEqual({
      opens: "with_history",
      sessions: [
        { id: "a", cwd: "/srv/a", title: "One", updated_at: Date.UTC(2026, 10, 25, 22, 44, 45, 563) },
        { id: "b", cwd: "/srv/b" },
      ],
    });
  });

  it("collects short pages, returns the cursor of the next one, and passes the folder on", async () => {
    const pages: Route[] = [
      {
        method: "session/list",
        params: { cursor: null, cwd: folder },
        says: [page(many(0, 30), { nextCursor: "two" })],
      },
      {
        method: "session/list",
        params: { cursor: "two", cwd: folder },
        says: [page(many(30, 30), { nextCursor: "three" })],
      },
      {
        method: "session/list",
        params: { cursor: "three", cwd: folder },
        says: [page(many(60, 5), { nextCursor: null })],
      },
    ];
    const first = await list([hello(lists), ...pages], { cwd: folder });
    expect(first.sessions.map(({ id }) => id)).toEqual(many(0, 60).map(({ sessionId }) => sessionId));
    expect(first.next).toBe("three");
    const second = await list([hello(lists), ...pages], { cwd: folder, cursor: "three" });
    expect(second.sessions).toHaveLength(5);
    expect(second).not.toHaveProperty("next");
  });

  it("stops if an agent repeats its cursor", async () => {
    const same = page(many(0, 2), { nextCursor: "again" });
    const found = await list([hello(lists), { method: "session/list", says: [same] }]);
    expect(found.sessions).toHaveLength(4);
    expect(found).not.toHaveProperty("next");
  });

  it.each<[string, object, string]>([
    ["sends their history", lists, "with_history"],
    ["only resumes them", { sessionCapabilities: { list: {}, resume: {} } }, "without_history"],
    ["does neither", { sessionCapabilities: { list: {} } }, "no"],
  ])("says how an agent opens them that %s", async (_name, capabilities, opens) => {
    expect(await list([hello(capabilities), { method: "session/list", says: [page([])] }])).toEqual({
      opens,
      sessions: [],
    });
  });

  it("says that an agent does not announce it", async () => {
    await expect(list([hello({ loadSession: true })])).rejects.toMatchObject({
      code: "no_list",
      message: expect.stringContaining("does not announce `session/list`"),
    });
  });

  it("names the remedy if the program is missing, exits, requires a login, or does not answer", async () => {
    const failure = (text: RegExp) => ({ code: "agent_failed", message: expect.stringMatching(text) });
    const missing = { ...program([]), command: join(folder, "nothing") };
    await expect(listPastSessions(missing, { folder }, never)).rejects.toMatchObject(
      failure(/there is no program .*nothing.*Install it/),
    );
    const broken = program([
      { do: "stderr", text: "no config" },
      { do: "exit", code: 3 },
    ]);
    await expect(listPastSessions(broken, { folder }, never)).rejects.toMatchObject(
      failure(/exit code 3\. Try again; if it ends again, run .* in a terminal.*\n.*no config/s),
    );
    const login = says.error(1, { code: -32_000, message: "Authentication required" });
    await expect(list([hello(lists), { method: "session/list", says: [login] }])).rejects.toMatchObject(
      failure(/requires a login.*then try again\.$/s),
    );
    const known = {
      ...program(serves([hello(lists), { method: "session/list", says: [login] }])),
      login: "tide login",
    };
    await expect(listPastSessions(known, { folder }, never)).rejects.toMatchObject(
      failure(/requires a login.*\nRun `tide login` in a terminal, then try again\.$/s),
    );
    await expect(list([hello(lists), { method: "session/list", says: [] }], {}, 500)).rejects.toMatchObject(
      failure(/did not list its sessions within 0\.5 s\. Run .* in a terminal/),
    );
  });

  it.runIf(process.platform === "linux")("ends the program when it is no longer wanted", async () => {
    const leave = new AbortController();
    const silent = program(serves([hello(lists), { method: "session/list", says: [] }]));
    const listing = listPastSessions(silent, { folder }, leave.signal);
    leave.abort();
    await expect(listing).rejects.toMatchObject({ message: expect.stringContaining("was stopped") });
    const running = readdirSync("/proc").filter((pid) => {
      const path = join("/proc", pid, "cmdline");
      return /^\d+$/.test(pid) && existsSync(path) && readFileSync(path, "utf8").includes(folder);
    });
    expect(running).toEqual([]);
  });
});

describe("reading a past session", () => {
  const history = [
    user("Read a", { messageId: "1" }),
    user(".ts", { messageId: "1" }),
    says.thought("A file."),
    says.text("Reading."),
    says.update("tool_call", { toolCallId: "c", title: "Read", kind: "read", rawInput: { path: "a.ts" } }),
    says.update("tool_call_update", { toolCallId: "c", status: "completed", rawOutput: "text" }),
    says.text("It is empty."),
    user("Stop", { messageId: "2" }),
    user("Then go on", { messageId: "3" }),
    says.text("Done."),
    says.update("available_commands_update", { availableCommands: [{ name: "x" }] }),
  ];

  it("groups the updates into turns, which begin with a user's message", async () => {
    const load: Route = {
      method: "session/load",
      params: { sessionId: OWN },
      says: [...history, says.loaded],
    };
    const frames = await read([hello(lists), load]);
    expect(turnsOf(frames)).toEqual([
      {
        status: "completed",
        parts: [
          "prompt Read a.ts",
          "thinking A file.",
          "text Reading.",
          'call read {"path":"a.ts"} completed',
          "result read success text",
          "text It is empty.",
        ],
      },
      { status: "interrupted", parts: ["prompt Stop"] },
      {
        status: "completed",
        parts: [
          "prompt Then go on",
          "text Done.",
          `marker note Elsewhere 1.0 sent the history above, of its session ${OWN}`,
        ],
      },
    ]);
    // The protocol has no times.
    expect(frames.filter(({ at }) => at !== 0)).toEqual([]);
  });

  it("marks the messages of a session that is also read from its file, where they are counted", async () => {
    const load: Route = { method: "session/load", says: [...history, says.loaded] };
    const starts = async (is_inherited: boolean) =>
      (await read([hello(lists), load], is_inherited)).flatMap((frame) =>
        frame.type === "message.start" ? [frame.inherited] : [],
      );
    expect(await starts(true)).toEqual([true, true, true]);
    expect(await starts(false)).toEqual([undefined, undefined, undefined]);
  });

  it("opens a session without a history if the agent only resumes it, and says so", async () => {
    const resume: Route = { method: "session/resume", params: { sessionId: OWN }, says: [says.loaded] };
    const only = { sessionCapabilities: { list: {}, resume: {} } };
    const opened = [
      {
        status: "completed",
        parts: [`marker note Elsewhere 1.0 opened its session ${OWN} without its history`],
      },
    ];
    expect(turnsOf(await read([hello(only), resume]))).toEqual(opened);
    // Announced, but not supported.
    expect(turnsOf(await read([hello({ ...only, loadSession: true }), resume]))).toEqual(opened);
  });

  it("reports the agent's answer, or that it cannot open sessions", async () => {
    const refusal = says.error(1, { code: -32_603, message: "active writer" });
    await expect(read([hello(lists), { method: "session/load", says: [refusal] }])).rejects.toMatchObject({
      code: "agent_failed",
      message: `Elsewhere could not open its session ${OWN}: active writer`,
    });
    await expect(read([hello({ sessionCapabilities: { list: {} } })])).rejects.toMatchObject({
      code: "no_open",
    });
  });
});

const recordings = sharedData("agents", "attach");
describe.skipIf(recordings === undefined)("the history that real agents send", () => {
  it.each(["claude", "codex", "copilot", "opencode", "qwen"])("of %s becomes turns", (agent) => {
    const lines = readFileSync(join(recordings ?? "", `acp-load-${agent}.jsonl`), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => asObject(asObject(JSON.parse(line))?.message));
    const load = lines.findIndex((message) => message?.method === "session/load");
    const reply = lines.findIndex(
      (message) => message?.id === lines[load]?.id && message?.result !== undefined,
    );
    const replay = createReplay({ session_id: SESSION, is_inherited: true });
    let users = 0;
    for (const message of lines.slice(load, reply)) {
      const update = asObject(asObject(message?.params)?.update);
      if (update === undefined || message?.method !== "session/update") continue;
      if (asString(update.sessionUpdate) === "user_message_chunk") users += 1;
      replay.push(update);
    }
    const frames = replay.end(lines[reply]?.result, {
      type: "marker",
      kind: "note",
      part_id: SESSION,
      title: "end",
    });
    const turns = turnsOf(frames);
    expect(turns).toHaveLength(users);
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => "completed"));
    expect(turns[0]?.parts[0]).toMatch(/^prompt .*Made in the terminal/);
    expect(turns[0]?.parts).toContainEqual(expect.stringMatching(/^text (Quick answer|The file is made)/));
    expect(turns[0]?.parts).not.toContain("unknown");
  });
});
