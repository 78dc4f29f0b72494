import { randomUUID } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLoopAgent, type LoopOptions } from "../../src/agent/loop.ts";
import type { Tool } from "../../src/agent/tool.ts";
import type { ModelCall } from "../../src/providers/provider.ts";
import { failure, type PlainProvider, plainProvider, type Step } from "./plain-provider.ts";
import { createPlainSession, keepPlainSessions, type PlainSession, story } from "./plain-session.ts";
import { echo, endless, tool } from "./plain-tools.ts";

keepPlainSessions();

function setUp(
  steps: Parameters<typeof plainProvider>[0],
  tools: readonly Tool[] = [echo],
  options: Partial<LoopOptions> & { host?: PlainSession } = {},
) {
  const host = options.host ?? createPlainSession();
  const provider = plainProvider(steps);
  const agent = createLoopAgent({ provider, model: "plain-1", tools, ...options, host });
  return { host, provider, agent };
}

/** The messages that were sent to the provider in a call, as roles and texts. */
function sent(provider: PlainProvider, call: number): string[] {
  return (provider.calls[call]?.messages ?? []).map((message) => {
    if (message.role === "tool") return `tool ${message.call_id} ${message.status} ${message.output_text}`;
    const words = message.parts.map((part) => ("text" in part ? part.text : part.type)).join(" | ");
    return message.role === "system" ? "system" : `${message.role} ${words}`;
  });
}

