import { describe, expect, it } from "vitest";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { isUuid } from "../../src/model/is-uuid.ts";
import { isRow } from "../../src/model/parts/part-kinds.ts";
import {
  accumulate,
  accumulateAndAddress,
  fillParts,
  finalizeTranscript,
  restoreTranscript,
  SKIPPED,
  unpairedOf,
} from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../src/model/transcript/turn-table.ts";
import { partId, uuidFrom } from "../../src/model/uuid.ts";
import * as frames from "./frames.ts";
import { begin, end, prompt, SESSION, say } from "./frames.ts";
import { type Bare, defined, id, kinds, session } from "./generate.ts";

const message = (number: number) => id(3, number);
const think = (text: string): Bare => say(text, { kind: "thinking" });
const call = (tool_call_id: string, arguments_json = "{}"): Bare =>
  frames.call(tool_call_id, { arguments_json });
const result = (
  tool_call_id: string,
  output_text: string,
  status: "success" | "error" | "aborted" = "success",
): Bare => frames.result(tool_call_id, { is_error: status === "error", status, output_text });

function fold(...bare: Bare[]): Transcript {
  return session(bare).reduce(accumulate, emptyTranscript(SESSION));
}
/** The kinds of the visible parts, without steps and the prompt. */
function shown(transcript: Transcript): string[] {
  return kinds(transcript).filter((kind) => !kind.startsWith("step") && kind !== "prompt");
}

