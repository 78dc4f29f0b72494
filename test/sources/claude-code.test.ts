import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import type { Disposition, Reader, ReadRecord } from "../../src/sources/contract.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { cutsOf, everyByte } from "./cuts.ts";

const folder = resolve(import.meta.dirname, "../fixtures/claude-code");
const MAIN = "5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e";
const fixtures = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl") && !name.endsWith("journal.jsonl"))
  .sort();

const bytesOf = new Map(fixtures.map((name) => [name, readFileSync(join(folder, name))]));

function readBytes(name: string, cuts: readonly number[] = []): { reader: Reader; records: ReadRecord[] } {
  const bytes = bytesOf.get(name) ?? new Uint8Array(0);
  const reader = claudeCode.createReader({ path: name });
  const records: ReadRecord[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    records.push(...reader.push(bytes.subarray(from, cut)));
    from = cut;
  }
  records.push(...reader.close());
  return { reader, records };
}

const framesOf = (records: ReadRecord[]): Frame[] => records.flatMap(({ frames }) => frames);

function fold(records: ReadRecord[]): Transcript[] {
  const transcripts = new Map<string, Transcript>();
  for (const frame of framesOf(records)) {
    const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
    transcripts.set(frame.session_id, accumulate(before, frame));
  }
  return [...transcripts.values()];
}

/** One readable line per part, without the boundaries of steps. */
function outline(transcript: Transcript | undefined): string[] {
  if (transcript === undefined) return [];
  const lines: string[] = [];
  for (const turn of transcript.turns.slice()) {
    if (turn === undefined) continue;
    lines.push(`= ${turn.status}${turn.retracted === undefined ? "" : ` (${turn.retracted})`}`);
    for (const part of transcript.parts.slice(turn.first_part, turn.first_part + turn.part_count)) {
      const line = part === undefined ? undefined : lineOf(part);
      if (line !== undefined) lines.push(part?.retracted === undefined ? line : `~ ${line}`);
    }
  }
  return lines;
}

function lineOf(part: TranscriptPart): string | undefined {
  switch (part.type) {
    case "thinking":
      return `thinking ${part.hidden ?? part.thinking}`;
    case "text":
      return `text ${part.text}`;
    case "tool_call":
      return `call ${part.tool_call_id} ${part.tool_name.split("\n")[0]} ${part.state.status}`;
    case "tool_result":
      return `result ${part.tool_call_id} ${part.status}${part.call_index === undefined ? " orphan" : ""}`;
    case "prompt": {
      const who = [part.queued === true ? "queued" : "", part.origin ?? ""].filter((word) => word !== "");
      const what = part.parts.map((item) => (item.type === "text" ? item.text : `<${item.type}>`)).join("|");
      return `prompt${who.length === 0 ? "" : ` (${who.join(" ")})`} ${what.replaceAll("\n", "/")}`;
    }
    case "marker":
      return `[${part.kind}] ${part.title}${part.kind === "interrupt" ? `: ${part.text}` : ""}`;
    case "unknown":
      return `unknown ${part.title}`;
    case "file":
      return `file ${part.media.mime}`;
    case "step_start":
    case "step_finish":
      return undefined;
    default:
      return part.type;
  }
}

const outlineOf = (name: string): string[] => outline(fold(readBytes(name).records)[0]);