describe("a turn", () => {
  it("continues from call to call until the model yields, with one message per call", async () => {
    const steps: Step[] = [
      {
        acts: [
          { thinking: "Which?" },
          { text: "I look." },
          { call: "c1", name: "echo", arguments: { say: "one" } },
          { call: "c2", name: "echo", arguments: { say: "two" } },
        ],
        usage: { input: 100, output: 20, cache_read: 30 },
      },
      { acts: [{ text: "It is one and two." }], usage: { input: 10, output: 5 } },
    ];
    const { host, provider, agent } = setUp(steps, [echo], { contextLimit: () => 1_000 });
    expect(await host.turn(agent, "What is it?")).toBe("completed");
    expect(story(host.parts)).toEqual([
      "prompt What is it?",
      "thinking Which?",
      "text I look.",
      'call c1 echo {"say":"one"} completed',
      'call c2 echo {"say":"two"} completed',
      "step tool_use",
      "result c1 success one",
      "result c2 success two",
      "text It is one and two.",
      "step stop",
    ]);
    expect(sent(provider, 1)).toEqual([
      "system",
      "user What is it?",
      "assistant Which? | I look. | tool_call | tool_call",
      "tool c1 success one",
      "tool c2 success two",
    ]);
    expect(host.transcript.context).toEqual({ tokens: 15, limit: 1_000 });
    expect(host.frames.filter(({ type }) => type === "context.usage")).toMatchObject([
      { tokens: 150 },
      { tokens: 15 },
    ]);
    expect(host.violations).toEqual([]);
    const ids = provider.calls.map(({ message_id }) => message_id);
    expect(new Set(ids).size).toBe(2);
  });

  it("is on disk before a tool runs", async () => {
    const order: string[] = [];
    const act = tool("act", () => {
      order.push("ran");
      return { output_text: "" };
    });
    const { host, agent } = setUp([{ acts: [{ call: "c1", name: "act" }] }], [act]);
    host.store = async () => {
      order.push(`stored up to ${host.frames.at(-1)?.type}`);
    };
    await host.turn(agent, "Act");
    expect(order).toEqual(["stored up to message.end", "ran"]);
  });

  it("runs nothing and fails if frames cannot be stored", async () => {
    let ran = false;
    const act = tool("act", () => {
      ran = true;
      return { output_text: "" };
    });
    const { host, agent } = setUp([{ acts: [{ call: "c1", name: "act" }] }], [act]);
    host.store = async () => Promise.reject(new Error("The disk is full"));
    expect(await host.turn(agent, "Act")).toBe("failed");
    expect(ran).toBe(false);
    expect(story(host.parts).slice(-2)).toEqual([
      "result c1 error Not run: the turn failed.",
      "error: The disk is full",
    ]);
  });

  it("tells the model why a call cannot run, so that it can try again", async () => {
    const { host, provider, agent } = setUp([
      {
        acts: [
          { call: "broken", name: "echo", json: '{"say": ' },
          { call: "list", name: "echo", json: "[1]" },
          { call: "stranger", name: "nothing" },
          { call: "wrong", name: "echo", arguments: { say: 1 } },
          { call: "right", name: "echo", arguments: { say: "yes" } },
        ],
      },
    ]);
    expect(await host.turn(agent, "Try")).toBe("completed");
    expect(sent(provider, 1).filter((line) => line.startsWith("tool"))).toEqual([
      expect.stringMatching(/^tool broken error Not run: the arguments are not valid JSON \(.+\)/),
      "tool list error Not run: the arguments are not a JSON object.",
      "tool stranger error Not run: unknown tool nothing. Available tools: echo",
      "tool wrong error Not run: say must be a string",
      "tool right success yes",
    ]);
  });

  it("runs no call of an answer that reached the output limit, and continues", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ call: "c1", name: "echo", arguments: { say: "cut" } }], stop: "length" },
    ]);
    await host.turn(agent, "Try");
    expect(sent(provider, 1).at(-1)).toMatch(/^tool c1 error Not run: the answer reached its output limit/);
  });

  it("reports an answer without calls that was truncated at the output limit", async () => {
    const { host, agent } = setUp([{ acts: [{ text: "And th" }], stop: "length" }]);
    expect(await host.turn(agent, "Tell")).toBe("completed");
    expect(story(host.parts).at(-1)).toBe("note: The model stopped at its output limit");
  });

  it("continues after a pause of the model", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Searching" }], stop: "stop", stop_raw: "pause_turn" },
    ]);
    await host.turn(agent, "Search");
    expect(sent(provider, 1)).toEqual(["system", "user Search", "assistant Searching"]);
  });

  it("stops at the step limit and says so", async () => {
    const again = (_: unknown, index: number): Step => ({ acts: [{ call: `c${index}`, name: "echo" }] });
    const { host, provider, agent } = setUp(again, [echo], { step_limit: 3 });
    expect(await host.turn(agent, "For ever")).toBe("failed");
    expect(provider.calls).toHaveLength(3);
    expect(story(host.parts).at(-1)).toBe("error: The turn reached its limit of 3 steps");
    expect(host.parts.findLast((part) => part.type === "marker")).toMatchObject({
      title_code: { code: "step_limit_reached", params: { steps: 3 } },
      data: {
        data: { remedy: "Send a prompt to continue.", remedy_code: { code: "send_prompt_to_continue" } },
      },
    });
  });

  it("includes steered prompts in the next call, after the results", async () => {
    const { host, provider, agent } = setUp([
      {
        acts: [{ text: "Wait" }, { call: "c1", name: "echo" }],
        before_end: () => host.steer("Not that file"),
      },
      { acts: [{ text: "Done" }], before_end: () => host.steer("And the other one") },
    ]);
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(provider.calls).toHaveLength(3);
    expect(sent(provider, 1)).toEqual([
      "system",
      "user Go",
      "assistant Wait | tool_call",
      "tool c1 success ",
      "user Not that file",
    ]);
    expect(sent(provider, 2).slice(5)).toEqual(["assistant Done", "user And the other one"]);
    expect(story(host.parts)).toContain("queued prompt Not that file");
    expect(host.violations).toEqual([]);
  });

  it("makes no further call for a steered prompt that was already included", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ call: "c1", name: "echo" }], before_end: () => host.steer("Not that file") },
      { acts: [{ text: "Done" }] },
    ]);
    await host.turn(agent, "Go");
    expect(provider.calls).toHaveLength(2);
  });

  it("extends the previous call's input with each call, so that a provider's cache applies", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ thinking: "One" }, { call: "c1", name: "echo", arguments: { say: "one" } }] },
      { acts: [{ call: "c2", name: "echo", arguments: { say: "two" } }] },
      { acts: [{ text: "Done" }] },
    ]);
    await host.turn(agent, "Go");
    await host.turn(agent, "Again");
    for (const [index, call] of provider.calls.entries()) {
      const before = provider.calls[index - 1]?.messages ?? [];
      expect(JSON.stringify(call.messages.slice(0, before.length))).toBe(JSON.stringify(before));
      expect(call.tools).toEqual(provider.calls[0]?.tools);
    }
  });

  it("uses another model from the next call on, and says so", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ call: "c1", name: "echo" }], before_end: () => agent.setModel?.("plain-2") },
    ]);
    await host.turn(agent, "Go");
    expect(provider.calls.map(({ model }) => model)).toEqual(["plain-1", "plain-2"]);
    expect(story(host.parts)).toContain("model_switch: Model: plain-2");
    expect(host.violations).toEqual([]);
  });
});

