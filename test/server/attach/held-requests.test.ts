import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OpenRequest } from "../../../src/model/session.ts";
import { createAnswerLog } from "../../../src/server/attach/answer-log.ts";
import { readElicitation } from "../../../src/server/attach/claude-code/elicitation.ts";
import { readPermissionRequest } from "../../../src/server/attach/claude-code/permission-request.ts";
import {
  createHeldRequests,
  type HeldRequests,
  type TerminalProcess,
} from "../../../src/server/attach/held-requests.ts";
import { type HookSocket, hookSocketPath, openHookSocket } from "../../../src/server/attach/hook-socket.ts";
import { eventually } from "../../eventually.ts";
import { bash, permissionRequest, startHook } from "./hook-process.ts";

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";

let folder: string;
let processes: Map<string, TerminalProcess>;
let is_watched: boolean;
/** How often the process registries were read. */
let looks: number;
let time: number;
let held: HeldRequests;
let socket: HookSocket;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
  processes = new Map([[SESSION, { waiting: {} }]]);
  is_watched = true;
  looks = 0;
  time = 1_000_000;
  held = createHeldRequests({
    async readProcesses() {
      looks += 1;
      return processes;
    },
    isWatched: () => is_watched,
    log: createAnswerLog(folder),
    now: () => time,
    report: (error) => expect.fail(String(error)),
  });
  socket = await openHookSocket(folder, (body, connection) => {
    const asked = readPermissionRequest(body);
    if (asked === undefined) connection.release();
    else void held.hold(asked, connection);
  });
});
afterEach(async () => {
  held.close();
  await socket.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a hook and waits until its requests are open. */
async function ask(fields: object) {
  const before = new Set(held.openOf(SESSION).map(({ request_id }) => request_id));
  const hook = startHook(folder, permissionRequest(SESSION, fields));
  const open = await eventually(() => {
    const now = held.openOf(SESSION).filter(({ request_id }) => !before.has(request_id));
    expect(now).not.toEqual([]);
    return now;
  });
  return { hook, open, first: open[0] as OpenRequest };
}

function answer(request_id: string, label: string, text?: string) {
  const request = held.get(request_id);
  const option_ids = (request?.options ?? []).filter((one) => label.includes(one.label)).map(({ id }) => id);
  return held.answer(request_id, {
    ...(request?.digest !== undefined && { digest: request.digest }),
    answer: { option_ids, ...(text !== undefined && { text }) },
  });
}

const decisionOf = ({ code, output }: { code: number | null; output: string }) => {
  expect(code).toBe(0);
  return JSON.parse(output).hookSpecificOutput.decision;
};

describe("a call that waits for approval in a terminal", () => {
  it("is shown with everything that would run, and its answer is sent to the agent and logged", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    expect(first).toMatchObject({ kind: "approval", title: "Allow Bash: touch made.txt", in_terminal: true });
    expect(held.get(first.request_id)).toMatchObject({ subject: "touch made.txt", tool_name: "Bash" });
    answer(first.request_id, "Allow");
    expect(decisionOf(await hook.ended)).toEqual({ behavior: "allow" });
    expect(held.openOf(SESSION)).toEqual([]);
    const log = JSON.parse(readFileSync(join(folder, "attach/answers.jsonl"), "utf8"));
    expect(log).toMatchObject({ session_id: SESSION, subject: "touch made.txt", answer: ["Allow"] });
    expect(statSync(join(folder, "attach")).mode & 0o777).toBe(0o700);
  });

  it("is denied with the reason", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    answer(first.request_id, "Deny", "Not on a Thursday.");
    expect(decisionOf(await hook.ended)).toEqual({ behavior: "deny", message: "Not on a Thursday." });
  });

  it("can be allowed permanently only with the agent's own suggestions", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    expect(held.get(first.request_id)?.options.map(({ label }) => label)).toEqual([
      "Allow",
      "Allow, and always allow Bash(touch:*) (session)",
      "Allow, and switch to mode acceptEdits (session)",
      "Deny",
    ]);
    held.answer(first.request_id, {
      digest: held.get(first.request_id)?.digest ?? "",
      answer: { option_ids: ["suggestion-1"] },
    });
    expect(decisionOf(await hook.ended)).toEqual({
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
    });
  });

  it("shows arguments that change what is run", async () => {
    const input = { command: "make", description: "Build", run_in_background: true };
    const { first } = await ask({ tool_name: "Bash", tool_input: input });
    expect(held.get(first.request_id)?.subject).toBe(
      "command: make\ndescription: Build\nrun_in_background: true",
    );
    const file = { file_path: "/w/tide/a.txt", content: "one\ntwo" };
    const write = await ask({ tool_name: "Write", tool_input: file });
    expect(held.get(write.first.request_id)?.subject).toBe(
      "file_path: /w/tide/a.txt\ncontent:\n  one\n  two",
    );
  });

  it("rejects an answer to another subject than the shown one", async () => {
    const { first } = await ask(bash("touch made.txt"));
    const given = { digest: "0".repeat(64), answer: { option_ids: ["allow"] } };
    expect(() => held.answer(first.request_id, given)).toThrow("has changed since the answer");
    expect(held.openOf(SESSION)).toHaveLength(1);
  });

  it("is answered once: repeating the answer succeeds, another answer is rejected", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    answer(first.request_id, "Allow");
    await hook.ended;
    const again = (id: string) => held.answer(first.request_id, { answer: { option_ids: [id] } });
    expect(again("allow")).toMatchObject({ outcome: "answered" });
    expect(() => again("deny")).toThrow("answered in another window");
  });
});

