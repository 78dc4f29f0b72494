import { EventEmitter } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { createAcpAgent } from "../../../src/agent/acp/acp-agent.ts";
import type { AgentProcess } from "../../../src/agent/acp/agent-process.ts";
import { connect } from "../../../src/agent/acp/connection.ts";
import type { Part } from "../../../src/model/messages/part.ts";
import type { Request } from "../../../src/model/request.ts";
import { eventually } from "../../eventually.ts";
import { type ActingHost, createHost, SESSION } from "./acting-host.ts";
import { hears, opened, says, writeScript } from "./script.ts";
import { allow, closeMadeAgents, made, setUp } from "./set-up.ts";

closeMadeAgents();

const isHeld = (_request: Request, signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined));
  });

const began = {
  type: "marker",
  kind: "note",
  at: 1,
  part_id: "5e551011-0000-4000-8000-00000000aaaa",
  title: "began",
} as const;

function kinds(host: ActingHost): string[] {
  return host.parts().map((part) => (part.type === "marker" ? `${part.kind}: ${part.title}` : part.type));
}

it("keeps the texts of two steps separate, with the usage at the end of the last", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("API types."),
    says.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } }),
    says.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      rawOutput: { output: "a.txt\n", metadata: { exit: 0 } },
    }),
    says.text("Let me read"),
    says.result(2, {
      stopReason: "end_turn",
      usage: { inputTokens: 1000, outputTokens: 20, totalTokens: 1020, cachedReadTokens: 400 },
    }),
  ]);
  expect(await ask("Look")).toBe("completed");
  expect(kinds(host)).toEqual([
    "prompt",
    "note: scripted 1.0 began its session agents-own-session",
    "step_start",
    "text",
    "tool_call",
    "tool_result",
    "step_finish",
    "step_start",
    "text",
    "step_finish",
  ]);
  expect(host.parts().at(-1)).toMatchObject({
    reason: "stop",
    reason_raw: "end_turn",
    tokens: { input: 600, output: 20, cache_read: 400 },
  });
  expect(host.parts()[5]).toMatchObject({
    output_text: "a.txt\n",
    ui_extra: { type: "shell", command: "ls", exit_code: 0 },
  });
});

it("shows a call before its permission request even if it was never announced", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.permission(0, {
      toolCallId: "run_shell_command__run_shell_command_1795_1",
      title: "ls && wc -l a.txt",
      kind: "execute",
      content: [{ type: "content", content: { type: "text", text: "[in /p] (List)" } }],
    }),
    hears.answer(0),
    says.update("tool_call_update", {
      toolCallId: "run_shell_command__run_shell_command_1795_1",
      status: "completed",
    }),
    says.result(2),
  ]);
  expect(await ask("Look")).toBe("completed");
  expect(kinds(host).slice(2)).toEqual(["step_start", "tool_call", "request", "tool_result", "step_finish"]);
  expect(host.parts()[3]).toMatchObject({ tool_name: "run_shell_command", state: { status: "completed" } });
  expect(host.requests[0]).toMatchObject({
    kind: "approval",
    title: "ls && wc -l a.txt",
    subject: "ls && wc -l a.txt\n[in /p] (List)",
    options: [
      { id: "yes", label: "Allow", kind: "allow_once" },
      { id: "no", label: "Reject", kind: "reject_once" },
    ],
  });
});