describe("instructions", () => {
  it("of the folder are shown as context and sent once, and again after a change", async () => {
    const { host, provider, agent } = setUp([]);
    writeFileSync(join(host.cwd, "AGENTS.md"), "Use tabs.");
    await host.turn(agent, "One");
    await host.turn(agent, "Two");
    writeFileSync(join(host.cwd, "AGENTS.md"), "Use blanks.");
    await host.turn(agent, "Three");
    expect(story(host.parts).filter((line) => line.startsWith("context"))).toEqual([
      "context: AGENTS.md",
      "context: AGENTS.md",
    ]);
    expect(sent(provider, 0).slice(1)).toEqual([
      "user One",
      "developer Instructions for this folder, from its AGENTS.md:\n\nUse tabs.",
    ]);
    expect(sent(provider, 2).at(-1)).toContain("Use blanks.");
  });

  it("that are links out of the folder are not read", async () => {
    const { host, provider, agent } = setUp([]);
    const secret = join(host.files, "secret");
    writeFileSync(secret, "key");
    symlinkSync(secret, join(host.cwd, "CLAUDE.md"));
    await host.turn(agent, "One");
    expect(JSON.stringify(provider.calls)).not.toContain("key");
  });

  it("in the system prompt contain the folder, the date and the rules of the tools, the same in every call", async () => {
    const act = tool("act", () => ({ output_text: "" }), { default_decision: "ask", parallel: false });
    const { host, provider, agent } = setUp([{ acts: [{ call: "c1", name: "echo" }] }], [act, echo]);
    await host.turn(agent, "One");
    const [first, second] = provider.calls.map(({ messages }) => JSON.stringify(messages[0]));
    expect(first).toBe(second);
    expect(first).toContain(host.cwd);
    expect(first).toContain("2026-01-02");
    expect(first).toContain("before a call of act runs");
    expect(first).toContain("calls of echo run in parallel");
  });
});

describe("a failed model call", () => {
  it("is retried: its output is retracted, and a marker has the reason, delay and attempt", async () => {
    const busy = failure("overloaded", { can_retry: true, retry_after_ms: 1 });
    const { host, provider, agent } = setUp([
      { failure: busy },
      { acts: [{ text: "Half" }, { call: "c0", name: "echo" }], failure: busy },
      { acts: [{ text: "Whole" }] },
    ]);
    expect(await host.turn(agent, "Go")).toBe("completed");
    expect(story(host.parts)).toEqual([
      "prompt Go",
      "retry: Overloaded; trying again in 0 s (2 of 5)",
      "(withdrawn) text Half",
      "(withdrawn) call c0 echo {} error",
      "(withdrawn) step error",
      "(withdrawn) error: It is overloaded",
      "result c0 error Not run: the model's answer failed before it was complete.",
      "retry: Overloaded; trying again in 0 s (3 of 5)",
      "text Whole",
      "step stop",
    ]);
    expect(sent(provider, 2)).toEqual(["system", "user Go"]);
    // A retracted message is still shown, so its call keeps its id.
    expect(provider.calls[2]?.taken_call_ids).toEqual(new Set(["c0"]));
    expect(host.violations).toEqual([]);
  });

  it("says with codes why it is retried", async () => {
    const title_code = { code: "provider_silent", params: { seconds: 9 } };
    const silent = { ...failure("timeout", { can_retry: true, retry_after_ms: 1 }), title_code };
    const { host, agent } = setUp([
      { acts: [{ text: "Half" }], failure: silent },
      { acts: [{ text: "Whole" }] },
    ]);
    expect(await host.turn(agent, "Go")).toBe("completed");
    const [, half] = host.parts.filter(({ type }) => type !== "step_start");
    expect(half?.retracted_code).toEqual(title_code);
    expect(host.parts.filter((part) => part.type === "marker")).toMatchObject([
      { kind: "error" },
      { kind: "retry", text_code: title_code },
    ]);
  });

  it("that keeps failing ends the turn with one error that has a remedy", async () => {
    const busy = failure("overloaded", { can_retry: true, retry_after_ms: 0, remedy: "Wait.", status: 529 });
    const { host, provider, agent } = setUp(() => ({ acts: [{ text: "Half" }], failure: busy }));
    expect(await host.turn(agent, "Go")).toBe("failed");
    expect(provider.calls).toHaveLength(5);
    const errors = host.parts.filter((part) => part.type === "marker" && part.kind === "error");
    expect(errors.filter((part) => part.retracted === undefined)).toMatchObject([
      {
        title: "It is overloaded",
        data: { can_retry: true, data: { class: "overloaded", remedy: "Wait.", status: 529 } },
      },
    ]);
    expect(story(host.parts)).toContain("text Half");
    expect(host.transcript.turns.at(0)?.status).toBe("failed");
  });

  it.each([
    ["cannot be retried", failure("auth")],
    ["would have to wait for hours", failure("rate_limit", { can_retry: true, retry_after_ms: 3_600_000 })],
  ])("that %s fails at once", async (_, why) => {
    const { host, provider, agent } = setUp(() => ({ failure: why }));
    expect(await host.turn(agent, "Go")).toBe("failed");
    expect(provider.calls).toHaveLength(1);
    expect(story(host.parts)).toEqual(["prompt Go", `error: It is ${why.class}`]);
  });

  it("does not wait for a retry after it was stopped", async () => {
    const stop = new AbortController();
    const busy = failure("overloaded", { can_retry: true, retry_after_ms: 59_000 });
    const { host, agent } = setUp(() => ({ failure: busy }));
    host.onFrame = (frame) => {
      if (frame.type === "marker") setImmediate(() => stop.abort("Stopped by the person"));
    };
    expect(await host.turn(agent, "Go", stop.signal)).toBe("interrupted");
    expect(story(host.parts).slice(1)).toEqual([
      "retry: Overloaded; trying again in 59 s (2 of 5)",
      "interrupt: Stopped by the person",
    ]);
  });

  it("whose provider throws fails properly", async () => {
    const { host, agent } = setUp(() => {
      throw new Error("A mistake of ours");
    });
    expect(await host.turn(agent, "Go")).toBe("failed");
    expect(story(host.parts).at(-1)).toBe("error: A mistake of ours");
  });
});

