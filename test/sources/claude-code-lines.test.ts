import { describe, expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { call, type Fields, result, SESSION, say, writer } from "./claude-support.ts";

const bytesOf = (lines: readonly (Fields | string)[]) =>
  new TextEncoder().encode(
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );

function fold(records: readonly ReadRecord[]): Transcript {
  let transcript = emptyTranscript(SESSION);
  for (const { frames } of records) for (const frame of frames) transcript = accumulate(transcript, frame);
  return transcript;
}

function read(lines: readonly (Fields | string)[]): { parts: TranscriptPart[]; records: ReadRecord[] } {
  const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
  const records = [...reader.push(bytesOf(lines)), ...reader.close()];
  return { parts: partsOf(fold(records)), records };
}

const partsOf = (transcript: Transcript) => transcript.parts.slice().filter((part) => part !== undefined);

/** The parts, one line each, without the boundaries of steps. */
function outline(parts: readonly TranscriptPart[]): string[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case "prompt":
        return `prompt${part.queued ? " (queued)" : ""} ${part.parts.map((item) => (item.type === "text" ? item.text : item.type)).join("|")}`;
      case "text":
        return `text ${part.text}`;
      case "tool_call":
        return `call ${part.arguments_json}`;
      case "tool_result":
        return `result ${part.status} ${part.output_text}`;
      case "marker":
        return `[${part.kind}] ${part.title}`;
      case "step_start":
      case "step_finish":
        return [];
      default:
        return part.type;
    }
  });
}