describe("every fixture", () => {
  it.each(fixtures)(
    "%s: returns the same records in two chunks, byte by byte and as a whole",
    (name) => {
      const whole = readBytes(name).records;
      const bytes = bytesOf.get(name) ?? new Uint8Array(0);
      for (const cut of cutsOf(bytes)) {
        const { records } = readBytes(name, [cut]);
        // With a thousand cuts, compare fast first, and show a difference only if there is one.
        if (!isDeepStrictEqual(records, whole)) expect(records).toEqual(whole);
      }
      expect(readBytes(name, everyByte(bytes)).records).toEqual(whole);
    },
    60_000,
  );

  it.each(fixtures)("%s: accounts for every record, and each shown one has a part in its place", (name) => {
    const { records } = readBytes(name);
    const places = new Set(
      fold(records).flatMap((transcript) =>
        transcript.parts.slice().flatMap((part) => linePlace(part?.source)?.byte ?? []),
      ),
    );
    for (const { place, disposition } of records.filter((record) => record.place.length > 0)) {
      const isShown = ["shown", "unknown", "unreadable"].includes(disposition.kind);
      expect([place.line, places.has(place.byte)]).toEqual([place.line, isShown]);
    }
  });

  it.each(fixtures)("%s: keeps the order of frames and sends only valid ones", (name) => {
    const checker = createOrderChecker();
    for (const frame of framesOf(readBytes(name).records)) {
      expect(checker.check(frame).filter(({ rule }) => rule !== "orphan_result")).toEqual([]);
      expect(frameSchema.safeParse(frame).error).toBeUndefined();
    }
  });

  it.each(fixtures)("%s: shows the same with a settle after each line", (name) => {
    const bytes = readFileSync(join(folder, name));
    const reader = claudeCode.createReader({ path: name });
    const records: ReadRecord[] = [];
    let from = 0;
    for (const [at, byte] of bytes.entries()) {
      if (byte !== 0x0a) continue;
      records.push(...reader.push(bytes.subarray(from, at)), ...reader.settle());
      from = at;
    }
    records.push(...reader.push(bytes.subarray(from)), ...reader.settle(), ...reader.close());
    expect(fold(records).map(outline)).toEqual(fold(readBytes(name).records).map(outline));
  });

  it.each(fixtures)("%s: is recognized by its first bytes", (name) => {
    const bytes = readFileSync(join(folder, name));
    expect(claudeCode.detect(bytes)).toBe(true);
    // A first line may be longer than the head.
    if (!bytes.includes(0x0a) || bytes.indexOf(0x0a) > 250) {
      expect(claudeCode.detect(bytes.subarray(0, 200))).toBe(true);
    }
  });
});

describe("steps", () => {
  it("keeps the blocks of a message in file order, with results between them, and separates steps", () => {
    expect(outlineOf("steps.jsonl")).toEqual([
      "= completed",
      "prompt Look around",
      "thinking Check the file.",
      "text I'll look.",
      "call t1 Read completed",
      "result t1 success",
      "call t2 Bash error",
      "result t2 error",
      "text API types.",
      "text Let me read the file",
      "call t3 Grep completed",
      "result t3 success",
      "thinking empty",
      "thinking redacted",
      "unknown Block of type holo_block",
      'call t4 Task"> aborted',
      "text Done.",
    ]);
  });

  it("counts usage once per message, with the largest count of its lines", () => {
    const { records } = readBytes("steps.jsonl");
    const ends = framesOf(records).flatMap((frame) => (frame.type === "message.end" ? [frame] : []));
    expect(ends.map(({ usage }) => usage?.output)).toEqual([96, 5, 20, 30]);
    expect(ends.map(({ stop_reason }) => stop_reason)).toEqual(["tool_use", undefined, "tool_use", "stop"]);
    expect(fold(records)[0]?.usage).toEqual({ input: 16, output: 151, cache_read: 48000, cache_write: 3600 });
  });

  it("names the part or rule of folded and hidden lines", () => {
    const dispositions = readBytes("steps.jsonl").records.map(({ disposition }) => disposition);
    expect(dispositions.filter(({ kind }) => kind === "folded" || kind === "hidden")).toEqual<Disposition[]>([
      { kind: "folded", into: "an earlier line of its message" },
      { kind: "folded", into: "the same line before it" },
      { kind: "hidden", rule: "blank text" },
      { kind: "folded", into: "the end of the turn" },
    ]);
  });
});