describe("a refused turn", () => {
  it("is no longer sent once a prompt follows it", async () => {
    const blocked = failure("content_blocked");
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Hello." }] },
      { acts: [{ call: "c", name: "echo" }] },
      { acts: [{ text: "I" }], stop_raw: "refusal", failure: blocked },
      // Like a filter before the model: no message begins.
      { failure: blocked },
      { acts: [{ text: "2" }] },
    ]);
    for (const [prompt, outcome] of [
      ["Hi", "completed"],
      ["Forbidden", "failed"],
      ["Forbidden again", "failed"],
      ["1+1?", "completed"],
    ] as const) {
      expect(await host.turn(agent, prompt)).toBe(outcome);
    }
    expect(sent(provider, 3)).toEqual(["system", "user Hi", "assistant Hello.", "user Forbidden again"]);
    expect(sent(provider, 4)).toEqual(["system", "user Hi", "assistant Hello.", "user 1+1?"]);
    expect(story(host.parts)).toContain("prompt Forbidden");
  });

  const compact = async ({ host, agent }: Pick<ReturnType<typeof setUp>, "host" | "agent">) => {
    host.emit({ type: "turn.start", session_id: host.session_id, at: 1, turn_id: randomUUID() });
    host.end((await agent.compact?.(new AbortController().signal)) ?? "completed");
  };

  it("is not the last one if a summary was refused", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Hello." }] },
      { failure: failure("content_blocked") },
      { acts: [{ text: "2" }] },
    ]);
    await host.turn(agent, "Hi");
    await compact({ host, agent });
    await host.turn(agent, "1+1?");
    expect(sent(provider, 2)).toEqual(["system", "user Hi", "assistant Hello.", "user 1+1?"]);
  });

  it.each([
    ["stays", {}, [expect.stringContaining("The summary.")]],
    [
      "is refused, too,",
      { failure: failure("content_blocked") },
      ["user Hi", "assistant Hello.", "user And you?", "assistant Well."],
    ],
  ])("is not in a later summary; if that %s, it is no longer sent", async (_, how, before) => {
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Hello." }] },
      { acts: [{ text: "Well." }] },
      { failure: failure("content_blocked") },
      { acts: [{ text: "The summary." }], ...how },
      { acts: [{ text: "2" }] },
      { acts: [{ text: "3" }] },
    ]);
    for (const prompt of ["Hi", "And you?", "Forbidden"]) await host.turn(agent, prompt);
    await compact({ host, agent });
    expect(sent(provider, 3)[0]).toContain("And you?");
    expect(sent(provider, 3)[0]).not.toContain("Forbidden");
    await host.turn(agent, "1+1?");
    await host.turn(agent, "1+2?");
    expect(sent(provider, 5)).toEqual(["system", ...before, "user 1+1?", "assistant 2", "user 1+2?"]);
  });
});