it.each([
  [
    "only a command",
    { rawInput: { command: "rm -rf 'a b'\u202e", description: "Tidy" } },
    "rm -rf 'a b'\u202e",
  ],
  [
    "the whole input if more than the command matters",
    { rawInput: { command: "ls", cwd: "/" } },
    '{\n  "command": "ls",\n  "cwd": "/"\n}',
  ],
  [
    "the arguments of a command unchanged if it is a list",
    { rawInput: { command: ["rm", "a b"] } },
    '{\n  "command": [\n    "rm",\n    "a b"\n  ]\n}',
  ],
  [
    "only a command if the other fields are background flags and a timeout that are off",
    { rawInput: { command: "ls", is_background: false, run_in_background: false, timeout: null } },
    "ls",
  ],
  [
    "the safeguards that a command switches off",
    { rawInput: { command: "npm test", sandbox: false } },
    '{\n  "command": "npm test",\n  "sandbox": false\n}',
  ],
  [
    "a diff with its target file, whatever file the diff names",
    {
      rawInput: {
        path: "/home/me/.bashrc",
        filepath: "/home/me/.bashrc",
        fileName: ".bashrc",
        diff: "--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n one\n+two",
      },
    },
    "Change /home/me/.bashrc\nChange .bashrc\n--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n one\n+two",
  ],
  [
    "the whole input if the file of a diff is not plain text",
    { rawInput: { path: ["a"], diff: "+two" } },
    '{\n  "path": [\n    "a"\n  ],\n  "diff": "+two"\n}',
  ],
  [
    "a change as it would be applied",
    { content: [{ type: "diff", path: "/p/a.txt", oldText: "one\ntwo\n", newText: "one\nthree\n" }] },
    "Change /p/a.txt\n one\n-two\n+three",
  ],
])("a permission request shows %s", async (_name, toolCall, subject) => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.permission(0, { toolCallId: "c", title: "It", kind: "execute", ...toolCall }),
    hears.answer(0),
    says.result(2),
  ]);
  await ask("Do it");
  expect(host.requests[0]?.subject).toBe(subject);
});

it("a request and its call's arguments keep the digits of numbers", async () => {
  const numbers = {
    account: "12345678901234567890",
    amount: "1e400",
    rate: "0.1000000000000000055",
    place: "1234567.12345678914",
    price: "10.50",
    least: "0.0000001",
    none: "-0",
    limit: "5",
  };
  const lines = Object.entries(numbers).map(([name, digits]) => `"${name}":${digits}`);
  const input = `{${lines.join()}}`;
  const call =
    '{"toolCallId":"c","title":"It","kind":"other","_meta":{"}\\\\":["{,\\"",{"rawInput":0}]},"rawInput":';
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    {
      do: "print",
      text: `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"agents-own-session","toolCall":${call}${input},"content":[]},"options":[{"optionId":"yes","name":"Allow","kind":"allow_once"}]}}`,
    },
    hears.answer(0),
    says.update("tool_call_update", { toolCallId: "c", status: "completed" }),
    says.result(2),
  ]);
  expect(await ask("Pay")).toBe("completed");
  expect(host.requests[0]?.subject).toBe(
    `{\n${lines.map((line) => `  ${line.replace(":", ": ")}`).join(",\n")}\n}`,
  );
  expect(host.parts().find((part) => part.type === "tool_call")).toMatchObject({ arguments_json: input });
});

it("a number in a call's arguments does not slow down reading its long output", async () => {
  const stdout = new PassThrough();
  const child = Object.assign(new EventEmitter(), { stdout, stdin: new PassThrough(), pid: 1 });
  let notifyUpdate = () => {};
  const connection = await connect(
    // Only the streams of the program are used.
    { child, killFor() {} } as unknown as AgentProcess,
    {
      onUpdate: () => notifyUpdate(),
      onPermission: () => Promise.resolve({ outcome: { outcome: "cancelled" } }),
      onElicitation: () => Promise.resolve({ action: "cancel" }),
      onNoise() {},
      onUnknown() {},
    },
  );
  const rows = Array.from({ length: 60_000 }, (_, at) => ({ id: at, name: '{[\\"', price: at / 4 }));
  /** Milliseconds of CPU, which other load on the machine does not affect. */
  const costOf = async (call: object): Promise<number> => {
    const update = { sessionUpdate: "tool_call_update", toolCallId: "c", rawOutput: { rows }, ...call };
    const bytes = Buffer.from(`${JSON.stringify({ method: "session/update", params: { update } })}\n`);
    const whole = new Promise<void>((resolve) => {
      notifyUpdate = resolve;
    });
    const before = process.cpuUsage();
    stdout.write(bytes);
    await whole;
    return process.cpuUsage(before).user / 1_000;
  };
  try {
    await costOf({});
    const without = await costOf({});
    expect(await costOf({ rawInput: { limit: 2 ** 60 } })).toBeLessThan(2 * without + 50);
  } finally {
    connection.close();
  }
});