describe("lines with the user role", () => {
  it("distinguishes prompts, commands, shell mode, notifications and injected context", () => {
    expect(outlineOf("user-lines.jsonl")).toEqual([
      "= completed",
      "[note] Command /usage",
      "[note] Command output: Total cost: $0",
      "prompt (command) /greet Bob",
      "[context] Expansion of /greet",
      "text Hello, Bob.",
      "= completed",
      "prompt (command) ! echo hi; false",
      "[note] Shell output: hi",
      "[note] Shell error output: oops",
      "text I see.",
      "= interrupted",
      "prompt Explain <command-name>/x</command-name> to me",
      "= completed",
      "prompt What is this?|<image_url>",
      "[context] From the editor: The user opened a.ts",
      "text A file.",
      "= completed",
      "prompt (notification) Background job done//42 rows",
      "text Noted.",
      "= completed",
      "prompt (agent) From bob: I am done",
      "call t1 Skill completed",
      "result t1 success",
      "[context] Instructions loaded: Base directory for this skill: /w",
      "file application/pdf",
      "text Ready.",
      "[hook] A stop hook kept the agent going: [lint]: fix the lint",
      "text Fixed.",
      "= failed",
      "prompt <uploaded_files>a.csv</uploaded_files>/Sum it up",
    ]);
  });

  it("distinguishes a stop, an interrupt, a refusal and a failure, and a resume from a rewind", () => {
    expect(outlineOf("interrupts.jsonl")).toEqual([
      "= interrupted",
      "prompt One",
      "text Partial answ",
      "[interrupt] Interrupted by the user: interrupted by the user",
      "= interrupted",
      "prompt Two",
      "call t1 Bash aborted",
      "call t2 Bash completed",
      "result t2 success",
      "result t1 aborted",
      "[interrupt] Interrupted by the user during a tool call: interrupted by the user during a tool call",
      "= interrupted",
      "prompt Three",
      "call t3 Write aborted",
      "result t3 aborted",
      "[interrupt] Stopped by the user during a tool call: stopped by the user during a tool call",
      "= interrupted",
      "prompt Four",
      "text Half a sen",
      "[interrupt] Stopped: stopped",
      "= completed",
      "prompt Five",
      "call t4 Bash aborted",
      "call t5 Bash aborted",
      "result t4 aborted",
      "result t5 aborted",
      "text I cannot.",
    ]);
  });

  it("shows queued prompts inside the running turn, hooks with output, and live output", () => {
    expect(outlineOf("queued.jsonl")).toEqual([
      "= completed",
      "prompt Slow job",
      "[hook] Hook UserPromptSubmit: be careful",
      "call t1 Bash completed",
      "result t1 success",
      "[hook] Hook PostToolUse:Bash failed: Failed: lint",
      "prompt (queued) use pnpm",
      "prompt (queued) and look:|<image_url>",
      "prompt (queued notification) Job b1 ended",
      "text Done.",
      "[context] Changed outside of the agent: /w/app/a.ts",
      "= completed",
      "prompt typed at the end",
      "text Yes?",
    ]);
    const frames = framesOf(readBytes("queued.jsonl").records);
    const progress = frames.flatMap((frame) =>
      frame.type === "message.tool_progress" ? [[frame.offset, frame.text]] : [],
    );
    expect(progress).toEqual([
      [0, "a\n"],
      [2, "b\n"],
    ]);
    const titles = frames.flatMap((frame) =>
      frame.type === "session.update" && frame.patch.title !== undefined ? [frame.patch.title] : [],
    );
    expect(titles).toEqual(["My title"]);
  });
});