describe("a turn", () => {
  it("is headed by its prompt, also if the agent added context before it", () => {
    const context: Bare = { type: "marker", part_id: id(4, 1), kind: "context", title: "Environment" };
    const queued: Bare = { type: "user.message", message_id: id(2, 3), parts: [], queued: true };
    const transcript = fold(context, prompt("Go"), begin(1), queued, end(1), prompt("More", 2));
    expect([...transcript.turns].map((turn) => turn?.prompt_index)).toEqual([1, 5]);
    expect(fold(begin(1), say("First")).turns.at(0)).not.toHaveProperty("prompt_index");
  });

  it('is ["thinking","text","tool_call","tool_result","thinking","text"] where the model worked in that order', () => {
    const transcript = fold(
      prompt("Go"),
      begin(1),
      think("First"),
      say("I read."),
      call("a"),
      end(1),
      result("a", "content"),
      begin(2),
      think("Then"),
      say("Done."),
      end(2),
      { type: "turn.end" },
    );
    expect(shown(transcript)).toEqual(["thinking", "text", "tool_call", "tool_result", "thinking", "text"]);
    expect(transcript.turns.length).toBe(1);
    expect(transcript.turns.at(0)).toMatchObject({
      title: "Go",
      status: "completed",
      steps: 2,
      tool_calls: 1,
    });
  });

  it("keeps adjacent texts of two steps separate", () => {
    const transcript = fold(
      prompt("Go"),
      begin(1),
      say("API types."),
      end(1),
      begin(2),
      say("Let me read"),
      end(2),
    );
    const texts = defined(transcript.parts).filter((part) => part.type === "text");
    expect(texts.map((part) => part.text)).toEqual(["API types.", "Let me read"]);
    expect(texts.map((part) => part.step)).toEqual([1, 2]);
  });

  it("keeps two text blocks of one message with boundaries separate", () => {
    const block = (number: number, text: string): Bare[] => [
      { type: "message.part_start", part_id: id(4, number), kind: "text" },
      { type: "message.delta", kind: "text", text },
      { type: "message.part_end", part_id: id(4, number) },
    ];
    const transcript = fold(begin(1), ...block(1, "One"), ...block(2, "Two"), end(1));
    expect(defined(transcript.parts).flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
      "One",
      "Two",
    ]);
  });

  it("keeps the thinking of each step, including hidden thinking", () => {
    const transcript = fold(
      begin(1),
      think("A"),
      end(1),
      begin(2),
      { type: "message.part_start", part_id: id(4, 1), kind: "thinking" },
      { type: "message.part_end", part_id: id(4, 1), hidden: "encrypted", signature: "s" },
      end(2),
      begin(3),
      think("C"),
      end(3),
    );
    const thoughts = defined(transcript.parts).filter((part) => part.type === "thinking");
    expect(thoughts.map((part) => [part.step, part.thinking, part.hidden])).toEqual([
      [1, "A", undefined],
      [2, "", "encrypted"],
      [3, "C", undefined],
    ]);
    expect(thoughts.map((part) => isRow(part, { showSteps: false }))).toEqual([true, false, true]);
  });

  it("opens a new part in a stream without boundaries when the kind changes or a tool frame arrives", () => {
    const transcript = fold(
      say("a"),
      say("b"),
      think("c"),
      say("d"),
      call("x"),
      say("e"),
      result("x", ""),
      say("f"),
    );
    expect(shown(transcript)).toEqual([
      "text",
      "thinking",
      "text",
      "tool_call",
      "text",
      "tool_result",
      "text",
    ]);
    expect(transcript.turns.at(0)?.title).toBeUndefined();
  });

  it("is closed by the next prompt, but contains queued prompts", () => {
    const queued: Bare = {
      type: "user.message",
      message_id: id(2, 2),
      parts: [{ type: "text", text: "and this" }],
      queued: true,
    };
    const transcript = fold(prompt("One"), begin(1), say("a"), queued, end(1), prompt("Two\nmore", 3));
    expect(transcript.turns.slice().map((turn) => [turn?.title, turn?.status, turn?.part_count])).toEqual([
      ["One", "completed", 5],
      ["Two", "running", 1],
    ]);
  });

  it("takes the prompt if it was just opened for it", () => {
    const transcript = fold({ type: "turn.start", turn_id: id(5, 1) }, prompt("Go"), {
      type: "turn.end",
      turn_id: id(5, 1),
    });
    expect(transcript.turns.slice()).toMatchObject([{ id: id(5, 1), title: "Go", part_count: 1 }]);
  });

  it("fails when it ends with an error, but not if the agent recovered from it", () => {
    const failed = fold(
      prompt("Go"),
      begin(1),
      { type: "error", message: "Overloaded" },
      { type: "turn.end" },
    );
    expect(failed.turns.at(0)).toMatchObject({ status: "failed", errors: 1 });
    const recovered = fold(
      prompt("Go"),
      { type: "error", message: "Overloaded" },
      begin(1),
      say("ok"),
      end(1),
      {
        type: "turn.end",
      },
    );
    expect(recovered.turns.at(0)?.status).toBe("completed");
  });

  it("is interrupted once, if the message's end, an interrupt, or both report it", () => {
    const aborted: Bare = { type: "message.end", message_id: message(1), stop_reason: "aborted" };
    const interrupt: Bare = { type: "interrupt", reason: "Esc" };
    for (const ending of [[aborted], [interrupt], [aborted, interrupt], [interrupt, aborted]]) {
      const transcript = fold(prompt("Go"), begin(1), say("Hal"), ...ending);
      expect(shown(transcript)).toEqual(["text", "marker"]);
      expect(kinds(transcript).filter((kind) => kind === "step_finish")).toHaveLength(1);
      expect(transcript.turns.at(0)?.status).toBe("interrupted");
      expect(transcript.parts.at(2)).not.toHaveProperty("open");
    }
  });

  it("counts the usage of a message once, even if it is sent repeatedly", () => {
    const used = (number: number, input: number): Bare => ({
      type: "message.end",
      message_id: message(number),
      usage: { input, output: 1 },
    });
    const transcript = fold(
      prompt("Go"),
      begin(1),
      used(1, 10),
      begin(2),
      used(2, 5),
      used(1, 12),
      used(1, 12),
    );
    expect(transcript.usage).toEqual({ input: 17, output: 2 });
    expect(transcript.turns.at(0)?.usage).toEqual({ input: 17, output: 2 });
  });

  it("does not count a reopened message as a new step", () => {
    const transcript = fold(
      begin(1),
      say("a"),
      end(1),
      begin(2),
      say("b"),
      end(2),
      begin(1),
      say("c"),
      end(1),
    );
    expect(transcript.turns.at(0)?.steps).toBe(2);
    expect(defined(transcript.parts).filter((part) => part.type === "step_start")).toHaveLength(2);
    expect(transcript.parts.at(transcript.parts.length - 1)).toMatchObject({ text: "c", step: 1 });
  });
});