it("a refused call ends as aborted, even if the agent never reports it", async () => {
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.permission(0, { toolCallId: "c", title: "rm", kind: "execute", rawInput: { command: "rm" } }),
      hears.answer(0),
      says.text("You did not want that."),
      says.result(2),
    ],
    { answer: () => Promise.resolve({ option_ids: ["no"] }) },
  );
  expect(await ask("Do it")).toBe("completed");
  const result = host.parts().find((part) => part.type === "tool_result");
  expect(result).toMatchObject({ status: "aborted", is_error: false, output_text: "Refused: Reject" });
  // The result precedes the agent's text about it.
  expect(kinds(host).indexOf("tool_result")).toBeLessThan(kinds(host).indexOf("text"));
});

it.each([
  {
    name: "nobody answers in time",
    answer: () => Promise.resolve(undefined),
    words: "Nobody answered in time",
  },
  {
    name: "cannot be shown to anybody",
    answer: () => Promise.reject(new Error("the disk is full")),
    words: "The user could not be asked (the disk is full)",
  },
])("a question that $name is refused, with a message", async ({ answer, words }) => {
  const { host, agent, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.permission(0, { toolCallId: "c", title: "rm", kind: "execute", rawInput: { command: "rm" } }),
      hears.answer(0),
      says.result(2),
    ],
    { answer },
  );
  expect(await ask("Do it")).toBe("completed");
  await agent.close();
  expect(host.parts().find((part) => part.type === "tool_result")).toMatchObject({
    status: "aborted",
    output_text: words,
  });
});

it("a question is closed when its agent no longer waits for it", async () => {
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.permission(0, { toolCallId: "c", title: "rm", kind: "execute", rawInput: { command: "rm" } }),
      says.update("tool_call_update", {
        toolCallId: "c",
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "Another call was refused" } }],
      }),
      says.result(2),
    ],
    { answer: isHeld },
  );
  expect(await ask("Do it")).toBe("completed");
  expect(host.parts().find((part) => part.type === "request")).toMatchObject({ outcome: "cancelled" });
  // It never ran.
  expect(host.parts().find((part) => part.type === "tool_result")).toMatchObject({ status: "aborted" });
});

it("a stop reaches the agent, keeps every part, and answers open requests", async () => {
  const stop = new AbortController();
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.text("I wait."),
      says.update("tool_call", {
        toolCallId: "a",
        title: "sleep",
        kind: "execute",
        rawInput: { command: "sleep" },
      }),
      says.update("tool_call_update", {
        toolCallId: "a",
        content: [{ type: "content", content: { type: "text", text: "begun\n" } }],
      }),
      says.permission(0, { toolCallId: "b", title: "ls", kind: "execute", rawInput: { command: "ls" } }),
      hears.cancel,
      hears.answer(0),
      says.text(" I was"),
      says.update("tool_call_update", { toolCallId: "a", status: "completed" }),
      says.result(2, { stopReason: "cancelled" }),
      hears.prompt(3),
      says.text("Here again."),
      says.result(3),
    ],
    {
      answer: (request, signal) => {
        stop.abort();
        return isHeld(request, signal);
      },
    },
  );
  expect(await ask("Wait", stop.signal)).toBe("interrupted");
  expect(host.violations).toEqual([]);
  const results = host.parts().filter((part) => part.type === "tool_result");
  expect(results.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
    ["b", "aborted"],
    ["a", "aborted"],
  ]);
  expect(results[1]).toMatchObject({ output_text: "begun\n" });
  expect(host.parts().at(-1)).toMatchObject({ type: "marker", kind: "interrupt" });
  expect(host.frames.filter(({ type }) => type === "message.end")).toEqual([]);
  expect(await ask("And now?")).toBe("completed");
});