describe("events of a session", () => {
  it("folds a compaction's summary into its marker and shows copied messages once", () => {
    expect(outlineOf("compaction.jsonl")).toEqual([
      "= completed",
      "prompt Refactor",
      "text Working.",
      "call t1 Bash completed",
      "result t1 success",
      "[compaction] Conversation compacted automatically, 155,829 tokens before",
      "text Going on.",
      "= completed",
      "prompt Refactor",
      "text Once more.",
      "[compaction] Old tool outputs dropped from the context, 21,294 tokens saved",
      "[compaction] Conversation compacted by command, 1,000 tokens before",
      "= failed",
      "prompt Refactor",
    ]);
    const parts = fold(readBytes("compaction.jsonl").records)[0]?.parts.slice() ?? [];
    const marker = parts.find((part) => part?.type === "marker");
    expect(marker).toMatchObject({
      source: { line: 5 },
      text: "This session is being continued from a previous conversation.\nSummary: refactoring.",
    });
  });

  it("keeps an abandoned branch, marked, and shows where the session was rewound", () => {
    expect(outlineOf("rewind.jsonl")).toEqual([
      "= completed",
      "prompt First",
      "text One.",
      "= completed (rewound to an earlier prompt)",
      "prompt Second, wrong",
      "call t1 Read completed",
      "call t2 Read completed",
      "result t1 success",
      "result t2 success",
      "text Two.",
      "= completed (rewound to an earlier prompt)",
      "prompt Third, after the wrong one",
      "text Three.",
      "[rewind] Rewound to an earlier prompt: 2 turns above are abandoned",
      "= completed",
      "prompt Second, right",
      "text Two again.",
    ]);
  });

  it("shows retries, errors, refusals and lines of unknown types in their place", () => {
    expect(outlineOf("errors.jsonl")).toEqual([
      "= failed",
      "prompt Go",
      "[retry] API error 529, retry 1 of 10 in 1 s: Overloaded",
      "[retry] API error 529, retry 2 of 10 in 1 s: Overloaded",
      "thinking This will break.",
      "[error] API Error: Overloaded",
      "= completed",
      "prompt Again",
      "~ text Something refused.",
      "~ text And more.",
      "[model_switch] The model refused: answered again by claude-opus-4-8 instead of claude-opus-5",
      "[model_switch] Fell back from claude-opus-5 to claude-opus-4-8",
      "~ text A first answer.",
      "[model_switch] Model changed: claude-opus-4-8 → claude-haiku-5",
      "text A better answer.",
      "unknown Line of type brand-new-event",
      "unknown Attachment of type brand_new_attachment",
      "[note] Something to know",
      "[note] Recap: You asked for it.",
      "unknown System notice of type brand_new",
      "unknown user line without a message",
      "[note] Pull request o/r#7",
    ]);
  });

  it("continues after any kind of damage", () => {
    const { records } = readBytes("broken.jsonl");
    expect(outlineOf("broken.jsonl").filter((line) => !line.startsWith("="))).toEqual([
      "prompt Hello\u2028there",
      "unknown Unreadable line",
      "text Still here.",
      "unknown Unreadable line",
      "unknown Unreadable line",
      "unknown Unreadable line",
      "unknown Unreadable line",
      "unknown Unreadable line",
      "unknown Unreadable line",
      "prompt After the tear",
      "prompt <unknown>",
      "unknown Line of type __proto__",
      "text The end.",
    ]);
    expect(records.map(({ place, disposition }) => `${place.line} ${disposition.kind}`)).toEqual([
      "1 shown",
      "2 unreadable",
      "3 shown",
      "3 folded",
      "4 unreadable",
      "5 hidden",
      "6 unreadable",
      "7 unreadable",
      "8 unreadable",
      "9 unreadable",
      "10 unreadable",
      "10 shown",
      "11 shown",
      "12 unknown",
      "13 shown",
      "13 folded",
    ]);
  });
});