describe("single Claude Code lines", () => {
  it("keeps a call's arguments byte for byte", () => {
    const { assistant, user } = writer();
    const raw = '{"b":1.0,"2":1e5,"1":12345678901234567890,"s":"\\u00e9\\/"}';
    const spaced = '{ "b" : [1.50, "]}"] }';
    const line = JSON.stringify(
      assistant("m1", [
        call("t1", "FIRST"),
        call("t2", "SECOND"),
        call("t3", '{"a": 1}'),
        call("t4", { a: 1 }),
      ]),
    )
      .replace('"FIRST"', raw)
      .replace('"input":"SECOND"', `"input" : ${spaced}`);
    expect(outline(read([user("go"), line]).parts)).toEqual([
      "prompt go",
      `call ${raw}`,
      `call ${spaced}`,
      'call {"a": 1}',
      'call {"a":1}',
    ]);
  });

  it("keeps text of a person before and after an interrupt marker", () => {
    const { user, assistant } = writer();
    const lines = [
      user("go"),
      assistant("m1", [call("t1", {})]),
      user([
        result("t1", "The user doesn't want to proceed with this tool use.", { is_error: true }),
        say("not this way"),
        say("[Request interrupted by user for tool use]"),
        say("do it by hand"),
      ]),
    ];
    expect(outline(read(lines).parts).slice(2)).toEqual([
      "result aborted The user doesn't want to proceed with this tool use.",
      "prompt (queued) not this way",
      "[interrupt] Stopped by the user during a tool call",
      "prompt do it by hand",
    ]);
  });

  it("shows a call that reuses the id of an earlier one, with its own result", () => {
    const { user, assistant } = writer();
    const lines = [
      user("go"),
      assistant("m1", [call("t1", { n: 1 })]),
      user([result("t1", "one")]),
      assistant("m2", [call("t1", { n: 2 })]),
      user([result("t1", "two")]),
    ];
    expect(outline(read(lines).parts).slice(1)).toEqual([
      'call {"n":1}',
      "result success one",
      'call {"n":2}',
      "result success two",
    ]);
  });

  it("shows prompts once that were copied after a compaction, among copied answers", () => {
    const { user, assistant, line } = writer();
    const before = [
      user("first"),
      assistant("m1", [say("answer")]),
      user("second"),
      assistant("m2", [call("t", {})]),
    ];
    const boundary = line("system", { subtype: "compact_boundary", parentUuid: null });
    const copies = before.map((copied, index) => ({
      ...copied,
      uuid: `${index}0000000-1111-4000-8000-000000000000`,
      timestamp: boundary.timestamp,
    }));
    const { parts } = read([...before, boundary, ...copies, assistant("m3", [say("on")])]);
    expect(outline(parts)).toEqual([
      "prompt first",
      "text answer",
      "prompt second",
      "call {}",
      "[compaction] Conversation compacted",
      "text on",
    ]);
  });

  it("shows other records once that were copied after a compaction, with their own time or the compaction's", () => {
    const { user, assistant, line } = writer();
    const failed = (text: string) =>
      line("assistant", { isApiErrorMessage: true, message: { content: [say(text)] } });
    const notice = "<task-notification><summary>Tests ended</summary></task-notification>";
    const before = [
      user("go"),
      user("<bash-input>ls</bash-input>"),
      user("<bash-stdout>a.txt</bash-stdout>"),
      user(notice),
      user([say("context")], { isMeta: true }),
      user("<command-name>/review</command-name>"),
      failed("API Error: no"),
      user([result("t", "ok"), say("[Request interrupted by user]")]),
    ];
    const boundary = line("system", { subtype: "compact_boundary", parentUuid: null });
    const summary = user("what was", { isCompactSummary: true });
    let count = 0;
    const copies = (records: readonly object[], fields: object) =>
      records.map((record) => {
        count += 1;
        return { ...record, uuid: `${10_000_000 + count}-1111-4000-8000-000000000000`, ...fields };
      });
    const shown = outline(read([...before, boundary, summary]).parts);
    const { timestamp } = boundary;
    for (const fields of [{}, { timestamp }]) {
      expect(outline(read([...before, boundary, summary, ...copies(before, fields)]).parts)).toEqual(shown);
    }
    const again = line("system", { subtype: "compact_boundary", parentUuid: null });
    const late = [
      again,
      user("more", { isCompactSummary: true }),
      ...copies(before, { timestamp }),
      ...copies([summary], {}),
    ];
    const twice = [...before, boundary, summary, ...copies(before, { timestamp }), ...late];
    expect(outline(read(twice).parts)).toHaveLength(shown.length + 1);
    // A repeated action of a person is not a copy.
    const repeated = [user("<bash-input>ls</bash-input>"), failed("API Error: no")];
    expect(outline(read([...before, boundary, summary, ...repeated]).parts)).toHaveLength(shown.length + 2);
    expect(
      outline(read([...before, assistant("m", "x"), ...copies(before.slice(1, 3), {})]).parts),
    ).toHaveLength(shown.length + 2);
  });

  it("reads the result of a server-side tool, with its failure", () => {
    const { user, assistant } = writer();
    const lines = [
      user("go"),
      assistant("m1", [
        { type: "mcp_tool_use", id: "s1", name: "echo", input: {} },
        { type: "mcp_tool_result", tool_use_id: "s1", is_error: true, content: [say("one"), say("two")] },
      ]),
    ];
    expect(outline(read(lines).parts).slice(1)).toEqual(["call {}", "result error one\ntwo"]);
  });

  it("treats a user line without content as empty", () => {
    const { user } = writer();
    expect(read([user("go"), user(null), user([]), user("")]).records.map((one) => one.disposition)).toEqual([
      { kind: "shown" },
      ...Array.from({ length: 3 }, () => ({ kind: "hidden", rule: "empty message" })),
      { kind: "folded", into: "the end of the turn" },
    ]);
  });

  it("merges a repeated result with the first one, even without its call", () => {
    const { user } = writer();
    const { parts, records } = read([user([result("lost", "one")]), user([result("lost", "two")])]);
    expect(outline(parts)).toEqual(["result success two"]);
    expect(records.map(({ disposition }) => disposition.kind)).toEqual(["shown", "folded"]);
    expect(linePlace(parts[0]?.source)?.line).toBe(1);
  });

  it("accepts a lone surrogate in an agent's id", () => {
    const { user } = writer();
    const { records } = read([user("go"), user("inner", { isSidechain: true, agentId: "\ud83d" })]);
    expect(records.map(({ disposition }) => disposition.kind)).toEqual(["shown", "shown", "folded"]);
  });

  it("continues a run whose beginning is repeated, without losing records", () => {
    const beside = { isSidechain: true, parentUuid: null };
    const { user } = writer();
    const task = user("look", { ...beside, uuid: "begin" });
    const says = (uuid: string, parentUuid: string, text: string) => ({
      type: "assistant",
      isSidechain: true,
      uuid,
      parentUuid,
      message: { id: "m1", role: "assistant", content: [{ type: "text", text }] },
    });
    const { records } = read([user("go"), task, says("a", "b", "two"), task, says("b", "begin", "one")]);
    const runs = records.flatMap(({ frames }) => frames).filter(({ session_id }) => session_id !== SESSION);
    expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(1);
    const [run = { session_id: "" }] = runs;
    const transcript = runs.reduce(accumulate, emptyTranscript(run.session_id));
    expect(outline(partsOf(transcript))).toEqual(["prompt look", "text two", "text one"]);
  });

  describe("queued prompts", () => {
    it("that are lost with the end of the file leave what its last record shows", () => {
      const { line, queue } = writer();
      const problem = line("system", { subtype: "api_error", error: { message: "overloaded" } });
      expect(outline(read([queue("enqueue", "use pnpm"), problem]).parts)).toEqual([
        "[retry] API error: overloaded",
        "[note] Queued prompt, no record that it was sent: use pnpm",
      ]);
    });

    it("are shown where they reached the model, otherwise at the next prompt or the end", () => {
      const { user, assistant, queue, line } = writer();
      const lines = [
        queue("enqueue", "go"),
        queue("dequeue"),
        user("go"),
        assistant("m1", [call("t1", {})]),
        queue("enqueue", "use pnpm"),
        queue("remove"),
        user([result("t1", "ok")]),
        line("attachment", { attachment: { type: "queued_command", prompt: "use pnpm" } }),
        assistant("m2", [say("done")], "end_turn"),
        queue("enqueue", "too late"),
        queue("popAll", "too late"),
        user("next"),
        assistant("m3", [call("t2", {})]),
        queue("enqueue", "<task-notification><summary>x</summary></task-notification>"),
        queue("enqueue", "still waiting"),
      ];
      expect(outline(read(lines).parts)).toEqual([
        "prompt go",
        "call {}",
        "result success ok",
        "prompt (queued) use pnpm",
        "text done",
        "[note] Queued prompt, no record that it was sent: too late",
        "prompt next",
        "call {}",
        "[note] Queued prompt, no record that it was sent: still waiting",
      ]);
    });

    it("are shown before the next prompt if only the queue has them", () => {
      const { user, assistant, queue } = writer("2.1.32");
      const lines = [
        user("go"),
        assistant("m1", [call("t1", {})]),
        queue("enqueue", "use pnpm"),
        queue("remove"),
        user([result("t1", "ok")]),
        user("next"),
      ];
      expect(outline(read(lines).parts)).toEqual([
        "prompt go",
        "call {}",
        "result success ok",
        "prompt (queued) use pnpm",
        "prompt next",
      ]);
    });
  });

  it("keeps the text of a run in its call, because the run's own file may be deleted", () => {
    const { user, assistant, line } = writer("2.1.32");
    const progress = (role: string, content: unknown) =>
      line("progress", {
        parentToolUseID: "t1",
        data: { type: "agent_progress", agentId: "a1", message: { type: role, message: { role, content } } },
      });
    const { parts } = read([
      user("go"),
      assistant("m1", [call("t1", { prompt: "look" }, "Task")]),
      progress("user", [say("look")]),
      progress("assistant", [say("I look."), call("t2", { pattern: "x" }, "Grep")]),
      progress("user", [result("t2", "a.ts")]),
      user([result("t1", "found")]),
    ]);
    const card = parts.find((part) => part.type === "tool_call");
    expect(card?.state).toMatchObject({
      status: "completed",
      metadata: { progress: 'I look.\n▸ Grep {"pattern":"x"}\n  a.ts\n' },
    });
  });

  it("returns the same parts if the file is followed with pauses anywhere", () => {
    const { user, assistant, line } = writer();
    const lines = [
      user("go"),
      assistant("m1", [say("looking")], "end_turn"),
      assistant("m1", [call("t1", {})], "end_turn"),
      user([result("t1", "ok")]),
      assistant("m2", [say("done")], "end_turn"),
      line("system", { subtype: "local_command", content: "/nosuch" }),
      line("system", { subtype: "informational", content: "by the way" }),
      user("more"),
      { ...assistant("m3", [say("half a sen")], "stop_sequence") },
      user([say("[Request interrupted by user]")]),
    ];
    const atOnce = read(lines).parts;
    const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
    const records = lines.flatMap((one) => [
      ...reader.push(bytesOf([one])),
      ...reader.settle(),
      ...reader.settle(),
    ]);
    const followed = fold([...records, ...reader.close()]);
    expect(partsOf(followed).map(({ id }) => id)).toEqual(atOnce.map(({ id }) => id));
    expect(partsOf(followed)).toEqual(atOnce);
  });
});