describe("context space", () => {
  const full: Step = {
    acts: [{ text: "Read it all." }, { call: "c1", name: "echo", arguments: { say: "long" } }],
    usage: { input: 900, output: 10 },
  };

  it("is freed when it is nearly full: a summary replaces earlier messages, and the history is kept", async () => {
    const { host, provider, agent } = setUp(
      [
        full,
        { acts: [{ text: "The summary." }], usage: { input: 1, output: 1 } },
        { acts: [{ text: "Done" }] },
      ],
      [echo],
      { contextLimit: () => 1_000 },
    );
    writeFileSync(join(host.cwd, "AGENTS.md"), "Use tabs.");
    expect(await host.turn(agent, "Read all of it")).toBe("completed");
    expect(provider.calls[1]?.tools).toEqual([]);
    expect(sent(provider, 1)[0]).toContain('calls echo {"say":"long"}');
    expect(sent(provider, 2)).toEqual([
      "system",
      expect.stringMatching(/The summary\.\n\nThe user's last prompt, word for word:\n\nRead all of it$/),
      expect.stringContaining("Use tabs."),
    ]);
    expect(story(host.parts)).toEqual([
      "prompt Read all of it",
      "context: AGENTS.md",
      "text Read it all.",
      'call c1 echo {"say":"long"} completed',
      "step tool_use",
      "result c1 success long",
      "compaction: Conversation summarized to free context space",
      "context: AGENTS.md",
      "text Done",
      "step stop",
    ]);
    expect(host.parts.find((part) => part.type === "marker" && part.kind === "compaction")).toMatchObject({
      data: { tokens_before: 911 },
    });
    expect(host.transcript.context?.tokens).toBeLessThan(911);
  });

  it("is freed later in a turn whose prompt alone nearly filled it", async () => {
    const summary: Step = { acts: [{ text: "The summary." }] };
    const { host, provider, agent } = setUp([full, summary], [echo], { contextLimit: () => 1_000 });
    await host.turn(agent, "x".repeat(3_600));
    expect(sent(provider, 2)[1]).toContain("The summary.");
  });

  it("is freed while prompts sent in the meantime are kept", async () => {
    const summary: Step = { acts: [{ text: "The summary." }], before_end: () => host.steer("And b.ts") };
    const { host, provider, agent } = setUp([full, summary], [echo], { contextLimit: () => 1_000 });
    await host.turn(agent, "Read a.ts");
    expect(sent(provider, 2).slice(1)).toEqual([expect.stringContaining("The summary."), "user And b.ts"]);
  });

  it("is freed with a prompt that fits the model, whatever the size of the results", async () => {
    const flood = tool("flood", () => ({ output_text: "y".repeat(100_000) }));
    const steps = (call: ModelCall, index: number): Step => {
      if (call.tools.length === 0) return { acts: [{ text: "So it is." }] };
      if (index > 7) return { acts: [{ text: "Done" }] };
      return { acts: [{ call: `c${index}`, name: "flood" }], usage: { input: index * 25_000, output: 1 } };
    };
    const { host, provider, agent } = setUp(steps, [flood], { contextLimit: () => 180_000 });
    expect(await host.turn(agent, "Read it all")).toBe("completed");
    const summaries = provider.calls.filter(({ tools }) => tools.length === 0);
    expect(summaries).toHaveLength(1);
    // The beginning and end of each result.
    expect(JSON.stringify(summaries[0]?.messages).length).toBeLessThan(100_000);
    expect(sent(provider, provider.calls.length - 1)[1]).toContain("So it is.");
  });

  it("is freed once if the provider rejects the context as too long, and the call is retried", async () => {
    const long = failure("context_overflow");
    const { host, provider, agent } = setUp([
      full,
      { failure: long },
      { failure: long },
      { acts: [{ text: "Short." }] },
      { acts: [{ text: "Done" }] },
    ]);
    expect(await host.turn(agent, "Go")).toBe("completed");
    // The request for the summary was too long at first, so less of the history was sent.
    expect(sent(provider, 4)[1]).toContain("Short.");
    expect(story(host.parts).slice(-3)).toEqual([
      "compaction: Conversation summarized to free context space",
      "text Done",
      "step stop",
    ]);
  });

  it("that cannot be freed does not stop the turn, but a context that stays too long does", async () => {
    const long = failure("context_overflow", { remedy: "Begin anew." });
    const { host, agent } = setUp((_, index) => (index === 0 ? full : { failure: long }));
    expect(await host.turn(agent, "Go")).toBe("failed");
    expect(story(host.parts).slice(-2)).toEqual([
      "compaction: The conversation could not be summarized",
      "error: It is context_overflow",
    ]);
  });

  it("is freed on request", async () => {
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Hello" }] },
      { acts: [{ text: "They said hello." }] },
    ]);
    await host.turn(agent, "Hello");
    host.end((await agent.compact?.(new AbortController().signal)) ?? "failed");
    await host.turn(agent, "And now?");
    expect(sent(provider, 2).slice(1)).toEqual([
      expect.stringMatching(/They said hello\.$/),
      "user And now?",
    ]);
  });

  it("is not freed if there is nothing to summarize, with a note", async () => {
    const { host, agent } = setUp([]);
    expect(await agent.compact?.(new AbortController().signal)).toBe("failed");
    expect(story(host.parts)).toEqual(["error: There is nothing to summarize"]);
  });

  it("is not freed if it is stopped: the context is unchanged", async () => {
    const stop = new AbortController();
    const { host, provider, agent } = setUp([
      { acts: [{ text: "Hello" }] },
      { acts: [{ text: "Half a summary" }], before_end: () => stop.abort() },
    ]);
    await host.turn(agent, "Hello");
    expect(await agent.compact?.(stop.signal)).toBe("interrupted");
    host.end("interrupted");
    await host.turn(agent, "And now?");
    expect(sent(provider, 2).slice(1)).toEqual(["user Hello", "assistant Hello", "user And now?"]);
    expect(story(host.parts)).toContain("compaction: The summary was stopped");
  });
});