describe("tool results", () => {
  it("converts each tool's structured result", () => {
    const records = ["tools.jsonl", "tools-more.jsonl"].flatMap((name) => readBytes(name).records);
    const extras = new Map(
      framesOf(records).flatMap((frame) =>
        frame.type === "message.tool_result" ? [[frame.tool_call_id, frame.ui_extra]] : [],
      ),
    );
    const hunk = { old_start: 3, old_lines: 2, new_start: 3, new_lines: 3, lines: [" x", "-a", "+b", "+c"] };
    expect(extras.get("t1")).toEqual({
      type: "diff",
      files: [{ path: "/w/a.ts", change: "update", additions: 2, deletions: 1, hunks: [hunk] }],
    });
    const created = { old_start: 0, old_lines: 0, new_start: 1, new_lines: 2, lines: ["+one", "+two"] };
    expect(extras.get("t2")).toEqual({
      type: "diff",
      files: [{ path: "/w/n.ts", change: "create", additions: 2, deletions: 0, hunks: [created] }],
    });
    expect(extras.get("t3")).toEqual({ type: "todos", todos: [{ text: "Do it", status: "in_progress" }] });
    expect(extras.get("t4")).toEqual({
      type: "question",
      questions: [{ question: "Which?", options: ["Red", "Blue"], answer: "Red" }],
    });
    expect(extras.get("t5")).toEqual({ type: "plan", plan: "# Plan", accepted: true });
    expect(extras.get("t6")).toEqual({
      type: "web_search",
      query: "go",
      results: [{ title: "Go", url: "https://go.dev" }],
    });
    expect(extras.get("t7")).toEqual({
      type: "web_fetch",
      url: "https://go.dev",
      status: 200,
      byte_size: 22,
    });
    expect(extras.get("t8")).toEqual({ type: "search", query: "*.md", match_count: 1, files: ["a.md"] });
    expect(extras.get("t9")).toEqual({ type: "mcp", server: "linear", tool: "get_issue" });
    expect(extras.get("t10")).toEqual({
      type: "sub_agent",
      agent_key: "abc123",
      name: "Explore",
      task: "Scan",
      status: "completed",
      tokens: 6,
      tool_calls: 7,
      duration_ms: 5,
    });
    expect(extras.get("t12")).toEqual({ type: "shell", command: "false", exit_code: 1 });
    expect(extras.get("t13")).toMatchObject({ files: [{ additions: 2, deletions: 1 }] });
    expect(extras.get("t14")).toMatchObject({ files: [{ hunks: [{ lines: ["-print(1)", "+print(2)"] }] }] });
    expect(extras.get("srv1")).toMatchObject({ type: "web_search", query: "demo" });
    expect(extras.get("t99")).toBeUndefined();
    expect(JSON.stringify(records)).not.toContain("SECRET-ORIGINAL");
  });

  it("keeps images as media, not as text", () => {
    const image = framesOf(readBytes("tools-more.jsonl").records).find(
      (frame) => frame.type === "message.tool_result" && frame.tool_call_id === "t11",
    );
    expect(image).toMatchObject({
      output_text: "",
      parts: [{ type: "image_url", url: "data:image/png;base64,iVBORw0KGgo=" }],
    });
  });
});

