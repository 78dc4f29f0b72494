import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLoopAgent, type LoopOptions } from "../../src/agent/loop.ts";
import type { PermissionRule } from "../../src/agent/permissions.ts";
import type { Tool } from "../../src/agent/tool.ts";
import type { HistoryEvent } from "../../src/model/messages/history.ts";
import type { Answer, Request } from "../../src/model/request.ts";
import { type Act, plainProvider } from "./plain-provider.ts";
import { createPlainSession, keepPlainSessions, story } from "./plain-session.ts";
import { echo, endless, tool } from "./plain-tools.ts";

keepPlainSessions();

/** A turn in which the model makes these calls at once, then yields. */
function setUp(calls: Act[], tools: readonly Tool[], options: Partial<LoopOptions> = {}) {
  const host = createPlainSession();
  const provider = plainProvider([{ acts: calls }]);
  const agent = createLoopAgent({ host, provider, model: "plain-1", tools, ...options });
  const results = () => story(host.parts).filter((line) => line.startsWith("result"));
  return { host, provider, agent, results };
}

const call = (id: string, name: string, args: Record<string, unknown> = {}): Act => ({
  call: id,
  name,
  arguments: args,
});
const chosen = (id: string, text?: string): Answer => ({
  option_ids: [id],
  ...(text === undefined ? {} : { text }),
});

