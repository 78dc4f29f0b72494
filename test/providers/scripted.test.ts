import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentHost } from "../../src/agent/agent.ts";
import { createTools } from "../../src/agent/tools/index.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import type { AssistantMessage, Message } from "../../src/model/messages/message.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import type { ModelReply, Provider } from "../../src/providers/provider.ts";
import { createScriptedProvider } from "../../src/providers/scripted/provider.ts";
import { parseScript, validateScript } from "../../src/providers/scripted/script.ts";
import { scripts } from "../../src/providers/scripted/scripts/index.ts";
import { idOf } from "../build.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";
const created_at = "2026-01-02T14:03:22.000Z";

function prompt(text: string, given: { queued?: boolean } = {}): Message {
  return { role: "user", id: idOf(`prompt ${text}`), created_at, parts: [{ type: "text", text }], ...given };
}

/** A session on a scripted provider: every call's reply joins the history, every call gets a result. */
function sessionOf(provider: Provider, model: string) {
  const messages: Message[] = [];
  const frames: Frame[] = [];
  let calls = 0;
  const call = async (signal = new AbortController().signal, onFrame?: (frame: Frame) => void) => {
    calls += 1;
    const before = frames.length;
    const reply = await provider.stream(
      {
        session_id: SESSION,
        message_id: idOf(`call ${calls} of ${model}`),
        model,
        messages: [...messages],
        tools: [],
      },
      {
        signal,
        emit(frame) {
          frames.push(frame);
          onFrame?.(frame);
        },
      },
    );
    return { ...reply, frames: frames.slice(before) };
  };
  const keep = (message: AssistantMessage): void => {
    messages.push(message);
    for (const part of message.parts) {
      if (part.type !== "tool_call") continue;
      const { call_id, tool_name } = part;
      messages.push({
        role: "tool",
        id: idOf(call_id),
        created_at,
        call_id,
        tool_name,
        status: "success",
        output_text: "fine",
        parts: [],
      });
    }
  };
  return {
    messages,
    frames,
    call,
    /** Calls until the model yields or fails. */
    async turn(text: string) {
      messages.push(prompt(text));
      const replies: ModelReply[] = [];
      for (;;) {
        const reply = await call();
        replies.push(reply);
        if (reply.message !== undefined) keep(reply.message);
        if (reply.message?.stop_reason !== "tool_use") return replies;
      }
    },
    keep,
  };
}