it("an agent that does not react to a stop is killed with its child processes, and starts again", async () => {
  const host = createHost(allow);
  const pidFile = join(host.cwd, "pid");
  const program = join(host.cwd, "deaf.mjs");
  writeFileSync(
    program,
    `import { spawn } from "node:child_process";
     import { writeFileSync } from "node:fs";
     process.on("SIGTERM", () => {});
     let rest = "";
     process.stdin.on("data", (text) => {
       const lines = (rest + text).split("\\n");
       rest = lines.pop();
       for (const line of lines) {
         const { id, method } = JSON.parse(line);
         const say = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
         if (method === "initialize") say({ protocolVersion: 1, agentCapabilities: {} });
         if (method === "session/new") say({ sessionId: "deaf" });
         if (method === "session/prompt") {
           const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
           writeFileSync(process.argv[2], String(child.pid));
         }
       }
     });`,
  );
  const agent = createAcpAgent({
    host,
    command: process.execPath,
    args: [program, pidFile],
    env: { PATH: process.env.PATH },
    cancel_limit_ms: 50,
  });
  made.push({ host, agent });
  const stop = new AbortController();
  const turn = host.turn("Go", (prompt) => agent.run(prompt, stop.signal));
  await eventually(() => expect(existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/^\d+$/));
  stop.abort();
  expect(await turn).toBe("interrupted");
  const pid = Number(readFileSync(pidFile, "utf8"));
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
});

it("a crash shows the exit code, the agent's last output and a remedy, and the next prompt restarts it", async () => {
  const { host, ask } = setUp([
    hears.initialize,
    says.hello({ loadSession: false }),
    hears.newSession,
    says.session,
    hears.prompt(2),
    says.text("I begin"),
    says.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } }),
    { do: "stderr", text: "out of memory in module 7" },
    { do: "exit", code: 3 },
  ]);
  expect(await ask("Go")).toBe("failed");
  const error = host.parts().at(-1);
  expect(error).toMatchObject({ type: "marker", kind: "error" });
  const words = error?.type === "marker" ? (error.text ?? error.title) : "";
  expect(words).toContain("exit code 3");
  expect(words).toContain("out of memory in module 7");
  expect(words).toContain("The next prompt starts it again");
  expect(host.parts().find((part) => part.type === "tool_result")).toMatchObject({ status: "aborted" });
  expect(host.violations).toEqual([]);

  // It starts again without memory.
  expect(await ask("Go on")).toBe("failed");
  expect(kinds(host)).toContain("note: scripted starts without memory of the conversation above");
  expect(host.parts().filter((part) => part.type === "text")).toHaveLength(2);
});

it("a missing program is reported", async () => {
  const { host, ask } = setUp([], { command: "no-such-agent-here", args: [] });
  expect(await ask("Go")).toBe("failed");
  const error = host.parts().at(-1);
  expect(error).toMatchObject({ type: "marker", kind: "error" });
  expect(error?.type === "marker" && error.title).toContain("no program no-such-agent-here");
});

it("an agent that requires a login is reported with its own message", async () => {
  const { host, ask } = setUp([
    hears.initialize,
    {
      from: "agent",
      message: {
        jsonrpc: "2.0",
        id: 0,
        result: {
          protocolVersion: 1,
          agentInfo: { name: "cloudy", title: "Cloudy" },
          authMethods: [
            { id: "cloudy-login", name: "Log in", description: "Run `cloudy login` in the terminal" },
          ],
        },
      },
    },
    hears.newSession,
    says.error(1, { code: -32_000, message: "Authentication required: call authenticate first" }),
  ]);
  expect(await ask("Go")).toBe("failed");
  const error = host.parts().at(-1);
  const words = error?.type === "marker" ? error.text : "";
  expect(words).toContain("Cloudy requires a login: Authentication required: call authenticate first");
  expect(words).toContain("Run `cloudy login` in the terminal");
  expect(words).toContain("(cloudy-login)");
});

it("a session that continues after a restart is loaded, and its history does not appear twice", async () => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true }),
      hears.load,
      says.update("user_message_chunk", { content: { type: "text", text: "Long ago" } }),
      says.text("An old answer."),
      says.update("tool_call", { toolCallId: "old", title: "ls", kind: "execute", status: "completed" }),
      says.loaded,
      says.text("A straggler of the past."),
      hears.prompt(2),
      says.text("A new answer."),
      says.result(2),
    ],
    { earlier: [{ ...began, data: { acp_session: { id: "agents-own-session", session_id: SESSION } } }] },
  );
  expect(await ask("Go on")).toBe("completed");
  expect(kinds(host)).toEqual(["prompt", "step_start", "text", "step_finish"]);
});