describe("calls of one message", () => {
  it("run in parallel if their tools allow it, and get their results as they end", async () => {
    const { promise: second, resolve } = Promise.withResolvers<void>();
    const wait = tool("wait", async ({ first }) => {
      if (first === true) await second;
      return { output_text: "" };
    });
    const { host, agent, results } = setUp([call("a", "wait", { first: true }), call("b", "wait")], [wait]);
    host.onFrame = ({ type }) => type === "message.tool_result" && resolve();
    await host.turn(agent, "Go");
    expect(results()).toEqual(["result b success ", "result a success "]);
    expect(host.violations).toEqual([]);
  });

  it("of sequential tools run alone, in the model's order", async () => {
    const log: string[] = [];
    const note = async (name: string) => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      return { output_text: "" };
    };
    const look = tool("look", ({ name }) => note(String(name)));
    const change = tool("change", ({ name }) => note(String(name)), { parallel: false });
    const calls = ["look 1", "change 2", "change 3", "look 4"].map((name) =>
      call(name, name.split(" ")[0] ?? "", { name }),
    );
    const { host, agent } = setUp(calls, [look, change]);
    await host.turn(agent, "Go");
    expect(log).toEqual(
      ["look 1", "change 2", "change 3", "look 4"].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  it("that exceed their tool's time limit are stopped, and are errors", async () => {
    const { host, agent, results } = setUp(
      [call("a", "endless")],
      [endless(undefined, { time_limit_ms: 5 })],
    );
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(results()).toEqual(["result a error Timed out after 5 ms\nso far"]);
  });

  it("whose tool does not stop do not block others", async () => {
    const deaf = tool("deaf", () => new Promise(() => {}), { time_limit_ms: 5 });
    const { host, agent, results } = setUp([call("a", "deaf")], [deaf], { stop_within_ms: 5 });
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(results()).toEqual([
      expect.stringMatching(/^result a error Timed out after 5 ms\nThe tool did not stop within/),
    ]);
  });

  it("whose tool throws are errors", async () => {
    const broken = tool("broken", () => {
      throw new Error("no such luck");
    });
    const careless = tool("careless", () => ({ output_text: "" }), {
      prepare: () => {
        throw new TypeError("undefined is not a function");
      },
    });
    const { host, agent, results } = setUp([call("a", "broken"), call("b", "careless")], [broken, careless]);
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(results()).toEqual([
      "result b error Not run: the tool failed: undefined is not a function",
      "result a error The tool failed: no such luck",
    ]);
  });

  it("keep media and payload of their tool", async () => {
    const draw = tool("draw", () => ({
      output_text: "drawn",
      parts: [{ type: "image_file", file_path: "/tmp/a.png" }],
      ui_extra: { type: "search", match_count: 1, files: [] },
    }));
    const { host, agent } = setUp([call("a", "draw")], [draw]);
    await host.turn(agent, "Go");
    expect(host.parts.find((part) => part.type === "tool_result")).toMatchObject({
      parts: [{ type: "image_file", file_path: "/tmp/a.png" }],
      ui_extra: { type: "search", match_count: 1 },
    });
  });
});

describe("live output", () => {
  it("is batched, with offsets in UTF-16 code units", async () => {
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    const chatty = tool("chatty", async (_input, { progress }) => {
      for (let line = 0; line < 1_000; line += 1) progress("😀\n");
      await shown;
      progress("never shown: the result has it");
      return { output_text: "whole" };
    });
    const { host, agent } = setUp([call("a", "chatty")], [chatty]);
    host.onFrame = (frame) => {
      if (frame.type === "message.tool_progress") resolve();
    };
    await host.turn(agent, "Go");
    expect(host.frames.filter(({ type }) => type === "message.tool_progress")).toMatchObject([
      { tool_call_id: "a", text: "😀\n".repeat(1_000), offset: 0 },
    ]);
    expect(host.transcript.gap).toBeUndefined();
  });

  it("of a command that prints without end is truncated at whole characters, with a note", async () => {
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    const chatty = tool("chatty", async (_input, { progress }) => {
      progress("x");
      for (let line = 0; line < 100; line += 1) progress("😀".repeat(5_000));
      await shown;
      return { output_text: "whole" };
    });
    const { host, agent } = setUp([call("a", "chatty")], [chatty]);
    let text = "";
    host.onFrame = (frame) => {
      if (frame.type !== "message.tool_progress") return;
      text += frame.text;
      resolve();
    };
    await host.turn(agent, "Go");
    expect(text.length).toBeLessThan(201_000);
    expect(text).toMatch(/^x(😀)+\n… more output/u);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe("permission", () => {
  const ran: string[] = [];
  const act = tool(
    "shell",
    ({ target }) => {
      ran.push(String(target));
      return { output_text: "done" };
    },
    { default_decision: "ask" },
  );

  it("is requested for all calls at once, with exactly what would run", async () => {
    ran.length = 0;
    const asked: Request[] = [];
    const { host, agent, results } = setUp(
      [call("a", "shell", { target: "ls" }), call("b", "shell", { target: "rm" })],
      [act],
    );
    host.answer = (request) => {
      asked.push(request);
      if (asked.length === 2)
        setImmediate(() => {
          for (const { request_id } of asked) host.reply(request_id, chosen("allow"));
        });
      return undefined;
    };
    await host.turn(agent, "Go");
    const subject = '{"target":"ls"}';
    expect(asked[0]).toEqual({
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: "approval",
      title: "Allow shell: ls",
      title_code: { code: "allow_call", params: { tool: "shell", call: "ls" } },
      tool_call_id: "a",
      tool_name: "shell",
      subject,
      digest: createHash("sha256").update(subject).digest("hex"),
      options: [
        expect.objectContaining({ id: "allow", kind: "allow_once" }),
        expect.objectContaining({ id: "always", kind: "allow_always" }),
        expect.objectContaining({ id: "reject", kind: "reject_once" }),
      ],
      free_text: true,
    });
    expect(ran).toEqual(["ls", "rm"]);
    expect(results()).toEqual(["result a success done", "result b success done"]);
    expect(host.violations).toEqual([]);
  });

  it.each([
    ["shell", "make deploy", "this command"],
    ["web_fetch", "https://example.com/a", "this address"],
    ["write", "build.sh", "every write to build.sh"],
    ["edit", "build.sh", "every edit of build.sh"],
    ["grep", "src", "every grep in src"],
    ["mcp__files__save", '{"path":"build.sh"}', "every call of mcp__files__save"],
    ["write", `${"deep/".repeat(20)}build.sh`, `every write to …${"deep/".repeat(11)}build.sh`],
    ["x".repeat(100), "", `every call of …${"x".repeat(63)}`],
  ])("names for %s %s the scope of an answer for the session: %s", async (name, target, reach) => {
    const { host, agent } = setUp(
      [call("a", name, { target })],
      [tool(name, () => ({ output_text: "" }), { default_decision: "ask" })],
    );
    const labels: string[] = [];
    host.answer = ({ options }) => {
      labels.push(...options.map(({ label }) => label));
      return chosen("reject");
    };
    await host.turn(agent, "Go");
    expect(labels).toEqual([
      "Allow",
      `Allow ${reach === "this command" || reach === "this address" ? "" : `${reach} `}for this session`,
      "Deny",
    ]);
  });

  it.each([
    ["is refused", chosen("reject"), "The user denied this call; it was not run."],
    [
      "is refused with a message",
      chosen("reject", "use ls"),
      "The user denied this call; it was not run. The user said:\nuse ls",
    ],
    ["is answered with another option", chosen("sure"), "The user denied this call; it was not run."],
    [
      "is answered with two options",
      { option_ids: ["allow", "reject"] },
      "The user denied this call; it was not run.",
    ],
  ])("that %s runs nothing, and the model gets the user's answer", async (_, answer, said) => {
    ran.length = 0;
    const { host, provider, agent, results } = setUp([call("a", "shell", { target: "rm" })], [act]);
    host.answer = () => answer;
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(ran).toEqual([]);
    expect(results()).toEqual([`result a aborted ${said}`]);
    expect(provider.calls).toHaveLength(2);
  });

  it("that is not given in time runs nothing", async () => {
    const { host, agent, results } = setUp([call("a", "shell", { target: "rm" })], [act]);
    const { ask } = host;
    host.ask = (request) => ask(request, AbortSignal.abort());
    await host.turn(agent, "Go");
    expect(results()).toEqual(["result a error Not run: the approval request was not answered in time."]);
  });

  it("given once applies to that call only, even if a model reuses the id", async () => {
    ran.length = 0;
    const asked: Request[] = [];
    const host = createPlainSession();
    const provider = plainProvider([
      { acts: [call("call_0", "shell", { target: "ls" })] },
      { acts: [{ text: "Done" }] },
      { acts: [call("call_0", "shell", { target: "rm" })] },
      { acts: [{ text: "Done" }] },
      { acts: [call("call_0", "shell", { target: "ls" })] },
    ]);
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [act] });
    host.answer = (request) => {
      asked.push(request);
      return chosen("allow");
    };
    for (const prompt of ["One", "Two", "Three"]) await host.turn(agent, prompt);
    expect(new Set(asked.map(({ request_id }) => request_id)).size).toBe(3);
  });

  it("given for the session applies to pending and later calls with the same target, and survives a restart", async () => {
    ran.length = 0;
    const asked: string[] = [];
    const { host, agent } = setUp(
      [
        call("a", "shell", { target: "ls" }),
        call("b", "shell", { target: "ls" }),
        call("c", "shell", { target: "rm" }),
      ],
      [act],
    );
    host.answer = ({ tool_call_id = "" }) => {
      asked.push(tool_call_id);
      return tool_call_id === "a" ? chosen("always") : tool_call_id === "c" ? chosen("reject") : undefined;
    };
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(asked).toEqual(["a", "b", "c"]);
    expect(ran).toEqual(["ls", "ls"]);

    const later = plainProvider([
      { acts: [call("d", "shell", { target: "ls" }), call("e", "shell", { target: "ls -a" })] },
    ]);
    const restarted = createLoopAgent({ host, provider: later, model: "plain-1", tools: [act] });
    host.answer = ({ tool_call_id = "" }) => {
      asked.push(tool_call_id);
      return chosen("reject");
    };
    await host.turn(restarted, "Again");
    expect(asked).toEqual(["a", "b", "c", "e"]);
    expect(ran).toEqual(["ls", "ls", "ls"]);
  });

  it("given for the session does not apply to a fork with the same history", async () => {
    ran.length = 0;
    const { host, agent } = setUp([call("a", "shell", { target: "make deploy" })], [act]);
    host.answer = () => chosen("always");
    await host.turn(agent, "Go");
    expect(ran).toEqual(["make deploy"]);

    const forkOf = (history: readonly HistoryEvent[], id: string) => {
      const fork = createPlainSession({ history });
      const provider = plainProvider([{ acts: [call(id, "shell", { target: "make deploy" })] }]);
      const asked: string[] = [];
      fork.answer = ({ tool_call_id = "" }) => {
        asked.push(tool_call_id);
        return chosen("always");
      };
      const go = () =>
        fork.turn(createLoopAgent({ host: fork, provider, model: "plain-1", tools: [act] }), "Go");
      return { fork, asked, go };
    };
    const first = forkOf(host.history(), "b");
    await first.go();
    expect(first.asked).toEqual(["b"]);
    const second = forkOf(first.fork.history(), "c");
    await second.go();
    expect(second.asked).toEqual(["c"]);
  });

  it.each<[PermissionRule["decision"], string]>([
    ["allow", "result a success done"],
    [
      "deny",
      "result a error Not run: a rule does not allow this (shell ls). The operator set this rule: do not try the same in another way.",
    ],
  ])("that a rule decides (%s) is not requested", async (decision, expected) => {
    const { host, agent, results } = setUp([call("a", "shell", { target: "ls" })], [act], {
      rules: [{ tool: "shell", exact: "ls", decision }],
    });
    await host.turn(agent, "Go");
    expect(results()).toEqual([expected]);
    expect(host.frames.map(({ type }) => type)).not.toContain("request.open");
  });

  it("applies only to what was shown: a call that would now run something else does not run", async () => {
    ran.length = 0;
    let what = "ls";
    const shifty = tool("shell", () => ({ output_text: "" }), {
      default_decision: "ask",
      prepare: () => {
        const now = what;
        return {
          subject: now,
          target: "same",
          run: async () => {
            ran.push(now);
            return { output_text: "" };
          },
        };
      },
    });
    const { host, agent, results } = setUp([call("a", "shell")], [shifty]);
    host.answer = () => {
      what = "rm -rf ~";
      return chosen("allow");
    };
    await host.turn(agent, "Go");
    expect(ran).toEqual([]);
    expect(results()).toEqual([
      expect.stringMatching(/^result a error Not run: what this call would do has changed/),
    ]);
  });
});

describe("a session whose daemon ended", () => {
  const act = tool("shell", ({ target }) => ({ output_text: `ran ${target}` }), { default_decision: "ask" });

  it("asks again with the same open requests, and continues", async () => {
    const stop = new AbortController();
    const first = setUp(
      [call("a", "shell", { target: "ls" }), call("b", "echo", { say: "here" })],
      [act, echo],
    );
    const asked: Request[] = [];
    first.host.answer = (request) => {
      asked.push(request);
      return undefined;
    };
    const settled = Promise.withResolvers<void>();
    first.host.onFrame = ({ type }) => type === "message.tool_result" && settled.resolve();
    const turn = first.host.turn(first.agent, "Go", stop.signal);
    await settled.promise;
    const history = structuredClone(first.host.history());
    stop.abort();
    await turn;

    const host = createPlainSession({ session_id: first.host.session_id, history });
    const provider = plainProvider([{ acts: [{ text: "Done" }] }]);
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [act, echo] });
    host.answer = (request) => {
      asked.push(request);
      return chosen("allow");
    };
    expect(await agent.resume?.(new AbortController().signal)).toBe("completed");
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    const results = provider.calls[0]?.messages.filter(({ role }) => role === "tool");
    expect(results).toMatchObject([
      { call_id: "a", status: "success", output_text: "ran ls" },
      { call_id: "b", status: "success", output_text: "here" },
    ]);
  });

  it("continues with the next model call if no calls are open", async () => {
    const first = setUp([], []);
    await first.host.turn(first.agent, "Go");
    const host = createPlainSession({ session_id: first.host.session_id, history: first.host.history() });
    const provider = plainProvider([{ acts: [{ text: "More" }] }]);
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [] });
    expect(await agent.resume?.(new AbortController().signal)).toBe("completed");
    expect(story(host.parts)).toEqual(["text More", "step stop"]);
  });
});