const words = (reply: ModelReply | undefined): string =>
  (reply?.message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

const steps = (...texts: string[]) => texts.map((text) => ({ parts: [{ text }] }));
const fast = (script: unknown) =>
  createScriptedProvider({ scripts: { test: validateScript("test", script) }, tokens_per_second: 0 });

describe("a script", () => {
  it("plays one step for each model call, until it yields", async () => {
    const provider = fast({
      title: "Two steps",
      steps: [
        {
          parts: [
            { thinking: "Look first." },
            { text: "Looking." },
            { tool_call: { name: "glob", arguments: { pattern: "*" } } },
          ],
        },
        { parts: [{ text: "Done." }] },
      ],
    });
    const session = sessionOf(provider, "test");
    const [first, second, ...more] = await session.turn("Go");
    expect(more).toEqual([]);
    expect(first?.message?.parts.map(({ type }) => type)).toEqual(["thinking_text", "text", "tool_call"]);
    expect(first?.message).toMatchObject({ stop_reason: "tool_use", provider: "scripted", api: "scripted" });
    expect(first?.executable_calls).toHaveLength(1);
    expect(second?.message).toMatchObject({ stop_reason: "stop" });
    expect(words(second)).toBe("Done.");
  });

  it("continues with its next turn at the next prompt, and then repeats the last one", async () => {
    const provider = fast({
      title: "Turns",
      turns: [{ steps: steps("one") }, { steps: steps("two") }],
    });
    const session = sessionOf(provider, "test");
    for (const expected of ["one", "two", "two"]) {
      const [reply] = await session.turn("Next");
      expect(words(reply)).toBe(expected);
    }
  });

  it("does not restart for a prompt typed during a turn", async () => {
    const provider = fast({
      title: "Steered",
      steps: [{ parts: [{ tool_call: { name: "todo", arguments: { todos: [] } } }] }, ...steps("second")],
    });
    const session = sessionOf(provider, "test");
    session.messages.push(prompt("Go"));
    const first = await session.call();
    if (first.message !== undefined) session.keep(first.message);
    session.messages.push(prompt("And hurry", { queued: true }));
    expect(words(await session.call())).toBe("second");
  });

  it("is selected by a prompt that names one, such as a parent's task", async () => {
    const provider = createScriptedProvider({
      scripts: { child: validateScript("child", { title: "Child", steps: steps("I am the child.") }) },
      tokens_per_second: 0,
    });
    const session = sessionOf(provider, "hello");
    const [reply] = await session.turn("Look into it. [[script:child]]");
    expect(words(reply)).toBe("I am the child.");
  });

  it("says that it has ended if the loop continues", async () => {
    const provider = fast({ title: "Short", steps: [{ parts: [{ tool_call: { name: "todo" } }] }] });
    const replies = await sessionOf(provider, "test").turn("Go");
    expect(words(replies[1])).toBe("The script has ended.");
  });

  it("can be read from a file", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "script-")), "mine.json");
    await writeFile(path, JSON.stringify({ title: "Mine", steps: steps("From a file.") }));
    const provider = createScriptedProvider({
      readFile: (file) => readFile(file, "utf8"),
      tokens_per_second: 0,
    });
    const [reply] = await sessionOf(provider, `file:${path}`).turn("Go");
    expect(words(reply)).toBe("From a file.");
  });

  it("counts its tokens, or reports given ones", async () => {
    const provider = fast({
      title: "Usage",
      turns: [
        { steps: [{ parts: [{ thinking: "one two" }, { text: "three" }] }] },
        {
          steps: [{ parts: [{ text: "four" }], usage: { input: 10, cache_read: 90, output: 7, cost: 0.5 } }],
        },
      ],
    });
    const session = sessionOf(provider, "test");
    const [counted] = await session.turn("Go");
    expect(counted?.message?.usage).toMatchObject({ output: 3, reasoning: 2 });
    const [told] = await session.turn("Go");
    expect(told?.message?.usage).toEqual({ input: 10, cache_read: 90, output: 7, cost: 0.5 });
    expect(told?.usage?.input_tokens).toBe(100);
  });
});

describe("the stream of a script", () => {
  it("has deltas that join to its text, for any text", async () => {
    const text = "Ünïcode 👩‍👩‍👧 e\u0301 עברית 漢字 — `code`;\n\n\t| a | 1,234.5 |\u2028end  ";
    const { frames } = await runOf(fast({ title: "Text", steps: steps(text) }));
    const deltas = frames.flatMap((frame) => (frame.type === "message.delta" ? [frame.text] : []));
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.join("")).toBe(text);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  });

  it("keeps consecutive texts apart", async () => {
    const parts = [{ text: "API types." }, { text: "Let me read" }];
    const { transcript } = await runOf(fast({ title: "Two texts", steps: [{ parts }] }));
    const texts = [...transcript.parts].flatMap((part) => (part?.type === "text" ? [part.text] : []));
    expect(texts).toEqual(["API types.", "Let me read"]);
  });

  it("does not block the event loop at any speed", async () => {
    let turns = 0;
    const provider = fast({ title: "Long", steps: [{ parts: [{ text: "word ", repeat: 1_000 }] }] });
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await runOf(provider);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });

  it("ends at once when it is stopped, with all parts so far", async () => {
    const session = sessionOf(createScriptedProvider(), "endless");
    session.messages.push(prompt("Go"));
    const stop = new AbortController();
    let deltas = 0;
    const reply = await session.call(stop.signal, (frame) => {
      if (frame.type === "message.delta" && frame.kind === "text") deltas += 1;
      if (deltas === 5) stop.abort();
    });
    expect(reply.failure).toBeUndefined();
    expect(reply.message).toMatchObject({ stop_reason: "aborted" });
    expect(reply.executable_calls).toEqual([]);
    expect(words(reply)).toMatch(/^The tide comes/);
    expect(reply.frames.at(-1)?.type).toBe("message.record");
    expect(reply.frames.some(({ type }) => type === "message.end")).toBe(false);
  });

  it("is empty if it is stopped before it began", async () => {
    const reply = await sessionOf(createScriptedProvider(), "hello").call(AbortSignal.abort());
    expect(reply).toMatchObject({ executable_calls: [], frames: [] });
    expect(reply.message).toBeUndefined();
  });
});