it("a fork does not continue its parent's session", async () => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true }),
      hears.newSession,
      says.session,
      hears.prompt(2),
      says.result(2),
    ],
    {
      earlier: [
        {
          ...began,
          data: { acp_session: { id: "parents", session_id: "5e551011-0000-4000-8000-00000000ffff" } },
        },
      ],
    },
  );
  expect(await ask("Go on")).toBe("completed");
  expect(kinds(host)[1]).toContain("began its session agents-own-session");
});

it("unknown messages are kept", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.update("hologram", { depth: 3 }),
    says.notification("_vendor/weather", { rain: true }),
    { do: "print", text: "Update available: 2.0" },
    says.update("agent_message_chunk", { content: { type: "smell", of: "roses" } }),
    says.update("agent_message_chunk", { content: { type: "image", mimeType: "image/png", data: "AAAA" } }),
    says.result(2),
  ]);
  expect(await ask("Go")).toBe("completed");
  const unknown = host.parts().flatMap((part) => (part.type === "unknown" ? [part] : []));
  expect(unknown.map(({ title }) => title)).toEqual([
    "hologram",
    "_vendor/weather",
    "Line that is not a message",
    "Content of an unknown kind",
  ]);
  expect(unknown[2]?.raw).toBe("Update available: 2.0");
  expect(host.parts().find((part) => part.type === "image")).toMatchObject({
    media: { type: "image_url", url: "data:image/png;base64,AAAA" },
  });
});

it("an error of the agent fails the turn with its message, and the next prompt works", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("One look"),
    says.error(2, { code: -32_603, message: "Internal error", data: { details: "The model said 400" } }),
    hears.prompt(3),
    says.text("Better."),
    says.result(3),
  ]);
  expect(await ask("Go")).toBe("failed");
  expect(host.parts().at(-1)).toMatchObject({ title: "scripted: Internal error: The model said 400" });
  expect(await ask("Again")).toBe("completed");
});

it("images are sent to an agent that accepts them, and only named otherwise", async () => {
  const image: Part = { type: "image_url", url: "data:image/png;base64,AAAA" };
  for (const takes of [true, false]) {
    const { host, agent } = setUp([
      hears.initialize,
      says.hello({ promptCapabilities: { image: takes } }),
      hears.newSession,
      says.session,
      { do: "echo", id: 2 },
    ]);
    const outcome = await host.turn("Look at this", (prompt) =>
      agent.run({ ...prompt, parts: [...prompt.parts, image] }, new AbortController().signal),
    );
    expect(outcome).toBe("completed");
    const text = host.parts().find((part) => part.type === "text");
    const sent: unknown = text?.type === "text" ? JSON.parse(text.text) : undefined;
    const words = { type: "text", text: "Look at this" };
    if (takes) expect(sent).toEqual([words, { type: "image", mimeType: "image/png", data: "AAAA" }]);
    else {
      expect(sent).toEqual([words]);
      expect(kinds(host)).toContain("note: Not sent: an image (the agent does not accept images)");
    }
  }
});