describe("a tool call", () => {
  it("finds its result when results arrive in another order", () => {
    const transcript = fold(
      begin(1),
      call("a"),
      call("b"),
      call("c"),
      end(1),
      result("c", "3"),
      result("a", "1"),
      result("b", "2"),
    );
    const parts = defined(transcript.parts);
    const calls = parts.filter((part) => part.type === "tool_call");
    expect(calls.map((part) => [part.tool_call_id, parts[part.result_index ?? -1]])).toMatchObject([
      ["a", { output_text: "1" }],
      ["b", { output_text: "2" }],
      ["c", { output_text: "3" }],
    ]);
    expect(calls.map((part) => part.state.status)).toEqual(["completed", "completed", "completed"]);
    const results = parts.filter((part) => part.type === "tool_result");
    expect(results.map((part) => parts[part.call_index ?? -1])).toMatchObject([
      { tool_call_id: "c" },
      { tool_call_id: "a" },
      { tool_call_id: "b" },
    ]);
    expect(results.some((part) => isRow(part, { showSteps: true }))).toBe(false);
  });

  it("keeps a result without a call in place until the call arrives", () => {
    const orphaned = fold(begin(1), say("a"), result("x", "out"), say("b"));
    expect(shown(orphaned)).toEqual(["text", "tool_result", "text"]);
    const [orphan] = defined(orphaned.parts).filter((part) => part.type === "tool_result");
    expect(orphan && isRow(orphan, { showSteps: false })).toBe(true);
    expect(unpairedOf(orphaned).orphan_results).toEqual([["x", 2]]);
    const paired = fold(begin(1), say("a"), result("x", "out"), say("b"), call("x"));
    expect(paired.parts.at(4)).toMatchObject({
      result_index: 2,
      state: { status: "completed", output: "out" },
    });
    expect(paired.parts.at(2)).toMatchObject({ call_index: 4 });
  });

  it("without a recorded end is completed if it ends in text, and failed otherwise", () => {
    const answered = fold(prompt("Go"), begin(1), call("a"), result("a", "ok"), say("Done."));
    expect(finalizeTranscript(answered, 9_000).turns.at(0)?.status).toBe("completed");
    const cut = fold(prompt("Go"), begin(1), say("Looking."), call("a"), result("a", "ok"));
    expect(finalizeTranscript(cut, 9_000).turns.at(0)?.status).toBe("failed");
    const unanswered = fold(prompt("Go"), begin(1), say("Done."), prompt("More", 2));
    expect(finalizeTranscript(unanswered, 9_000).turns.at(1)?.status).toBe("failed");
  });

  it("is aborted if a crash left it without a result", () => {
    const running = fold(prompt("Go"), begin(1), call("a"), call("b"), result("a", "ok"), say("an open"));
    const settled = finalizeTranscript(running, 9_000);
    expect(settled.parts.at(3)).toMatchObject({ state: { status: "aborted", time: { end: 9_000 } } });
    expect(settled.parts.at(2)).toMatchObject({ state: { status: "completed" } });
    expect(settled.parts.at(5)).not.toHaveProperty("open");
    expect(settled.turns.at(0)?.status).toBe("failed");
    expect(finalizeTranscript(settled, 9_999)).toBe(settled);
    // The result arrives after all: it replaces the inferred end.
    const [late] = session([result("b", "late")]);
    const after = late === undefined ? settled : accumulate(settled, late);
    expect(after.parts.at(3)).toMatchObject({ state: { status: "completed", output: "late" } });
  });

  it("replaces its result with a second one", () => {
    const transcript = fold(
      begin(1),
      call("a"),
      result("a", "half", "error"),
      say("x"),
      result("a", "whole"),
    );
    expect(shown(transcript)).toEqual(["tool_call", "tool_result", "text"]);
    expect(transcript.parts.at(2)).toMatchObject({ output_text: "whole", status: "success" });
    expect(transcript.parts.at(1)).toMatchObject({ state: { status: "completed", output: "whole" } });
    expect(transcript.turns.at(0)?.errors).toBe(0);
  });

  it("keeps arguments byte for byte, even if they are not JSON", () => {
    const raw = '{"a": 1,  "b":';
    const transcript = fold(begin(1), call("a", raw));
    expect(transcript.parts.at(1)).toMatchObject({
      arguments_json: raw,
      state: { status: "running", input: raw },
    });
  });

  it("is created once by its start and its arguments, and revised by other arguments", () => {
    const started: Bare = { type: "message.tool_call_start", tool_call_id: "a", tool_name: "Read" };
    expect(fold(begin(1), started).parts.at(1)).toMatchObject({ state: { status: "pending", raw: "" } });
    const transcript = fold(
      begin(1),
      started,
      call("a", '{"x":1}'),
      call("a", '{"x":2}'),
      call("a", '{"x":2}'),
    );
    expect(shown(transcript)).toEqual(["tool_call"]);
    expect(transcript.parts.at(1)).toMatchObject({ arguments_json: '{"x":2}', state: { input: { x: 2 } } });
  });

  it("is a different call if an agent reuses its ids in the next turn", () => {
    const transcript = fold(
      prompt("1"),
      begin(1),
      call("0"),
      result("0", "a"),
      prompt("2", 2),
      begin(2),
      call("0"),
      result("0", "b"),
    );
    const parts = defined(transcript.parts);
    const calls = parts.filter((part) => part.type === "tool_call");
    expect(calls.map((part) => parts[part.result_index ?? -1])).toMatchObject([
      { output_text: "a" },
      { output_text: "b" },
    ]);
  });

  it("shows its output while it runs, and links its run", () => {
    const progress = (text: string, offset: number): Bare => ({
      type: "message.tool_progress",
      tool_call_id: "a",
      text,
      offset,
    });
    const run = { session_id: id(6, 1), name: "explorer" };
    const frames = [begin(1), call("a"), progress("ab", 0), progress("bc", 1), progress("abc", 0)];
    const transcript = fold(...frames, { type: "task.start", tool_call_id: "a", sub_agent: run });
    expect(transcript.parts.at(1)).toMatchObject({ progress: "abc", run });
    expect(fold(...frames, progress("x", 9)).gap).toMatchObject({ expected: 3, got: 9 });
    expect(fold(...frames, result("a", "abc")).parts.at(1)).not.toHaveProperty("progress");
  });
});