describe("an answer in the terminal", () => {
  it("ends the request when the registry no longer reports waiting", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    const before = looks;
    await eventually(() => expect(looks).toBeGreaterThan(before));
    processes = new Map([[SESSION, {}]]);
    expect(await hook.ended).toEqual({ code: 0, output: "" });
    expect(() => answer(first.request_id, "Allow")).toThrow("answered in the terminal");
  });

  it("ends the request when the agent ends the hook's process", async () => {
    const { hook, first } = await ask(bash("touch made.txt"));
    hook.kill();
    await eventually(() => expect(held.openOf(SESSION)).toEqual([]));
    expect(() => answer(first.request_id, "Allow")).toThrow("answered in the terminal");
  });

  it("ends the main thread's earlier request when it asks the next one", async () => {
    const one = await ask(bash("touch one.txt"));
    const two = await ask(bash("touch two.txt"));
    expect(await one.hook.ended).toEqual({ code: 0, output: "" });
    expect(held.openOf(SESSION)).toMatchObject([{ request_id: two.first.request_id }]);
  });
});

describe("a request whose hook hides the dialog", () => {
  const sub_agent = { agent_id: "a1", agent_type: "general-purpose" };

  it("is left to the terminal at once if no browser shows the session", async () => {
    is_watched = false;
    const hook = startHook(folder, permissionRequest(SESSION, { ...bash("make"), ...sub_agent }));
    expect(await hook.ended).toEqual({ code: 0, output: "" });
    expect(held.openOf(SESSION)).toEqual([]);
  });

  it("is held for at most 15 seconds", async () => {
    const { hook, first } = await ask({ ...bash("make"), ...sub_agent });
    expect(first).toMatchObject({
      title: "Allow Bash: make (general-purpose)",
      expires_at: time + 15_000,
    });
    time += 15_001;
    expect(await hook.ended).toEqual({ code: 0, output: "" });
    expect(() => answer(first.request_id, "Allow")).toThrow("left to the terminal");
  });

  it("is released when the browser leaves the session", async () => {
    const { hook } = await ask({ ...bash("make"), ...sub_agent });
    is_watched = false;
    expect(await hook.ended).toEqual({ code: 0, output: "" });
  });

  it("is treated the same for an agent without a terminal", async () => {
    processes = new Map([[SESSION, { headless: true }]]);
    const { first } = await ask(bash("make"));
    expect(first.expires_at).toBe(time + 15_000);
  });
});

describe("a form", () => {
  const questions = [
    { question: "Which colour?", header: "Colour", options: [{ label: "Red" }, { label: "Blue" }] },
    { question: "Which sizes?", multiSelect: true, options: [{ label: "S" }, { label: "L" }] },
  ];

  it("is answered when all its questions are answered", async () => {
    const { hook, open } = await ask({ tool_name: "AskUserQuestion", tool_input: { questions } });
    const [colour, sizes] = open;
    expect(open.map(({ title }) => title)).toEqual(["Which colour?", "Which sizes?"]);
    answer(sizes?.request_id ?? "", "S L");
    expect(held.openOf(SESSION)).toMatchObject([{ title: "Which colour?" }]);
    answer(colour?.request_id ?? "", "", "Green");
    expect(decisionOf(await hook.ended)).toEqual({
      behavior: "allow",
      updatedInput: { questions, answers: { "Which colour?": "Green", "Which sizes?": "S, L" } },
    });
  });
});

