import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { frame as frameSchema } from "../../src/model/frames/frame.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import { codex } from "../../src/sources/codex/format.ts";
import {
  fold,
  linesOf,
  ofFile,
  orderOf,
  partsOf,
  readFile,
  readPieces,
  untimed,
  violationsOf,
} from "./codex-support.ts";
import { cutsOf, everyByte } from "./cuts.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/codex");
const names = readdirSync(FIXTURES).filter((name) => name.endsWith(".jsonl"));
/** The path of each fixture: the file's name contains the thread's id. */
const ID: Record<string, string> = {
  "bare-2025.jsonl": "5d2f0f6e-8e0f-4a63-9c4c-2f6a0c1b7d11",
  "events-2025.jsonl": "019a4a00-0000-7000-8000-00000000000a",
  "turns-0144.jsonl": "019f5ce9-e6bd-7e92-87b0-d3109e55f601",
  "fork-0142.jsonl": "019f1fd6-f9a0-7e13-8a8f-cbf5a3fd1001",
  "fork-without-ids.jsonl": "019f1fd6-f9a0-7e13-8a8f-cbf5a3fd1001",
  "paginated-0169.jsonl": "01a1fb43-76a8-7583-b5a2-d62dbb7d9d01",
  "child-v2.jsonl": "01a1fb43-a5a3-7e13-a4e1-aaf302247501",
  "mixed-0169.jsonl": "01a1fb43-a42d-7e03-b77c-5f1730c5ee01",
};
const pathOf = (name: string): string => `sessions/2026/01/01/rollout-2026-01-01T00-00-00-${ID[name]}.jsonl`;
const bytesOf = (name: string): Uint8Array => readFile(join(FIXTURES, name));
const read = (name: string) => readPieces(pathOf(name), [bytesOf(name)]);
const transcriptOf = (name: string) => fold(read(name));
const partsIn = (name: string) => partsOf(transcriptOf(name));

function only<Type extends TranscriptPart["type"]>(
  parts: readonly TranscriptPart[],
  type: Type,
): TranscriptPartOf<Type>[] {
  return parts.filter((part): part is TranscriptPartOf<Type> => part.type === type);
}
const markers = (parts: readonly TranscriptPart[]) =>
  only(parts, "marker").map(({ kind, title }) => `${kind}: ${title}`);
const prompts = (parts: readonly TranscriptPart[]) =>
  only(parts, "prompt").map(({ parts: [first] }) => (first?.type === "text" ? first.text : first?.type));
const resultOf = (parts: readonly TranscriptPart[], call: string) =>
  only(parts, "tool_result").find(({ tool_call_id }) => tool_call_id === call);

/** The session of a few lines. */
function sessionOf(...lines: Record<string, unknown>[]) {
  const text = lines
    .map((line, index) =>
      JSON.stringify({ timestamp: `2026-01-01T00:00:${String(index).padStart(2, "0")}.000Z`, ...line }),
    )
    .join("\n");
  const records = readPieces("rollout-a.jsonl", [new TextEncoder().encode(`${text}\n`)]);
  return { records, transcript: fold(records), parts: partsOf(fold(records)) };
}
const META = { type: "session_meta", payload: { id: "01a1fb43-0000-7000-8000-000000000001" } };
const item = (payload: Record<string, unknown>) => ({ type: "response_item", payload });
const event = (payload: Record<string, unknown>) => ({ type: "event_msg", payload });