describe("sub-agents", () => {
  function readSession(): { facts: ReturnType<Reader["linkFacts"]>["sessions"]; names: Map<string, string> } {
    const names = new Map<string, string>();
    const facts = fixtures
      .filter((name) => name.startsWith(MAIN))
      .flatMap((name) => {
        if (claudeCode.classify(name) === undefined) return [];
        const { reader } = readBytes(name);
        const side = claudeCode.classify(name)?.side;
        if (
          side !== undefined &&
          readdirSync(join(folder, side, "..")).includes(side.split("/").at(-1) ?? "")
        ) {
          reader.readSide(readFileSync(join(folder, side), "utf8"));
        }
        return reader.linkFacts().sessions.map((fact) => {
          names.set(fact.session_id, name.split("/").at(-1) ?? "");
          return fact;
        });
      });
    return { facts, names };
  }

  it("links files by side file, result or workflow; others stay with the session", () => {
    const { facts, names } = readSession();
    const links = linkRuns(facts).map((link) => [
      names.get(link.session_id),
      names.get(link.parent_session_id),
      link.tool_call_id,
    ]);
    expect(links).toEqual([
      ["agent-a1.jsonl", `${MAIN}.jsonl`, "t1"],
      ["agent-a2.jsonl", "agent-a1.jsonl", "n1"],
      ["agent-a3.jsonl", `${MAIN}.jsonl`, "t2"],
      ["agent-a6.jsonl", `${MAIN}.jsonl`, undefined],
      ["agent-a7.jsonl", `${MAIN}.jsonl`, "t4"],
    ]);
  });

  it("hides agents that the program starts for itself, by a named rule", () => {
    for (const [name, rule] of [
      ["agent-a4.jsonl", "warm-up of a sub-agent"],
      ["agent-acompact-a5.jsonl", "helper of a compaction"],
    ]) {
      const { records } = readBytes(`${MAIN}/subagents/${name}`);
      expect(records.map(({ disposition }) => disposition)).toEqual([
        { kind: "hidden", rule },
        { kind: "hidden", rule },
      ]);
      expect(framesOf(records)).toEqual([]);
    }
  });

  it("shows a message to a finished agent as a prompt of another agent", () => {
    expect(outlineOf(`${MAIN}/subagents/agent-a1.jsonl`)).toEqual([
      "= completed",
      "prompt (agent) Do the outer job",
      "call n1 Agent completed",
      "result n1 success",
      "text Outer done.",
      "= completed",
      "prompt (agent) The coordinator sent a message while you were working:/Go on",
      "text Went on.",
    ]);
  });

  it("reads name, task and depth from the side file at any time", () => {
    const name = `${MAIN}/subagents/agent-a1.jsonl`;
    const side = readFileSync(join(folder, name.replace(".jsonl", ".meta.json")), "utf8");
    const late = readBytes(name).reader.readSide(side);
    const early = claudeCode.createReader({ path: name });
    const before = early.readSide(side);
    const patches = (records: ReadRecord[]) =>
      Object.assign(
        {},
        ...framesOf(records).map((frame) => (frame.type === "session.update" ? frame.patch : {})),
      );
    const run = { name: "general-purpose", task: "Outer job", depth: 1 };
    const parent = { session_id: MAIN, tool_call_id: "t1" };
    expect(patches(late)).toEqual({ run, parent });
    const rest = early.push(readFileSync(join(folder, name)));
    expect(patches([...before, ...rest])).toMatchObject({ run, parent });
  });

  it("separates runs that old versions wrote inline, even with equal prompts", () => {
    const { reader, records } = readBytes("inline-runs.jsonl");
    const [main, one, two, ...more] = fold(records);
    expect(more).toEqual([]);
    expect(outline(main)).toEqual([
      "= completed",
      "prompt Two agents",
      "call t1 Task completed",
      "call t2 Task completed",
      "result t1 success",
      "result t2 success",
      "text Both done.",
    ]);
    expect(outline(one)).toEqual([
      "= completed",
      "prompt (agent) Same job",
      "text I am one.",
      "call u1 Read completed",
      "result u1 success",
      "text One done.",
    ]);
    expect(outline(two)).toEqual(["= completed", "prompt (agent) Same job", "text I am two."]);
    expect(linkRuns(reader.linkFacts().sessions)).toEqual([
      { session_id: one?.session_id, parent_session_id: MAIN, tool_call_id: "t1" },
      { session_id: two?.session_id, parent_session_id: MAIN, tool_call_id: "t2" },
    ]);
  });

  it("reads the printed stream of a headless run, with sub-agents by their call", () => {
    const { reader, records } = readBytes("stream-json.jsonl");
    expect(fold(records).map(outline)).toEqual([
      ["= completed", "call t1 Task completed", "result t1 success", "text Done."],
      ["= completed", "prompt (agent) p", "text child"],
    ]);
    expect(linkRuns(reader.linkFacts().sessions)).toMatchObject([{ tool_call_id: "t1" }]);
  });

  it("ends a background agent of a printed stream by its notification, and hides its progress by a named rule", () => {
    const { records } = readBytes("stream-background.jsonl");
    expect(fold(records).map(outline)).toEqual([
      [
        "= completed",
        "text A helper counts.",
        "call t1 Agent completed",
        "result t1 success",
        "text There are three.",
      ],
    ]);
    expect(
      fold(records)[0]
        ?.parts.slice()
        .find((part) => part?.type === "tool_result"),
    ).toMatchObject({
      output_text: "Three lines.",
    });
    expect(records.filter(({ disposition }) => disposition.kind === "unknown")).toEqual([]);
    expect(
      records.flatMap(({ frames }) => frames).filter(({ type }) => type === "session.update"),
    ).toContainEqual(expect.objectContaining({ patch: { agent_cost: { usd: 0.01 } } }));
    expect(
      records.flatMap(({ disposition }) =>
        disposition.kind === "hidden" && disposition.rule.startsWith("progress") ? [disposition.rule] : [],
      ),
    ).toEqual([
      "progress: thinking_tokens",
      "progress: background_tasks_changed",
      "progress: task_started",
      "progress: task_progress",
      "progress: task_updated",
    ]);
  });
});