describe("a part", () => {
  it("is revised in place by a later complete value", () => {
    const transcript = fold(
      begin(1),
      { type: "message.part_start", part_id: id(4, 1), kind: "text" },
      say("Helo"),
      { type: "message.part_end", part_id: id(4, 1), text: "Hello" },
      say("next"),
      end(1),
      { type: "message.part_end", part_id: id(4, 1), text: "Hello!" },
    );
    expect(transcript.parts.at(1)).toMatchObject({ text: "Hello!" });
    expect(shown(transcript)).toEqual(["text", "text"]);
  });

  const revisions: [string, Bare, Bare][] = [
    [
      "a result",
      prompt("Go", 1, { part_id: id(4, 1) }),
      frames.result("a", { message_id: id(2, 1), part_id: id(4, 1) }),
    ],
    [
      "a call",
      { type: "message.image", message_id: message(1), part_id: id(4, 1), url: "data:," },
      frames.call("a", { message_id: message(1), part_id: id(4, 1) }),
    ],
  ];
  it.each(revisions)("gets its own id if its record was something else before it was %s", (_, was, is) => {
    const whole = fold(begin(1), was);
    const [frame] = session([is]);
    if (frame === undefined) throw new Error("no frame");
    const { transcript, frame: addressed } = accumulateAndAddress(whole, frame);
    expect(transcript.parts.at(2)?.message_id).toBe(whole.parts.at(1)?.message_id);
    expect(transcript.parts.at(2)?.id).not.toBe(whole.parts.at(1)?.id);
    expect(transcript.parts.at(1)).toEqual(whole.parts.at(1));
    expect(accumulate(transcript, frame).parts.length).toBe(3);
    // A client that has not loaded the part with the id gives the same id.
    const client = restoreTranscript({
      session_id: SESSION,
      turns: tableOfTurns(whole.turns),
      part_count: whole.parts.length,
      parts: [],
      ...unpairedOf(whole),
      open: whole.open,
    });
    expect(accumulate(client, addressed).parts.at(2)?.id).toBe(transcript.parts.at(2)?.id);
  });

  it("is marked and kept when its message or turn is retracted", () => {
    const transcript = fold(
      { type: "turn.start", turn_id: id(5, 1) },
      prompt("Go"),
      begin(1),
      say("a"),
      end(1),
      begin(2),
      say("b"),
      { type: "message.retract", message_id: message(1), reason: "Refused" },
      { type: "turn.retract", turn_id: id(5, 1), reason: "Rolled back" },
    );
    expect(shown(transcript)).toEqual(["text", "text"]);
    expect(defined(transcript.parts).map((part) => part.retracted)).toEqual([
      undefined,
      "Refused",
      "Refused",
      "Refused",
      undefined,
      undefined,
    ]);
    expect(transcript.turns.at(0)?.retracted).toBe("Rolled back");
  });

  it("keeps its identity while another one changes", () => {
    const frames = session([prompt("Go"), begin(1), say("a"), call("x"), say("b")]);
    const before = frames.reduce(accumulate, emptyTranscript(SESSION));
    const [delta] = session([say("c")]);
    const after = delta === undefined ? before : accumulate(before, delta);
    for (const index of [0, 1, 2, 3]) expect(after.parts.at(index)).toBe(before.parts.at(index));
    expect(after.turns).toBe(before.turns);
    expect(after.parts.at(4)).toMatchObject({ text: "bc" });
    expect(before.parts.at(4)).toMatchObject({ text: "b" });
  });
});