describe("a Codex file", () => {
  test.each(names)(
    "returns the same frames for all chunk boundaries: %s",
    (name) => {
      const bytes = bytesOf(name);
      const whole = JSON.stringify(read(name));
      for (const cut of cutsOf(bytes)) {
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
        if (JSON.stringify(readPieces(pathOf(name), pieces)) !== whole)
          expect.fail(`differs when cut at ${cut}`);
      }
      // A thousand reads take long on a busy machine.
    },
    120_000,
  );

  test.each(names)("returns the same frames byte by byte: %s", (name) => {
    const bytes = bytesOf(name);
    const cuts = everyByte(bytes);
    const pieces = cuts.map((cut, index) => bytes.subarray(cut, cuts[index + 1]));
    expect(readPieces(pathOf(name), pieces)).toEqual(read(name));
  });

  test.each(names)("accounts for every line, and every shown line has a part: %s", (name) => {
    const records = read(name);
    expect(ofFile(records).map(({ place }) => place.line)).toEqual(
      linesOf(bytesOf(name)).map((_, index) => index + 1),
    );
    const sources = partsIn(name).map(({ source }) => linePlace(source)?.byte ?? -1);
    for (const { place, disposition } of records) {
      if (["shown", "unknown", "unreadable"].includes(disposition.kind))
        expect(sources).toContain(place.byte);
    }
    const placed = sources.filter((byte) => byte !== -1);
    expect(placed).toEqual(placed.toSorted((left, right) => left - right));
  });

  test.each(names)("is the same with a settle after every line: %s", (name) => {
    // Only an agent's note that the next line distinguishes from a prompt may differ.
    const settled = partsOf(fold(readPieces(pathOf(name), linesOf(bytesOf(name)), true)));
    const told = (parts: TranscriptPart[]) =>
      untimed(
        parts.filter(({ source }) => name !== "events-2025.jsonl" || (linePlace(source)?.line ?? 0) < 29),
      );
    expect(told(settled)).toEqual(told(partsIn(name)));
  });

  test.each(names)("is recognized by its first bytes: %s", (name) => {
    expect(codex.detect(bytesOf(name).subarray(0, 200))).toBe(true);
  });

  test.each(names)("returns valid frames in a valid order: %s", (name) => {
    expect(violationsOf(read(name))).toEqual([]);
    for (const { frames } of read(name)) {
      for (const each of frames) expect(frameSchema.safeParse(each).error).toBeUndefined();
    }
  });
});

describe("the format", () => {
  test("recognizes only its files by name, including compressed ones", () => {
    expect(codex.classify("sessions/2026/01/01/rollout-a.jsonl")).toEqual({ kind: "session" });
    expect(codex.classify("archived_sessions/rollout-a.jsonl.zst")).toEqual({ kind: "session" });
    expect(codex.classify("session_index.jsonl")).toBeUndefined();
    expect(codex.classify("history.jsonl")).toBeUndefined();
  });

  test("does not claim another agent's file, even one that quotes Codex", () => {
    const claude = JSON.stringify({
      type: "user",
      sessionId: "s",
      message: { role: "user", content: JSON.stringify({ type: "session_meta", payload: {} }) },
    });
    expect(codex.detect(new TextEncoder().encode(claude))).toBe(false);
    expect(codex.detect(new TextEncoder().encode("hello"))).toBe(false);
  });

  test("reads the id of a writer's lock from its name", () => {
    const id = "01a1fb43-76a8-7583-b5a2-d62dbb7d9d01";
    expect(codex.registry?.read(`${id}.lock`, "")).toEqual({ session_id: id, locked: true });
    expect(codex.registry?.read("README", "")).toBeUndefined();
  });
});

describe("bare lines of 2025", () => {
  test("become turns, steps, and calls with exit codes", () => {
    expect(orderOf(transcriptOf("bare-2025.jsonl"))).toBe("U T c:shell | x U c:shell! | x");
    const parts = partsIn("bare-2025.jsonl");
    expect(prompts(parts)).toEqual(["list the files", "and now?"]);
    expect(markers(parts)).toEqual(["context: User instructions"]);
    expect(only(parts, "thinking")[0]?.thinking).toBe("**Listing**\n\nOne command will do.");
    expect(resultOf(parts, "call_1")).toMatchObject({
      output_text: "a.txt\nb.txt\n",
      ui_extra: { type: "shell", command: "ls", exit_code: 0, duration_ms: 200 },
    });
    expect(resultOf(parts, "call_2")?.status).toBe("error");
  });
});