describe("the format", () => {
  it("recognizes sessions, runs and other files by their paths", () => {
    expect(claudeCode.classify(`projects/-w/${MAIN}.jsonl`)).toEqual({ kind: "session" });
    expect(claudeCode.classify(`projects/-w/${MAIN}/subagents/agent-a1.jsonl`)).toEqual({
      kind: "run",
      side: `projects/-w/${MAIN}/subagents/agent-a1.meta.json`,
    });
    expect(claudeCode.classify("projects/-w/agent-0a1b2c3d.jsonl")?.kind).toBe("run");
    for (const other of [
      `projects/-w/${MAIN}/subagents/agent-acompact-1.jsonl`,
      `projects/-w/${MAIN}/subagents/workflows/wf_1/journal.jsonl`,
      `projects/-w/${MAIN}/subagents/agent-a1.meta.json`,
      `projects/-w/${MAIN}/tool-results/x.jsonl`,
      "history.jsonl",
    ]) {
      expect(claudeCode.classify(other)).toBeUndefined();
    }
  });

  it("does not claim files of other agents", () => {
    const encode = (value: unknown): Uint8Array => new TextEncoder().encode(`${JSON.stringify(value)}\n`);
    for (const line of [
      {
        timestamp: "2026-01-01T00:00:00Z",
        type: "session_meta",
        payload: { id: "x", cli_version: "0.169.0" },
      },
      { type: "session", version: 3, id: "x", timestamp: "2026-01-01T00:00:00Z", cwd: "/w" },
      { uuid: "a", parentUuid: null, sessionId: "s", type: "user", message: { role: "user", parts: [] } },
      { type: "session.start", data: { sessionId: "x" }, id: "a", parentId: null },
      { name: "no session at all" },
    ]) {
      expect(claudeCode.detect(encode(line))).toBe(false);
    }
    expect(claudeCode.detect(new Uint8Array(0))).toBe(false);
  });

  it("takes a session's id from the file name, otherwise from its lines, and gives runs their own ids", () => {
    const ids = (path: string, line: unknown): string[] => {
      const reader = claudeCode.createReader({ path });
      const records = [
        ...reader.push(new TextEncoder().encode(`${JSON.stringify(line)}\n`)),
        ...reader.close(),
      ];
      return [...new Set(framesOf(records).map((frame) => frame.session_id))];
    };
    const line = { type: "user", uuid: "u", sessionId: MAIN, message: { content: "hi" } };
    const other = "6a1b2c3d-0000-4000-8000-000000000009";
    expect(ids(`/x/${other}.jsonl`, line)).toEqual([other]);
    expect(ids("/x/copy.jsonl", line)).toEqual([MAIN]);
    const nested = ids(`/x/${MAIN}/subagents/agent-a1.jsonl`, { ...line, isSidechain: true, agentId: "a1" });
    expect(ids("/x/agent-a1.jsonl", { ...line, isSidechain: true, agentId: "a1" })).toEqual(nested);
    expect(ids("/x/copy.jsonl", { ...line, isSidechain: true, agentId: "a1" })).toEqual(nested);
    expect(nested).not.toEqual([MAIN]);
  });

  it("accepts hostile values: prototype keys, parent cycles, impossible times", () => {
    const lines = [
      '{"__proto__":{"isAdmin":true},"type":"user","uuid":"__proto__","message":{"content":"a"}}',
      '{"type":"user","uuid":"1","parentUuid":"2","message":{"content":"b"},"timestamp":"not a date"}',
      '{"type":"user","uuid":"2","parentUuid":"1","message":{"content":"c"},"timestamp":-62135596800000}',
      '{"type":"user","uuid":"3","parentUuid":"2","message":{"content":"d"},"timestamp":"9999-12-31T23:59:60Z"}',
      '{"type":"user","uuid":"4","parentUuid":"2","message":{"content":"e"},"timestamp":"2026-01-01T00:00:00Z"}',
      '{"type":"assistant","uuid":"5","message":{"content":[{"type":"tool_use","name":"toString","id":"constructor","input":null}]}}',
      '{"type":"user","uuid":"6","message":{"content":[{"type":"tool_result","tool_use_id":"constructor","content":{"length":-1}}]}}',
    ];
    const reader = claudeCode.createReader({ path: "x.jsonl" });
    const records = [...reader.push(new TextEncoder().encode(`${lines.join("\n")}\n`)), ...reader.close()];
    expect(records.slice(0, 7).map(({ disposition }) => disposition.kind)).toEqual(Array(7).fill("shown"));
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    for (const frame of framesOf(records)) expect(frameSchema.safeParse(frame).error).toBeUndefined();
  });
});
