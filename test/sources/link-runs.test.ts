import { describe, expect, it } from "vitest";
import type { SessionLinkFacts } from "../../src/sources/contract.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";

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
  it("prefers the call's id to the agent's key, and the key to the prompt", () => {
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

  it("matches runs with the same prompt to calls in order, each call once, and never to a later call", () => {
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

  it("does not link across groups, except for a teammate whose name contains its team", () => {
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

  it("links a run without a call to its known parent, otherwise to its group", () => {
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

  it("never makes two runs each other's parents, or a run its own parent", () => {
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

  const linked = (facts: SessionLinkFacts[]) =>
    linkRuns(facts).map((link) => [link.session_id, link.parent_session_id, link.tool_call_id]);

  it("uses the first of several calls with the same id or name, in the run's own group", () => {
    expect(
      linked([
        session("other", [call("t1", { agent_key: "a" })], undefined, "elsewhere"),
        session("top", [call("t1", { agent_key: "a" }), call("t2", { agent_key: "a" })]),
        session("late", [call("t1")]),
        session("by id", [], { tool_call_id: "t1" }),
        session("by name", [], { agent_key: "a" }),
      ]),
    ).toEqual([
      ["by id", "top", "t1"],
      ["by name", "top", "t1"],
    ]);
  });

  it("finds the call by name if its id is missing, and by prompt if the name is missing too", () => {
    const top = session("top", [call("t1", { agent_key: "a" }), call("t2", { prompt: "p" })]);
    expect(linked([top, session("run", [], { tool_call_id: "gone", agent_key: "a" })])).toEqual([
      ["run", "top", "t1"],
    ]);
    expect(linked([top, session("run", [], { tool_call_id: "gone", prompt: "p" })])).toEqual([
      ["run", "top", "t2"],
    ]);
    expect(linked([top, session("run", [], { tool_call_id: "gone", prompt: "q" })])).toEqual([
      ["run", "top", undefined],
    ]);
  });

  it("matches a prompt to the earliest free call made at most two seconds after the run began", () => {
    const top = (...calls: Call[]) => session("top", calls);
    const run = (at: number, more: Partial<Run> = {}) => session("run", [], { prompt: "p", at, ...more });
    const asked = (at: number, name = "t") => call(name, { prompt: "p", at });
    expect(linked([top(asked(3_000)), run(1_000)])).toEqual([["run", "top", "t"]]);
    expect(linked([top(asked(3_001)), run(1_000)])).toEqual([["run", "top", undefined]]);
    expect(linked([top(asked(900, "second"), asked(500, "first")), run(1_000)])).toEqual([
      ["run", "top", "first"],
    ]);
    // A call that was matched by name is not free.
    const named = session("named", [], { agent_key: "a", at: 5_000 });
    const first = call("first", { prompt: "p", agent_key: "a", at: 500 });
    expect(linked([top(first, asked(900, "second")), named, run(1_000)])).toEqual([
      ["named", "top", "first"],
      ["run", "top", "second"],
    ]);
    // A call of another session does not match a run that knows its parent.
    const parents = [top(asked(500, "top's")), session("middle", [asked(900, "middle's")])];
    expect(linked([...parents, run(1_000, { parent_session_id: "middle" })])).toEqual([
      ["run", "middle", "middle's"],
    ]);
    expect(linked([...parents, run(1_000)])).toEqual([["run", "top", "top's"]]);
    expect(linked([session("top", []), session("run", [asked(500)], { prompt: "p", at: 1_000 })])).toEqual([
      ["run", "top", undefined],
    ]);
  });

  it("matches prompts in the order in which runs began, whatever the order of their files", () => {
    const calls = [500, 600, 700].map((at) => call(`t${at}`, { prompt: "p", at }));
    const run = (name: string, at: number) => session(name, [], { prompt: "p", at });
    expect(linked([session("top", calls), run("c", 1_300), run("a", 1_100), run("b", 1_200)])).toEqual([
      ["c", "top", "t700"],
      ["a", "top", "t500"],
      ["b", "top", "t600"],
    ]);
  });

  it("finds a teammate by a name with its team, unless several calls have that name", () => {
    const top = (...names: string[]) =>
      session(
        "top",
        names.map((agent_key, index) => call(`t${index}`, { agent_key })),
      );
    const bob = session("bob", [], { agent_key: "bob@team" }, "bob's");
    expect(linked([top("bob@team"), bob])).toEqual([["bob", "top", "t0"]]);
    expect(linked([top("bob@team", "bob@team"), bob])).toEqual([["bob", "bob's", undefined]]);
    expect(linked([top("bob@team", "bob@team", "bob@team"), bob])).toEqual([["bob", "bob's", undefined]]);
    const plain = session("bob", [], { agent_key: "bob" }, "bob's");
    expect(linked([top("bob"), plain])).toEqual([["bob", "bob's", undefined]]);
  });

  it("does not link a run to its own call or to itself", () => {
    expect(linked([session("run", [call("t1", { agent_key: "k" })], { agent_key: "k" }, "run")])).toEqual([]);
    expect(linked([session("run", [], { parent_session_id: "run" })])).toEqual([["run", "top", undefined]]);
    // Three in a cycle: the last one that is visited stays with the group.
    const ring = ["a", "b", "c"].map((name, index) =>
      session(name, [call(`of ${name}`)], { tool_call_id: `of ${["b", "c", "a"][index]}` }),
    );
    expect(linked(ring)).toEqual([
      ["a", "b", "of b"],
      ["b", "c", "of c"],
      ["c", "top", undefined],
    ]);
    expect(linkRuns([session("top", [call("t1")])])).toEqual([]);
  });
});