it("MCP servers with a URL are passed to an agent that supports them; otherwise a note says once that they are not", async () => {
  const files = { name: "files", command: "files", args: [], env: [] };
  const web = { type: "http" as const, name: "web", url: "https://mcp.example.org/", headers: [] };
  const old = { type: "sse" as const, name: "old", url: "https://mcp.example.org/sse", headers: [] };
  for (const [announced, handed, notes] of [
    [{ http: true, sse: true }, [files, web, old], []],
    [{ http: true }, [files, web], ["old"]],
    [{ http: false }, [files], ["web", "old"]],
    [undefined, [files], ["web", "old"]],
  ] as const) {
    const capabilities = {
      loadSession: true,
      ...(announced === undefined ? {} : { mcpCapabilities: announced }),
    };
    const { host, agent, ask } = setUp(
      [
        hears.initialize,
        says.hello(capabilities),
        hears.newSession,
        says.session,
        { do: "servers" },
        { do: "exit", code: 0 },
      ],
      { mcp_servers: [files, web, old] },
    );
    expect(await ask("Go")).toBe("completed");
    const text = host.parts().find((part) => part.type === "text");
    expect(text?.type === "text" && JSON.parse(text.text)).toEqual(handed);
    const said = () => kinds(host).filter((kind) => kind.includes("not handed over"));
    const expected = notes.map((name) => `note: The MCP server ${name} is not handed over`);
    expect(said()).toEqual(expected);
    await agent.close();
    // Histories of earlier versions have no codes.
    if (announced === undefined)
      for (const event of host.history()) Reflect.deleteProperty(event, "title_code");
    writeScript(host.cwd, "script", [
      hears.initialize,
      says.hello(capabilities),
      hears.load,
      says.loaded,
      { do: "servers" },
    ]);
    expect(await ask("Again")).toBe("completed");
    expect(said()).toEqual(expected);
  }
});

it("a sub-agent's text is a separate note, not part of its parent's text", async () => {
  const task = { description: "Count", prompt: "Count the lines", subagent_type: "general" };
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("I ask a helper."),
    says.update("tool_call", {
      toolCallId: "a",
      title: "Agent: Count",
      status: "in_progress",
      rawInput: task,
    }),
    says.update("agent_thought_chunk", { content: { type: "text", text: "One by one." } }),
    says.text("There is one."),
    says.update("tool_call", {
      toolCallId: "b",
      title: "wc",
      kind: "execute",
      status: "completed",
      rawInput: { command: "wc" },
      _meta: { parentToolCallId: "a" },
    }),
    says.update("tool_call_update", {
      toolCallId: "a",
      status: "completed",
      rawOutput: { status: "completed", executionSummary: { totalTokens: 15, totalToolCalls: 1 } },
    }),
    says.text("It has one line."),
    says.result(2),
  ]);
  expect(await ask("Count")).toBe("completed");
  expect(host.violations).toEqual([]);
  const texts = host.parts().flatMap((part) => (part.type === "text" ? [part.text] : []));
  expect(texts).toEqual(["I ask a helper.", "It has one line."]);
  const note = host.parts().find((part) => part.type === "marker" && part.title === "Text of sub-agents");
  expect(note).toMatchObject({ data: { thinking: "One by one.", text: "There is one." } });
  expect(host.parts().findLast((part) => part.type === "tool_result")).toMatchObject({
    tool_call_id: "a",
    ui_extra: { type: "sub_agent", name: "general", task: "Count", tokens: 15, tool_calls: 1 },
  });
});

it("a chosen model is set before the next prompt, and the agent's actual model is shown", async () => {
  const model = (currentValue: string) => ({
    configOptions: [{ id: "m", category: "model", name: "Model", type: "select", currentValue, options: [] }],
  });
  const { host, agent, ask } = setUp([
    hears.initialize,
    says.hello(),
    hears.newSession,
    says.result(1, { sessionId: "agents-own-session", ...model("small") }),
    hears.prompt(2),
    says.result(2),
    { from: "client", message: { id: 3, method: "session/set_config_option" } },
    says.result(3, model("large")),
    hears.prompt(4),
    says.result(4),
  ]);
  expect(await ask("Go")).toBe("completed");
  agent.setModel?.("large");
  expect(await ask("Go on")).toBe("completed");
  const models = host.frames.flatMap((frame) =>
    frame.type === "session.update" && frame.patch.model !== undefined ? [frame.patch.model] : [],
  );
  expect(models).toEqual(["small", "large"]);
  expect(kinds(host)).toContain("model_switch: Model: large");
});