describe("a client with unloaded parts", () => {
  it("keeps them unloaded, and appends new parts once", () => {
    const whole = fold(prompt("Go"), begin(1), say("a"), call("x"), end(1));
    const page = {
      session_id: SESSION,
      turns: tableOfTurns(whole.turns),
      part_count: whole.parts.length,
      parts: [],
      ...unpairedOf(whole),
      open: whole.open,
    };
    const client = restoreTranscript(page);
    expect(client.unloaded).toBe(5);
    const [frame] = session([result("x", "out")]);
    if (frame === undefined) throw new Error("no frame");
    const addressed = accumulateAndAddress(whole, frame);
    expect(addressed.frame.part_index).toBe(5);
    const next = accumulate(client, addressed.frame);
    expect(next.parts.at(5)).toEqual(addressed.transcript.parts.at(5));
    const filled = fillParts(
      next,
      addressed.transcript.parts
        .slice(0, 5)
        .flatMap((part, index) => (part === undefined ? [] : [{ index, part }])),
    );
    expect(filled.unloaded).toBeUndefined();
    expect([...filled.parts]).toEqual([...addressed.transcript.parts]);
  });

  it("does not append text twice if a part was fetched while its delta was in transit", () => {
    const server = fold(begin(1), say("Hello"));
    const [delta] = session([say(" world")]);
    if (delta === undefined) throw new Error("no frame");
    const { transcript, frame } = accumulateAndAddress(server, delta);
    const part = transcript.parts.at(1);
    const client = restoreTranscript({
      session_id: SESSION,
      turns: tableOfTurns(transcript.turns),
      part_count: 2,
      parts: part === undefined ? [] : [{ index: 1, part }],
      ...unpairedOf(transcript),
      open: transcript.open,
    });
    expect(accumulate(client, frame).parts.at(1)).toMatchObject({ text: "Hello world" });
  });
});