describe("a fault of a script", () => {
  it("fails before any output as often as specified, and then lets the call succeed", async () => {
    const provider = fast({
      title: "Busy",
      steps: [
        {
          parts: [
            { fail: { class: "overloaded", message: "Busy", status: 529, times: 2 } },
            { fail: { class: "rate_limit", message: "Slow down", retry_after_ms: 400 } },
            { text: "At last." },
          ],
        },
      ],
    });
    const session = sessionOf(provider, "test");
    session.messages.push(prompt("Go"));
    const replies = [];
    for (let tries = 0; tries < 4; tries += 1) replies.push(await session.call());
    expect(replies.map(({ failure }) => failure?.class)).toEqual([
      "overloaded",
      "overloaded",
      "rate_limit",
      undefined,
    ]);
    expect(replies[0]).toMatchObject({ frames: [], failure: { can_retry: true, status: 529 } });
    expect(replies[0]?.message).toBeUndefined();
    expect(replies[2]?.failure?.retry_after_ms).toBe(400);
    expect(words(replies[3])).toBe("At last.");
  });

  it("breaks off in mid-stream and keeps the parts", async () => {
    const provider = fast({
      title: "Cut",
      steps: [
        {
          parts: [
            { text: "This begins" },
            { tool_call: { name: "read", arguments_json: '{"path": "a', unfinished: true } },
            { fail: { class: "truncated", message: "Cut" } },
          ],
        },
      ],
    });
    const session = sessionOf(provider, "test");
    session.messages.push(prompt("Go"));
    const reply = await session.call();
    expect(reply).toMatchObject({
      failure: { class: "truncated", can_retry: true },
      message: { stop_reason: "error", error: "Cut" },
      executable_calls: [],
    });
    expect(reply.message?.parts).toMatchObject([
      { type: "text", text: "This begins" },
      { type: "tool_call", arguments_json: '{"path": "a', unfinished: true },
    ]);
    expect(reply.frames.at(-1)).toMatchObject({ type: "message.end", stop_reason: "error", error: "Cut" });
  });

  it("is not repeated by a new provider if it is in the history", async () => {
    const script = {
      title: "Cut once",
      steps: [
        {
          parts: [{ text: "Half" }, { fail: { class: "network", message: "Reset" } }, { text: " and whole" }],
        },
      ],
    };
    const session = sessionOf(fast(script), "test");
    session.messages.push(prompt("Go"));
    const broken = await session.call();
    const again = sessionOf(fast(script), "test");
    again.messages.push(...session.messages);
    if (broken.message !== undefined) again.messages.push(broken.message);
    expect(words(await again.call())).toBe("Half and whole");
  });
});

