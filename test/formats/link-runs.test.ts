import { describe, expect, it } from "vitest";
import type { SessionLinkFacts } from "../../src/formats/format.ts";
import { linkRuns } from "../../src/formats/link-runs.ts";

type Call = SessionLinkFacts["calls"][number];
type Run = NonNullable<SessionLinkFacts["run"]>;

function session(session_id: string, calls: Call[], run?: Partial<Run>, group = "top"): SessionLinkFacts {
  return {
    session_id,
    group,
    calls,
    ...(run !== undefined && { run: { agent_key: `key of ${session_id}`, at: 100, ...run } }),
  };
}

const call = (tool_call_id: string, more: Partial<Call> = {}): Call => ({ tool_call_id, at: 50, ...more });

describe("linkRuns", () => {
  it("trusts the call's id before the agent's key before the prompt", () => {
    const facts = [
      session("top", [
        call("by prompt", { prompt: "Do it" }),
        call("by key", { agent_key: "a", prompt: "Do it" }),
        call("by id", { prompt: "Do it" }),
      ]),
      session("one", [], { agent_key: "a", tool_call_id: "by id", prompt: "Do it" }),
      session("two", [], { agent_key: "a", prompt: "Do it" }),
      session("three", [], { agent_key: "b", prompt: "Do it" }),
    ];
    expect(linkRuns(facts).map((link) => [link.session_id, link.tool_call_id])).toEqual([
      ["one", "by id"],
      ["two", "by key"],
      ["three", "by prompt"],
    ]);
  });

  it("gives runs of the same prompt to its calls in their order, each call once, none to a later call", () => {
    const facts = [
      session("top", [
        call("second", { prompt: "p", at: 2_000 }),
        call("first", { prompt: "p", at: 1_000 }),
        call("late", { prompt: "p", at: 60_000 }),
      ]),
      session("b", [], { prompt: "p", at: 2_020 }),
      session("a", [], { prompt: "p", at: 2_010 }),
      session("c", [], { prompt: "p", at: 2_030 }),
    ];
    expect(linkRuns(facts)).toEqual([
      { session_id: "b", parent_session_id: "top", tool_call_id: "second" },
      { session_id: "a", parent_session_id: "top", tool_call_id: "first" },
      { session_id: "c", parent_session_id: "top" },
    ]);
  });

  it("finds the call of a nested run in another run", () => {
    const facts = [
      session("inner", [], { tool_call_id: "n1" }),
      session("outer", [call("n1")], { tool_call_id: "t1" }),
      session("top", [call("t1")]),
    ];
    expect(linkRuns(facts)).toEqual([
      { session_id: "inner", parent_session_id: "outer", tool_call_id: "n1" },
      { session_id: "outer", parent_session_id: "top", tool_call_id: "t1" },
    ]);
  });

  it("lets several runs share the call of a workflow", () => {
    const facts = [
      session("top", [call("t1", { agent_key: "wf_1" })]),
      session("one", [], { agent_key: "wf_1" }),
      session("two", [], { agent_key: "wf_1" }),
    ];
    expect(linkRuns(facts).map((link) => link.tool_call_id)).toEqual(["t1", "t1"]);
  });

  it("does not link across groups, but for a teammate, whose name says its team", () => {
    const facts = [
      session("top", [call("t1", { agent_key: "a", prompt: "p" }), call("t2", { agent_key: "bob@team" })]),
      session("stranger", [], { agent_key: "a", tool_call_id: "t1", prompt: "p" }, "elsewhere"),
      session("bob", [], { agent_key: "bob@team" }, "bob"),
    ];
    expect(linkRuns(facts)).toEqual([
      { session_id: "stranger", parent_session_id: "elsewhere" },
      { session_id: "bob", parent_session_id: "top", tool_call_id: "t2" },
    ]);
  });

  it("keeps a run without a call with the parent that it knows, and one that knows none with its group", () => {
    const facts = [
      session("known", [], { parent_session_id: "middle" }),
      session("unknown", [], {}),
      session("alone", [], {}, "alone"),
    ];
    expect(linkRuns(facts)).toEqual([
      { session_id: "known", parent_session_id: "middle" },
      { session_id: "unknown", parent_session_id: "top" },
    ]);
  });

  it("never makes two runs each other's parent, nor a run its own", () => {
    const facts = [
      session("a", [call("1")], { tool_call_id: "2" }),
      session("b", [call("2")], { tool_call_id: "1" }),
      session("c", [call("3")], { tool_call_id: "3" }),
    ];
    expect(linkRuns(facts)).toEqual([
      { session_id: "a", parent_session_id: "b", tool_call_id: "2" },
      { session_id: "b", parent_session_id: "top" },
      { session_id: "c", parent_session_id: "top" },
    ]);
  });
});