describe("the list of frame types", () => {
  const examples: { [Type in Frame["type"]]: Bare & { type: Type } } = {
    "message.start": { type: "message.start", message_id: message(9) },
    "message.part_start": { type: "message.part_start", part_id: id(4, 9), kind: "text" },
    "message.delta": { type: "message.delta", kind: "text", text: "x" },
    "message.part_end": { type: "message.part_end", part_id: id(4, 1), text: "other" },
    "message.tool_call_start": { type: "message.tool_call_start", tool_call_id: "new", tool_name: "T" },
    "message.tool_call": {
      type: "message.tool_call",
      tool_call_id: "new",
      tool_name: "T",
      arguments_json: "",
    },
    "message.tool_progress": { type: "message.tool_progress", tool_call_id: "a", text: "x", offset: 0 },
    "message.tool_result": {
      type: "message.tool_result",
      tool_call_id: "a",
      is_error: false,
      status: "success",
      output_text: "",
      parts: [],
    },
    "message.image": { type: "message.image", part_id: id(4, 9), url: "data:," },
    "message.file": { type: "message.file", part_id: id(4, 9), mime: "a/b", url: "data:," },
    "message.end": { type: "message.end", message_id: message(1) },
    "message.retract": { type: "message.retract", message_id: message(1), reason: "r" },
    "message.legacy": {
      type: "message.legacy",
      message: { id: id(2, 9), role: "user", content: "c", created_at: "2026-01-01T00:00:00Z" },
    },
    "message.record": {
      type: "message.record",
      message: { id: message(1), role: "assistant", created_at: "2026-01-01T00:00:00Z", parts: [] },
    },
    "user.message": { type: "user.message", message_id: id(2, 9), parts: [] },
    "developer.message": { type: "developer.message", message_id: id(2, 9), parts: [] },
    "request.open": {
      type: "request.open",
      request: { request_id: id(7, 9), kind: "question", title: "Which?", options: [] },
    },
    "request.close": { type: "request.close", request_id: id(7, 1), outcome: "expired" },
    "todo.change": { type: "todo.change", todos: [] },
    "turn.start": { type: "turn.start", turn_id: id(5, 9) },
    "turn.end": { type: "turn.end" },
    "turn.retract": { type: "turn.retract", turn_id: id(5, 1), reason: "r" },
    "task.start": { type: "task.start", tool_call_id: "a", sub_agent: { session_id: id(6, 1) } },
    "task.finish": { type: "task.finish", tool_call_id: "a", status: "completed" },
    "task.metadata": { type: "task.metadata", tool_call_id: "a", metadata: { k: 1 } },
    error: { type: "error", message: "e" },
    interrupt: { type: "interrupt" },
    marker: { type: "marker", part_id: id(4, 9), kind: "note", title: "t" },
    unknown: { type: "unknown", part_id: id(4, 9), raw: 1 },
    "context.usage": { type: "context.usage", tokens: 1 },
    "session.update": { type: "session.update", patch: { title: "t" } },
    end: { type: "end" },
  };
  const base = fold(
    { type: "turn.start", turn_id: id(5, 1) },
    prompt("Go"),
    begin(1),
    { type: "message.part_start", part_id: id(4, 1), kind: "text" },
    { type: "message.part_end", part_id: id(4, 1), text: "text" },
    call("a"),
    {
      type: "request.open",
      request: { request_id: id(7, 1), kind: "approval", title: "Run a?", options: [] },
    },
  );

  it.each(frameSchema.options.map((option) => option.shape.type.value))(
    "handles %s, or lists it as skipped",
    (type) => {
      const [frame] = session([examples[type]]);
      if (frame === undefined) throw new Error(`No example of ${type}`);
      expect(frameSchema.parse(frame)).toEqual(frame);
      const changes = accumulate(base, frame) !== base;
      expect(changes).toBe(!(type in SKIPPED));
    },
  );
});

it("a call that ended before its name was known gets its title with the name", () => {
  const transcript = fold(
    prompt("Go"),
    begin(1),
    { type: "message.tool_call_start", tool_call_id: "a", tool_name: "tool" },
    result("a", "seen"),
    call("a"),
  );
  expect(defined(transcript.parts).find(({ type }) => type === "tool_call")).toMatchObject({
    tool_name: "Read",
    state: { status: "completed", title: "Read" },
  });
});

it("a later result without a name keeps the earlier name", () => {
  const named = (output_text: string, tool_name: string): Bare => ({
    type: "message.tool_result",
    tool_call_id: "lost",
    tool_name,
    is_error: false,
    status: "success",
    output_text,
    parts: [],
  });
  const transcript = fold(prompt("Go"), named("one", "Read"), named("two", ""));
  expect(defined(transcript.parts).at(-1)).toMatchObject({ tool_name: "Read", output_text: "two" });
});

describe("ids", () => {
  it("are UUIDs, stable, and different for every index of a message", () => {
    const ids = new Set(Array.from({ length: 20_000 }, (_, index) => partId(message(1), index - 10_000)));
    expect(ids.size).toBe(20_000);
    expect([...ids].every(isUuid)).toBe(true);
    expect(ids.has(message(1))).toBe(false);
    expect(partId(message(1), 7)).toBe(partId(message(1), 7));
    expect(isUuid(partId("not a uuid", 1))).toBe(true);
    expect(uuidFrom(SESSION, "a")).toBe(uuidFrom(SESSION, "a"));
    expect(isUuid(uuidFrom("codex", "rollout"))).toBe(true);
    expect(isUuid(uuidFrom("half a pair \ud83d", "\ud83d"))).toBe(true);
    expect(uuidFrom("codex", "rollout")).not.toBe(uuidFrom("claude-code", "rollout"));
  });
});