describe("a form of several questions", () => {
  it("asks again for a value that does not fit, before anything is sent", async () => {
    const asked = readElicitation({
      hook_event_name: "Elicitation",
      session_id: SESSION,
      mcp_server_name: "shop",
      message: "Your order",
      requested_schema: {
        type: "object",
        properties: { count: { type: "integer", minimum: 1 } },
        required: ["count"],
      },
    });
    if (asked === undefined) expect.fail("The form was not read.");
    const replies: unknown[] = [];
    await held.hold(asked, {
      answer: (reply) => replies.push(reply),
      release: () => replies.push("released"),
      onGone() {},
    });
    const id = held.openOf(SESSION)[0]?.request_id ?? "";
    const enter = (text: string) => held.answer(id, { answer: { option_ids: [], text } });
    expect(() => enter("0")).toThrow("Enter a number of at least 1.");
    expect(held.openOf(SESSION)).toHaveLength(1);
    expect(replies).toEqual([]);
    expect(enter("2")).toMatchObject({ outcome: "answered" });
    expect(replies).toEqual([
      { hookSpecificOutput: { hookEventName: "Elicitation", action: "accept", content: { count: 2 } } },
    ]);
  });

  it("ends with the answer that declines it", async () => {
    const properties = { colour: { type: "boolean" }, name: { type: "string" } };
    const asked = readElicitation({
      hook_event_name: "Elicitation",
      session_id: SESSION,
      mcp_server_name: "shop",
      message: "Your order",
      requested_schema: { type: "object", properties },
    });
    if (asked === undefined) expect.fail("The form was not read.");
    const replies: unknown[] = [];
    await held.hold(asked, {
      answer: (reply) => replies.push(reply),
      release: () => replies.push("released"),
      onGone() {},
    });
    const [colour, name] = held.openOf(SESSION);
    answer(colour?.request_id ?? "", "Yes");
    expect(replies).toEqual([]);
    answer(name?.request_id ?? "", "Decline the whole form");
    expect(replies).toEqual([{ hookSpecificOutput: { hookEventName: "Elicitation", action: "decline" } }]);
    expect(held.openOf(SESSION)).toEqual([]);
  });
});

describe("a plan", () => {
  const tool_input = { plan: "# Plan\n\n1. Read", planFilePath: "/plans/a.md" };

  it("is approved with its text, or returned with feedback", async () => {
    const one = await ask({ tool_name: "ExitPlanMode", tool_input });
    expect(held.get(one.first.request_id)?.subject).toBe(tool_input.plan);
    answer(one.first.request_id, "Approve");
    expect(decisionOf(await one.hook.ended)).toEqual({ behavior: "allow", updatedInput: tool_input });
    const two = await ask({ tool_name: "ExitPlanMode", tool_input });
    answer(two.first.request_id, "Keep planning", "Write tests first.");
    expect(decisionOf(await two.hook.ended)).toEqual({ behavior: "deny", message: "Write tests first." });
  });
});

describe("the hook process exits silently", () => {
  const body = permissionRequest(SESSION, bash("make"));
  const silent = { code: 0, output: "" };

  it("without a listening daemon", async () => {
    await socket.close();
    expect(await startHook(folder, body).ended).toEqual(silent);
  });

  it("in a session of the daemon itself", async () => {
    expect(await startHook(folder, body, { VERBATIM_AGENT: "1" }).ended).toEqual(silent);
  });

  it("for an unknown request", async () => {
    expect(await startHook(folder, { hook_event_name: "PermissionRequest" }).ended).toEqual(silent);
  });

  it("when the daemon ends, and when it replies with something invalid", async () => {
    const { hook } = await ask(bash("make"));
    await socket.close();
    expect(await hook.ended).toEqual(silent);
    expect(existsSync(hookSocketPath(folder))).toBe(false);
    const liar = createServer((connection) => {
      connection.on("error", () => {}).resume();
      connection.write("}{\n");
    });
    await new Promise<void>((done) => liar.listen(hookSocketPath(folder), done));
    expect(await startHook(folder, body).ended).toEqual(silent);
    await new Promise((done) => liar.close(done));
  });

  it("when the daemon hangs", async () => {
    await socket.close();
    const hanging = createServer(() => {});
    await new Promise<void>((done) => hanging.listen(hookSocketPath(folder), done));
    expect(await startHook(folder, body).ended).toEqual(silent);
    hanging.close();
  });
});