describe("events with items", () => {
  const parts = () => partsIn("events-2025.jsonl");

  test("are merged with them, and shown if they have none", () => {
    expect(orderOf(transcriptOf("events-2025.jsonl"))).toBe(
      "U T x c:update_plan c:shell | T(enc) x c:web_search x U x",
    );
    expect(only(parts(), "text").map(({ text }) => text)).toEqual([
      "Looking at it.",
      "Only the event has this.",
      "Done.",
      "Done.",
    ]);
  });

  test("distinguish a person's prompt from injected context", () => {
    expect(prompts(parts())).toEqual(["fix the test", "continue"]);
    expect(markers(parts())).toEqual([
      "context: AGENTS.md instructions",
      "context: Environment",
      "retry: stream disconnected, retrying 1/5",
      "context: Injected message",
      "error: Rate limit exceeded",
    ]);
  });

  test("count tokens once, without cached ones", () => {
    expect(transcriptOf("events-2025.jsonl").usage).toEqual({
      input: 1250,
      output: 250,
      cache_read: 1250,
      reasoning: 4,
    });
  });

  test("give a plan as to-dos and a patch in a here-document as a diff", () => {
    expect(resultOf(parts(), "call_p")?.ui_extra).toEqual({
      type: "todos",
      todos: [
        { text: "Read", status: "completed" },
        { text: "Fix", status: "in_progress" },
      ],
    });
    expect(transcriptOf("events-2025.jsonl").todos).toHaveLength(2);
    expect(resultOf(parts(), "call_a")?.ui_extra).toMatchObject({
      type: "diff",
      files: [{ path: "a.ts", change: "update", additions: 2, deletions: 1 }],
    });
  });
});

describe("turns of 0.144", () => {
  const transcript = () => transcriptOf("turns-0144.jsonl");
  const parts = () => partsOf(transcript());
  const turns = () =>
    transcript()
      .turns.slice()
      .flatMap((turn) => turn ?? []);

  test("begin, end, are interrupted and are rolled back", () => {
    expect(turns().map(({ title, status, retracted }) => [title, status, retracted])).toEqual([
      ["add a file", "completed", undefined],
      ["run it", "interrupted", "Rolled back"],
      ["compact", "failed", undefined],
    ]);
    expect(orderOf(transcript())).toBe(
      "U c:exec | c:apply_patch c:exec_command! | x U c:exec_command! U x (summary) x",
    );
  });

  test("keep a prompt typed meanwhile in its place", () => {
    expect(only(parts(), "prompt").map(({ queued }) => queued ?? false)).toEqual([false, true, false, false]);
  });

  test("attribute operations inside a script to the script", () => {
    expect(resultOf(parts(), "call_1")?.ui_extra).toEqual({
      type: "diff",
      files: [
        {
          path: "/code/app/new.txt",
          change: "create",
          additions: 2,
          deletions: 0,
          hunks: [{ old_start: 0, old_lines: 0, new_start: 1, new_lines: 2, lines: ["+x", "+y"] }],
        },
        {
          path: "/code/app/old.ts",
          change: "move",
          new_path: "/code/app/moved.ts",
          additions: 2,
          deletions: 1,
          hunks: [
            {
              old_start: 3,
              old_lines: 2,
              new_start: 3,
              new_lines: 3,
              lines: [" same", "-gone", "+here", "+more"],
            },
          ],
        },
      ],
    });
  });

  test("keep arguments that are not JSON byte for byte", () => {
    const call = only(parts(), "tool_call").find(({ tool_call_id }) => tool_call_id === "call_3");
    expect(call?.arguments_json).toBe('{"cmd": "sleep 9');
    expect(resultOf(parts(), "call_3")?.status).toBe("error");
  });

  test("report a model change, a stop and a compaction once each", () => {
    expect(markers(parts())).toEqual([
      "context: Environment",
      "model_switch: gpt-a → gpt-b",
      "interrupt: Interrupted",
      "rewind: The last turn was rolled back",
      "compaction: Context compacted (window 2)",
      "error: usage limit reached",
    ]);
    expect(resultOf(parts(), "call_4")?.status).toBe("aborted");
  });

  test("hide the history that a compaction keeps", () => {
    expect(prompts(parts()).filter((prompt) => prompt === "add a file")).toHaveLength(1);
  });

  test("give the session its name", () => {
    const titles = read("turns-0144.jsonl").flatMap(({ frames }) =>
      frames.flatMap((frame) =>
        frame.type === "session.update" && frame.patch.title ? frame.patch.title : [],
      ),
    );
    expect(titles).toEqual(["Files and more"]);
  });
});