it("cumulative figures of an agent are counted once", async () => {
  const usage = (inputTokens: number, outputTokens: number) => ({
    stopReason: "end_turn",
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
  });
  const { host, ask } = setUp([
    hears.initialize,
    {
      from: "agent",
      message: { jsonrpc: "2.0", id: 0, result: { protocolVersion: 1, agentInfo: { name: "Copilot" } } },
    },
    hears.newSession,
    says.session,
    hears.prompt(2),
    says.text("One."),
    says.result(2, usage(1000, 10)),
    hears.prompt(3),
    says.text("Two."),
    says.result(3, usage(2500, 30)),
  ]);
  await ask("Go");
  await ask("Go on");
  expect(host.transcript().usage).toEqual({ input: 2500, output: 30 });
});

it("a setting change in the middle of a text does not split the text", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("One sen"),
    says.update("current_mode_update", { currentModeId: "plan" }),
    says.update("available_commands_update", { availableCommands: [{ name: "help" }] }),
    says.text("tence."),
    says.result(2),
  ]);
  await ask("Go");
  const texts = host.parts().flatMap((part) => (part.type === "text" ? [part.text] : []));
  expect(texts).toEqual(["One sentence."]);
  expect(host.violations).toEqual([]);
});

it("a message that is nested too deeply is kept as text, and the turn continues", async () => {
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  const head =
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"agents-own-session","update":';
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    {
      do: "print",
      text: `${head}{"sessionUpdate":"tool_call","toolCallId":"c","title":"deep","rawInput":${deep}}}}`,
    },
    says.text("Still here."),
    says.result(2),
  ]);
  expect(await ask("Go")).toBe("completed");
  expect(host.violations).toEqual([]);
  const unknown = host.parts().find((part) => part.type === "unknown");
  expect(unknown?.type === "unknown" && unknown.raw).toContain('"title":"deep"');
  expect(host.parts().some((part) => part.type === "text" && part.text === "Still here.")).toBe(true);
});

it("an endless message ends its agent with a report, and the next prompt restarts it", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("I look."),
    says.text("a".repeat(17 * 1024 ** 2)),
    says.result(2),
  ]);
  expect(await ask("Look")).toBe("failed");
  expect(host.parts().at(-1)).toMatchObject({
    kind: "error",
    text: expect.stringMatching(
      /was killed: it sent a message of more than 16,777,216 characters\. The next prompt starts it again\./,
    ),
  });
  expect(host.parts()).toContainEqual(expect.objectContaining({ type: "text", text: "I look." }));
  expect(await ask("Look again")).toBe("failed");
  expect(host.frames.filter(({ type }) => type === "error")).toHaveLength(2);
});

it("output that cannot be recorded ends only its agent", async () => {
  const host = createHost(allow);
  const agent = createAcpAgent({
    host: {
      ...host,
      emit(frame) {
        if (JSON.stringify(frame).includes("poison")) throw new Error("The record is closed");
        host.emit(frame);
      },
    },
    command: process.execPath,
    args: writeScript(host.cwd, "script", [...opened, hears.prompt(2), says.text("poison"), hears.cancel]),
    env: { PATH: process.env.PATH },
  });
  made.push({ host, agent });
  expect(await host.turn("Look", (prompt) => agent.run(prompt, new AbortController().signal))).toBe("failed");
  expect(host.parts().at(-1)).toMatchObject({
    kind: "error",
    text: expect.stringMatching(/was killed: its messages could not be recorded \(The record is closed\)/),
  });
});

it("shows output after the turn, and has ended again by the next prompt", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-late-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ended = join(folder, "ended");
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("I list the files."),
    says.result(2),
    { do: "await", path: ended },
    says.text("One file: "),
    says.text("a.txt"),
    hears.prompt(3),
    says.text("Second answer."),
    says.result(3),
  ]);
  expect(await ask("Look")).toBe("completed");
  writeFileSync(ended, "");
  await eventually(() => expect(host.parts().at(-1)).toMatchObject({ text: "One file: a.txt" }));
  expect(kinds(host).slice(-2)).toEqual(["note: Sent after the turn ended", "text"]);
  expect(host.transcript().turns.at(0)).toMatchObject({ status: "completed", steps: 1 });
  expect(await ask("And?")).toBe("completed");
  expect(
    host
      .transcript()
      .turns.slice()
      .map((turn) => turn?.status),
  ).toEqual(["completed", "completed"]);
  expect(host.violations).toEqual([]);
});