describe("sub-agents", () => {
  const task = tool("task", async (input, { host, call_id, signal }) => {
    const report = await host.startRun({ tool_call_id: call_id, prompt: String(input.prompt) }, signal);
    return {
      output_text: report.text,
      ...(report.outcome === "completed" ? {} : { status: "error" as const }),
    };
  });

  it("run in parallel in their own sessions, with only a card in the parent", async () => {
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const { host, agent } = setUp(
      [{ acts: ["a", "b", "c"].map((name) => ({ call: name, name: "task", arguments: { prompt: name } })) }],
      [task],
    );
    let started = 0;
    host.startAgent = (run, { prompt }) => {
      const provider = plainProvider([
        { acts: [{ text: `I am ${prompt}` }], before_end: () => (++started === 3 ? resolve() : all) },
      ]);
      return createLoopAgent({ host: run, provider, model: "child", tools: [] });
    };
    expect(await host.turn(agent, "Three")).toBe("completed");
    expect(
      story(host.parts)
        .filter((line) => line.startsWith("result"))
        .toSorted(),
    ).toEqual(["result a success I am a", "result b success I am b", "result c success I am c"]);
    expect(host.runs.map((run) => story(run.parts)[1])).toEqual([
      "text I am a",
      "text I am b",
      "text I am c",
    ]);
    expect([host, ...host.runs].flatMap(({ violations }) => violations)).toEqual([]);
  });

  it("are all stopped with the parent, three levels down", async () => {
    const stop = new AbortController();
    const { host, agent } = setUp(
      [{ acts: ["a", "b"].map((name) => ({ call: name, name: "task", arguments: { prompt: name } })) }],
      [task],
    );
    const everyone: PlainSession[] = [];
    let waiting = 0;
    const start: PlainSession["startAgent"] = (run) => {
      everyone.push(run);
      run.startAgent = start;
      const isLeaf = run.depth === 3;
      const provider = plainProvider([
        { acts: [isLeaf ? { call: "e", name: "endless" } : { call: "t", name: "task" }] },
      ]);
      const wait = endless();
      const counted: Tool = {
        ...wait,
        prepare: (...given) => {
          if (++waiting === 4) setImmediate(() => stop.abort());
          return wait.prepare(...given);
        },
      };
      return createLoopAgent({ host: run, provider, model: "child", tools: [task, counted] });
    };
    host.startAgent = start;
    expect(await host.turn(agent, "Two", stop.signal)).toBe("interrupted");
    expect(everyone).toHaveLength(6);
    for (const run of everyone) {
      expect(run.transcript.turns.at(0)?.status).toBe("interrupted");
      expect(story(run.parts).filter((line) => line.startsWith("result"))).toEqual([
        expect.stringContaining(" aborted "),
      ]);
      expect(run.violations).toEqual([]);
    }
  });
});