describe("copied history", () => {
  test.each(["fork-0142.jsonl", "fork-without-ids.jsonl"])("is one note without cost: %s", (name) => {
    const transcript = transcriptOf(name);
    const parts = partsOf(transcript);
    expect(orderOf(transcript)).toBe("U x");
    expect(prompts(parts)).toEqual(["the fork's prompt"]);
    expect(markers(parts)).toEqual(["note: 7 records copied from another session"]);
    expect(transcript.usage?.input).toBe(50);
    const hidden = read(name).filter(
      ({ disposition }) =>
        disposition.kind === "hidden" && disposition.rule === "history copied from another session",
    );
    expect(hidden).toHaveLength(7);
  });

  test("that is only referenced is a link", () => {
    const updates = read("mixed-0169.jsonl")[0]?.frames.filter(({ type }) => type === "session.update");
    expect(updates?.[0]).toMatchObject({
      patch: { forked_from: { session_id: "019f1fd3-be2c-7a61-9394-386aa9bcc601", at_byte: 51745 } },
    });
    expect(markers(partsIn("mixed-0169.jsonl"))[0]).toMatch(/^note: 43 records before this are in/);
  });

  test("ends by its ordinals in a spawned agent's file, whose task is a prompt of an agent", () => {
    const parts = partsIn("child-v2.jsonl");
    expect(orderOf(transcriptOf("child-v2.jsonl"))).toBe("U c:list_agents! | x");
    expect(only(parts, "prompt")[0]).toMatchObject({
      origin: "agent",
      parts: [{ type: "text", text: "count the lines of a.txt" }],
    });
    expect(markers(parts)).toEqual(["note: 5 records copied from another session"]);
  });
});

describe("the paginated history of 0.169", () => {
  const transcript = () => transcriptOf("paginated-0169.jsonl");
  const parts = () => partsOf(transcript());

  test("has steps at token records, and before the first of them at outputs", () => {
    expect(orderOf(transcript())).toBe(
      "U T x c:spawn_agent c:exec_command! | c:exec_command | x U c:exec_command! | (summary)",
    );
    expect(transcript().usage).toEqual({
      input: 2000,
      output: 80,
      cache_read: 1600,
      cache_write: 400,
      reasoning: 20,
    });
  });

  test("reads a shell's exit code, folder and time from any log", () => {
    const result = resultOf(parts(), "call_e");
    expect(result?.ui_extra).toMatchObject({
      type: "shell",
      command: "cat missing.txt",
      cwd: "/code/app",
      exit_code: 1,
      duration_ms: 5,
    });
    const start = result?.ui_extra?.type === "shell" ? result.ui_extra.output_start : undefined;
    expect(result?.output_text.slice(start)).toBe("cat: missing.txt\n");
  });

  test("adds output after the turn to its call, which stays aborted", () => {
    expect(resultOf(parts(), "call_g")).toMatchObject({
      status: "aborted",
      output_text: "Wall time: 1.9 seconds\naborted by user\na: begun\n",
      ui_extra: { exit_code: -1, interrupted: true },
    });
    expect(transcript().open.turn_open).toBe(false);
  });

  test("shows a compaction's summary in its marker, not as an answer", () => {
    const compaction = only(parts(), "marker").find(({ kind }) => kind === "compaction");
    expect(compaction?.text).toBe("Summary: nothing yet.");
    expect(only(parts(), "text").map(({ text }) => text)).toEqual(["Spawning a helper.", "Done."]);
  });

  test("links a spawned agent and its call in both directions", () => {
    const kid = "01a1fb43-781a-7921-86b7-6c958a6fee01";
    const call = only(parts(), "tool_call").find(({ tool_call_id }) => tool_call_id === "call_s");
    expect(call?.run).toEqual({ session_id: kid, name: "Bohr", task: "count a.txt" });
    const reader = codex.createReader({ path: pathOf("paginated-0169.jsonl") });
    reader.push(bytesOf("paginated-0169.jsonl"));
    expect(reader.linkFacts().sessions[0]?.calls).toMatchObject([
      { tool_call_id: "call_s", agent_key: kid, prompt: "count a.txt" },
    ]);
    expect(markers(parts())).toContain("notification: Sub-agent Bohr completed");
  });

  test("links an agent that was spawned by the name of its task", () => {
    const call = only(partsIn("mixed-0169.jsonl"), "tool_call")[0];
    expect(call?.run).toEqual({
      session_id: "01a1fb43-a5a3-7e13-a4e1-aaf302247501",
      name: "counter",
      task: "count",
    });
    const child = codex.createReader({ path: pathOf("child-v2.jsonl") });
    child.push(bytesOf("child-v2.jsonl"));
    expect(child.linkFacts().sessions[0]).toMatchObject({
      group: "01a1fb43-a42d-7e03-b77c-5f1730c5ee01",
      run: {
        agent_key: "01a1fb43-a5a3-7e13-a4e1-aaf302247501",
        parent_session_id: "01a1fb43-a42d-7e03-b77c-5f1730c5ee01",
      },
    });
  });
});