describe("an error in a script", () => {
  it.each([
    ["invalid JSON", "{", /mine\.json is not JSON/],
    ["an unknown field", '{"title":"T","step":[]}', /mine\.json is not a valid script.*"step"/],
    ["a wrong type", '{"title":"T","steps":[{"parts":[{"text":1}]}]}', /steps\[0\]\.parts\[0\]\.text: /],
    [
      "two kinds in one part",
      '{"title":"T","steps":[{"parts":[{"text":"a","thinking":"b"}]}]}',
      /steps\[0\]\.parts\[0\]: .*thinking and text/,
    ],
    ["neither steps nor turns", '{"title":"T"}', /either steps or turns/],
    [
      "an unknown class",
      '{"title":"T","steps":[{"parts":[{"fail":{"class":"tired","message":"m"}}]}]}',
      /steps\[0\]\.parts\[0\]\.fail\.class/,
    ],
  ])("names the file and field: %s", (_, json, message) => {
    expect(() => parseScript("mine.json", json)).toThrow(message);
  });

  it("is a failure of the call, which lists the available scripts", async () => {
    const reply = await sessionOf(createScriptedProvider(), "helo").call();
    expect(reply).toMatchObject({ frames: [], failure: { class: "not_found", can_retry: false } });
    expect(reply.failure?.message).toMatch(/"helo".*hello/);
  });
});

describe("the built-in scripts", () => {
  it("have the discovery turn: 11 steps, 30 calls, four narrated batches", async () => {
    const session = sessionOf(createScriptedProvider({ tokens_per_second: 0 }), "discovery");
    const replies = await session.turn("How would tasks wait for others?");
    expect(replies).toHaveLength(11);
    const parts = replies.flatMap(({ message }) => message?.parts ?? []);
    const calls = parts.filter((part) => part.type === "tool_call");
    expect(calls).toHaveLength(30);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(30);
    const narrated = replies.filter(
      (reply) => words(reply) !== "" && reply.message?.stop_reason === "tool_use",
    );
    expect(narrated).toHaveLength(4);
    // All of them read, one writes, and it writes a file of the script's own folder.
    const writing = calls.filter(({ tool_name }) => tool_name === "edit" || tool_name === "write");
    expect(writing).toHaveLength(1);
    const { path, old_text } = JSON.parse(writing[0]?.arguments_json ?? "{}");
    expect(scripts.get("discovery")?.files?.[path]).toContain(old_text);
  });

  it.each([...scripts.keys()].filter((name) => name !== "endless"))(
    "keep the order of frames: %s",
    async (name) => {
      const { frames, transcript } = await runOf(createScriptedProvider({ tokens_per_second: 0 }), name);
      const checker = createOrderChecker();
      expect(frames.flatMap((frame) => checker.check(frame))).toEqual([]);
      expect(transcript.parts.length).toBeGreaterThan(0);
    },
  );

  it("call existing tools with valid arguments", () => {
    const folders = { cwd: tmpdir(), files: tmpdir(), private_folder: join(tmpdir(), "data") };
    const host = { session_id: SESSION, depth: 0, ...folders };
    const tools = createTools({ environment: {} });
    for (const [name, script] of scripts) {
      const steps = script.steps ?? script.turns?.flatMap((turn) => turn.steps) ?? [];
      for (const { tool_call } of steps.flatMap(({ parts }) => parts)) {
        if (tool_call === undefined) continue;
        const tool = tools.find(({ definition }) => definition.name === tool_call.name);
        expect(tool, `${tool_call.name} in ${name}`).toBeDefined();
        // A call is prepared only with the host's folders.
        tool?.prepare(tool_call.arguments ?? {}, host as AgentHost);
      }
    }
  });

  it.each([...scripts])("are valid: %s", (name, script) => {
    expect(validateScript(name, script)).toEqual(script);
  });

  it("refer only to built-in scripts", () => {
    const named = [...scripts.values()].flatMap((script) => [
      ...JSON.stringify(script).matchAll(/\[\[script:([^\]\s]+)\]\]/g),
    ]);
    expect(named.length).toBeGreaterThan(0);
    for (const [, name = ""] of named) expect([...scripts.keys()]).toContain(name);
  });
});

/** One turn's frames, and their fold. */
async function runOf(provider: Provider, model = "test") {
  const session = sessionOf(provider, model);
  for (let tries = 0; tries < 3; tries += 1) {
    const replies = await session.turn("Go");
    if (replies.at(-1)?.failure === undefined) break;
    session.messages.pop();
  }
  const { frames } = session;
  return { frames, transcript: frames.reduce(accumulate, emptyTranscript(SESSION)) };
}