describe("rare records", () => {
  const parts = () => partsIn("mixed-0169.jsonl");

  test("a prompt with an image contains the image without tags around it", () => {
    expect(only(parts(), "prompt")[0]?.parts).toEqual([
      { type: "image_url", url: "data:image/png;base64,AAAA" },
      { type: "text", text: "what is this?" },
    ]);
  });

  test("a question shows its answer, a plan is shown once, an image is shown", () => {
    expect(resultOf(parts(), "call_q")?.ui_extra).toEqual({
      type: "question",
      questions: [{ question: "Which?", options: ["A", "B"], answer: "B" }],
    });
    expect(only(parts(), "text").map(({ text }) => text)).toEqual([
      "<proposed_plan>\n# Plan\n1. Go\n</proposed_plan>",
    ]);
    expect(resultOf(parts(), "ig_1")?.parts).toEqual([
      { type: "image_url", url: "data:image/png;base64,AAAA" },
    ]);
  });

  test("new types, a broken line and an output without its call are shown in their place", () => {
    const unknown = only(parts(), "unknown");
    expect(unknown.map(({ title }) => title)).toEqual(["hologram", "Unreadable line", "telemetry_v9"]);
    expect(unknown[1]?.error).toMatch(/JSON/);
    const orphan = resultOf(parts(), "call_unknown");
    expect(orphan).toMatchObject({ status: "error", output_text: "late" });
    expect(orphan?.call_index).toBeUndefined();
  });

  test("a command of a person is not a call of the model", () => {
    const prompt = only(parts(), "prompt").find(({ origin }) => origin === "command");
    expect(prompt?.parts).toEqual([{ type: "text", text: "! ls" }]);
    expect(resultOf(parts(), "user-1")).toBeUndefined();
  });

  test("an event before its prompt's item, and a prompt that is typed twice, are shown correctly", () => {
    const { parts: shown } = sessionOf(
      META,
      event({ type: "user_message", message: "go" }),
      event({ type: "task_started", turn_id: "t1" }),
      item({ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }),
      item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] }),
      event({ type: "task_complete", turn_id: "t1" }),
      event({ type: "task_started", turn_id: "t2" }),
      item({ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }),
      event({ type: "user_message", message: "go" }),
      item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] }),
    );
    expect(prompts(shown)).toEqual(["go", "go"]);
    expect(only(shown, "text")).toHaveLength(2);
  });

  test("a prompt may look like injected context", () => {
    const text = "<skill> is a strange tag, what does it do?";
    const { parts: shown } = sessionOf(
      META,
      item({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
      event({ type: "user_message", message: text }),
    );
    expect(prompts(shown)).toEqual([text]);
  });

  test("a thought from two events is one thought, even without its item", () => {
    const { parts: shown } = sessionOf(
      META,
      event({ type: "agent_reasoning", text: "**A**" }),
      event({ type: "agent_reasoning", text: "**B**" }),
      event({ type: "agent_message", message: "hello" }),
    );
    expect(only(shown, "thinking").map(({ thinking }) => thinking)).toEqual(["**A**\n\n**B**"]);
    expect(only(shown, "text").map(({ text }) => text)).toEqual(["hello"]);
  });

  test("a search with only an event is shown, and one with event and item is shown once", () => {
    const action = { type: "search", query: "tabs" };
    const results = [{ title: "Tabs", url: "https://tabs.example" }];
    const { parts: shown } = sessionOf(
      META,
      event({ type: "web_search_end", call_id: "ws_1", query: "tabs", action, results }),
      item({ type: "web_search_call", id: "ws_1", status: "completed", action }),
      event({ type: "web_search_end", call_id: "ws_2", query: "tabs", action }),
      event({ type: "task_complete", turn_id: "t" }),
    );
    expect(only(shown, "tool_call").map(({ source }) => linePlace(source)?.line)).toEqual([3, 4]);
    expect(resultOf(shown, "ws_1")?.ui_extra).toEqual({ type: "web_search", query: "tabs", results });
  });

  test("an error in an event and in the turn's end is one error", () => {
    const { parts: shown, transcript } = sessionOf(
      META,
      event({ type: "task_started", turn_id: "t" }),
      event({ type: "error", message: "no credit" }),
      event({ type: "task_complete", turn_id: "t", error: { message: "no credit" } }),
    );
    expect(markers(shown)).toEqual(["error: no credit"]);
    expect(transcript.turns.at(0)?.status).toBe("failed");
  });

  test("an event of 2025's kind for injected context does not confirm a prompt", () => {
    const text = "<environment_context>\n</environment_context>";
    const { parts: shown } = sessionOf(
      META,
      item({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
      event({ type: "user_message", message: text, kind: "environment_context" }),
    );
    expect(prompts(shown)).toEqual([]);
    expect(markers(shown)).toEqual(["context: Environment"]);
  });

  test("two calls with one id are both kept", () => {
    const { parts: shown } = sessionOf(
      META,
      item({ type: "function_call", name: "shell", arguments: '{"command":"a"}', call_id: "c" }),
      item({ type: "function_call", name: "shell", arguments: '{"command":"b"}', call_id: "c" }),
      item({ type: "function_call", name: "shell", arguments: '{"command":"b"}', call_id: "c" }),
    );
    expect(only(shown, "tool_call").map(({ arguments_json }) => arguments_json)).toEqual([
      '{"command":"a"}',
      '{"command":"b"}',
    ]);
  });

  test("fields may have any shape", () => {
    const shapes: unknown[] = [null, 1, "x", [], {}, [null, 1, "x", {}], { text: 1 }, true];
    const types = ["message", "reasoning", "function_call", "function_call_output", "web_search_call"];
    const events = ["user_message", "token_count", "item_completed", "exec_command_end", "patch_apply_end"];
    const more = ["mcp_tool_call_end", "turn_aborted", "thread_rolled_back", "error", "sub_agent_activity"];
    const fields = [
      "content",
      "summary",
      "arguments",
      "output",
      "action",
      "item",
      "changes",
      "info",
      "message",
    ];
    const lines: Record<string, unknown>[] = [META];
    for (const shape of shapes) {
      for (const role of ["user", "assistant", "developer"]) {
        lines.push(item({ type: "message", role, content: shape }));
      }
      const payload = Object.fromEntries(fields.map((field) => [field, shape]));
      for (const type of types)
        lines.push(item({ ...payload, type, call_id: shape, id: shape, name: shape }));
      for (const type of [...events, ...more]) lines.push(event({ ...payload, type, call_id: shape }));
      lines.push({ type: "session_meta", payload: { id: shape, source: shape, git: shape } });
      lines.push(
        { type: "turn_context", payload: { model: shape } },
        { type: "compacted", payload: { message: shape } },
      );
      lines.push({ type: "response_item", payload: shape }, { type: shape, payload: {} });
    }
    const { records } = sessionOf(...lines);
    expect(records).toHaveLength(lines.length);
  });
});
