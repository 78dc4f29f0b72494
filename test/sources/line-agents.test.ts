import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { antigravity } from "../../src/sources/antigravity/format.ts";
import { antigravityReader } from "../../src/sources/antigravity/reader.ts";
import { codexExec } from "../../src/sources/codex-exec/format.ts";
import { codexExecReader } from "../../src/sources/codex-exec/reader.ts";
import type { Format, RecordReader } from "../../src/sources/contract.ts";
import { copilotCli } from "../../src/sources/copilot-cli/format.ts";
import { factsOf } from "../../src/sources/copilot-cli/notices.ts";
import { copilotReader } from "../../src/sources/copilot-cli/reader.ts";
import { cursor } from "../../src/sources/cursor/format.ts";
import { transcriptReader } from "../../src/sources/cursor/transcript.ts";
import { droid } from "../../src/sources/droid/format.ts";
import { droidReader } from "../../src/sources/droid/reader.ts";
import { droidExec } from "../../src/sources/droid-exec/format.ts";
import { droidExecReader } from "../../src/sources/droid-exec/reader.ts";
import { goose } from "../../src/sources/goose/format.ts";
import { gooseReader } from "../../src/sources/goose/reader.ts";
import { grok } from "../../src/sources/grok/format.ts";
import { grokReader } from "../../src/sources/grok/reader.ts";
import { iflow } from "../../src/sources/iflow/format.ts";
import { iflowReader } from "../../src/sources/iflow/reader.ts";
import { formats } from "../../src/sources/index.ts";
import { kimi } from "../../src/sources/kimi/format.ts";
import { kimiReader } from "../../src/sources/kimi/reader.ts";
import { kimiCli } from "../../src/sources/kimi-cli/format.ts";
import { kimiCliReader } from "../../src/sources/kimi-cli/reader.ts";
import { klaudeCode } from "../../src/sources/klaude-code/format.ts";
import { klaudeReader } from "../../src/sources/klaude-code/reader.ts";
import { createLineReader } from "../../src/sources/lines/lines.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { ohMyPi } from "../../src/sources/oh-my-pi/format.ts";
import { ohMyPiReader } from "../../src/sources/oh-my-pi/reader.ts";
import { openclaw } from "../../src/sources/openclaw/format.ts";
import { openclawReader } from "../../src/sources/openclaw/reader.ts";
import { pi } from "../../src/sources/pi/format.ts";
import { piReader } from "../../src/sources/pi/reader.ts";
import { qwenCode } from "../../src/sources/qwen-code/format.ts";
import { qwenReader } from "../../src/sources/qwen-code/reader.ts";
import { expectRead } from "../fuzz/readers.ts";
import { accountOf } from "./account.ts";
import { bytesOf, expectAccounted, orderOf, readSession } from "./record-laws.ts";

const fixture = (path: string): string => join(import.meta.dirname, "../fixtures", path);
const KIMI = "kimi/sessions/wd_tide_0123456789ab/session_6b7c8d9e-0f1a-4b2c-8d3e-4f5061728394/agents";
const KIMI_CLI = "kimi-cli/sessions/5d41402abc4b2a76b9719d911017c592";
const GROK = "grok/sessions/%2Fhome%2Fmara/5a6b7c8d-9e0f-4a1b-8c2d-3e4f50617283";

const files: {
  format: Format;
  reader: RecordReader<never>;
  path: string;
  order: string;
  statuses: string;
}[] = [
  {
    format: droid,
    reader: droidReader as RecordReader<never>,
    path: "droid/3f0a1c52-0d6e-4a77-9a10-6b1f2c3d4e5f.jsonl",
    order:
      "[context] [context] U T x c:Read c:Execute | c:Edit! c:TodoWrite c:Task c:linear___get_issue u [model_switch] | T x " +
      "[compaction] [hook] [note] U c:Execute? [interrupt] U ?? ?? ?? ??",
    statuses: "completed interrupted failed",
  },
  {
    format: droid,
    reader: droidReader as RecordReader<never>,
    path: "droid/4a0a1c52-0d6e-4a77-9a10-6b1f2c3d4e60.jsonl",
    order: "U x",
    statuses: "completed",
  },
  {
    format: droidExec,
    reader: droidExecReader as RecordReader<never>,
    path: "droid-exec/run.jsonl",
    order: "U T x c:Execute c:Read! | x ??",
    statuses: "completed",
  },
  {
    format: cursor,
    reader: transcriptReader as RecordReader<never>,
    path: "cursor/agent-transcripts/7b1d2e3f-4a5b-4c6d-8e7f-901234567890.jsonl",
    order: "[context] U T x c:Grep | c:Shell c:StrReplace! c:Task | x U c:Shell? [interrupt] U [error] ??",
    statuses: "completed interrupted failed",
  },
  {
    format: cursor,
    reader: transcriptReader as RecordReader<never>,
    path: "cursor/agent-transcripts/7b1d2e3f-4a5b-4c6d-8e7f-901234567890/subagents/8c1d2e3f-4a5b-4c6d-8e7f-901234567891.jsonl",
    order: "U x",
    statuses: "completed",
  },
  {
    format: grok,
    reader: grokReader as RecordReader<never>,
    path: `${GROK}/chat_history.jsonl`,
    order:
      "[context] [context] U T T x c:read_file c:search_replace u | c:web_search c:code_interpreter? [model_switch] T x " +
      "U c:run_terminal_cmd? [interrupt] U r ??",
    statuses: "completed interrupted failed",
  },
  {
    format: kimi,
    reader: kimiReader as RecordReader<never>,
    path: `${KIMI}/main/wire.jsonl`,
    order:
      "[context] [note] U [context] [retry] T x c:Bash c:Agent [note] c:Write- u | x [note] | [compaction] U c:Bash? [interrupt] " +
      "[rewind] U x c:Read [note] [note] ?? ??",
    statuses: "completed interrupted failed",
  },
  {
    format: kimi,
    reader: kimiReader as RecordReader<never>,
    path: `${KIMI}/agent-0/wire.jsonl`,
    order: "[context] [context] U x",
    statuses: "completed",
  },
  {
    format: openclaw,
    reader: openclawReader as RecordReader<never>,
    path: "openclaw/agents/main/sessions/0c1d2e3f-4a5b-4c6d-8e7f-901234567890.jsonl",
    order: "[context] U T x c:exec c:read! | x U c:exec?",
    statuses: "completed failed",
  },
  {
    format: ohMyPi,
    reader: ohMyPiReader as RecordReader<never>,
    path: "oh-my-pi/-tide/2026-11-20T10-00-00-000Z_019aa1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b.jsonl",
    order:
      "[note] [note] U [context] T T x c:web_search c:bash! c:edit c:task | x | U [model_switch] x [note] U [context] x " +
      "[note] [context] U x [interrupt] [compaction] U [note] [context] [compaction] [model_switch] U x [note]",
    statuses: "completed completed completed interrupted completed completed",
  },
  {
    format: ohMyPi,
    reader: ohMyPiReader as RecordReader<never>,
    path: "oh-my-pi/-tide/2026-11-20T10-00-00-000Z_019aa1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b/Reef.jsonl",
    order: "[context] U x c:task | x",
    statuses: "completed",
  },
  {
    format: iflow,
    reader: iflowReader as RecordReader<never>,
    path: "iflow/session-9d8c7b6a-5f4e-4d3c-8b2a-190817263544.jsonl",
    order: "U x c:read_file c:run_shell_command! | x c:replace | x [context] U c:run_shell_command- ??",
    statuses: "completed interrupted",
  },
  {
    format: pi,
    reader: piReader as RecordReader<never>,
    path: "pi/--home-mara-tide--/2026-10-02T09-00-00-000Z_0a1b2c3d-4e5f-4a6b-8c7d-8e9f00112233.jsonl",
    order:
      "[note] [context] U T x c:read c:edit u | c:bash- c:wind! | [interrupt] U [note] [context] U x [error] " +
      "[model_switch] | x [compaction] | [note] [rewind] [note] U x [context] [context] | [compaction] [note] ?? ??",
    statuses: "interrupted completed completed completed",
  },
  {
    format: pi,
    reader: piReader as RecordReader<never>,
    path: "pi/--home-mara-tide--/2025-10-02T09-00-00-000Z_1a1b2c3d-4e5f-4a6b-8c7d-8e9f00112233.jsonl",
    order: "[note] U x [note] U x",
    statuses: "completed completed",
  },
  {
    format: goose,
    reader: gooseReader as RecordReader<never>,
    path: "goose/sessions/20250702_101112.jsonl",
    order: "U T x c:developer__shell c:developer__text_editor! | c:unknown! | x [note] [context] U T x ?? ??",
    statuses: "completed completed",
  },
  {
    format: codexExec,
    reader: codexExecReader as RecordReader<never>,
    path: "codex-exec/run.jsonl",
    order:
      "[note] T x c:shell c:shell! | c:update_plan c:apply_patch | c:mcp__tides__next_high | c:web_search | " +
      "c:spawn_agent | x | x c:shell? [error] ?? | x ??",
    statuses: "completed failed completed",
  },
  {
    format: copilotCli,
    reader: copilotReader as RecordReader<never>,
    path: "copilot-cli/session-state/7c8d9e0f-1a2b-4c3d-8e4f-506172839405/events.jsonl",
    order:
      "U [context] T x c:view c:edit c:bash- c:github-search c:task [note] u | T x x [compaction] | U [note] " +
      "[model_switch] [note] U x c:bash? | [interrupt] [note] [note] [context] [hook] [notification] [compaction] " +
      "[note] [note] [context] U [error] r ?? U x c:bash | x",
    statuses: "completed completed interrupted failed",
  },
  {
    format: qwenCode,
    reader: qwenReader as RecordReader<never>,
    path: "qwen-code/projects/-home-mara-tide/chats/6b7c8d9e-0f1a-4b2c-9d3e-4f5061728394.jsonl",
    order:
      "U T x c:read_file c:edit c:run_shell_command c:todo_write c:agent u | x [context] U c:run_shell_command- U " +
      "x [note] U [note] [compaction] [rewind] [rewind] U [model_switch] x media U [error] [note] [notification] r " +
      "?? ?? [note] x c:glob | x",
    statuses: "completed interrupted interrupted completed completed failed",
  },
  {
    format: qwenCode,
    reader: qwenReader as RecordReader<never>,
    path: "qwen-code/projects/-home-mara-tide/subagents/6b7c8d9e-0f1a-4b2c-9d3e-4f5061728394/agent-helper-c5.jsonl",
    order: "U T x c:run_shell_command | x",
    statuses: "completed",
  },
  {
    format: klaudeCode,
    reader: klaudeReader as RecordReader<never>,
    path: "klaude-code/projects/home-mara-tide/sessions/fedcba98765443218edcba9876543210/events.jsonl",
    order:
      "[context] U [context] T x c:Read c:Edit c:Bash! c:TodoWrite c:Agent c:AskUserQuestion T c:ImageGen u | x " +
      "media [note] [note] U x [interrupt] U c:Bash- [interrupt] U [context] U [compaction] U x c:Rewind? [rewind] " +
      "[model_switch] | x [note] [note] [note] U [error] r ?? [model_switch] ?? T",
    statuses: "completed interrupted interrupted completed interrupted completed failed",
  },
  {
    format: klaudeCode,
    reader: klaudeReader as RecordReader<never>,
    path: "klaude-code/projects/home-mara-tide/sessions/0123456789ab4def8123456789abcdef/events.jsonl",
    order: "U x",
    statuses: "completed",
  },
  {
    format: antigravity,
    reader: antigravityReader as RecordReader<never>,
    path: "antigravity/brain/3c4d5e6f-7081-4a2b-8c3d-4e5f60718293/.system_generated/logs/transcript.jsonl",
    order:
      "[context] U [context] T x c:view_file c:grep_search | c:default_api:replace_file_content | c:run_command! " +
      "c:run_command? [note] | x U x U c:view_file! | T c:invoke_subagent c:send_message c:call_mcp_tool " +
      "[compaction] | x U r ?? [error]",
    statuses: "completed completed completed failed",
  },
  {
    format: kimiCli,
    reader: kimiCliReader as RecordReader<never>,
    path: `${KIMI_CLI}/2c3d4e5f-6071-4a2b-8c3d-4e5f60718293/wire.jsonl`,
    order:
      "U T [notification] x c:ReadFile c:Shell! u | [retry] c:StrReplaceFile c:Agent | [compaction] T x [hook] " +
      "U [note] [note] U c:Shell- [note] | [note] [note] [note] x [interrupt] U [error] ??",
    statuses: "completed completed interrupted failed",
  },
  {
    format: kimiCli,
    reader: kimiCliReader as RecordReader<never>,
    path: `${KIMI_CLI}/2c3d4e5f-6071-4a2b-8c3d-4e5f60718293/subagents/a1b2c3d4/wire.jsonl`,
    order: "[context] U x",
    statuses: "completed",
  },
  {
    format: kimiCli,
    reader: kimiCliReader as RecordReader<never>,
    path: `${KIMI_CLI}/3d4e5f60-7182-4a2b-8c3d-4e5f60718294/wire.jsonl`,
    order: "U x c:Task | x U x U x c:Shell | x",
    statuses: "completed failed",
  },
];

const HOSTILE =
  " \u0000\u001b[31m<script>alert(1)</script>\u202e[x](javascript:alert(1))\ud800</tool_result>{{7*7}}\u2028.";
const TEXTS = new Set([
  "text",
  "think",
  "thinking",
  "output",
  "command",
  "title",
  "summary",
  "content",
  "reasoning_content",
  "reasoningText",
  "displayText",
  "rawCommand",
  "response_text",
  "result",
  "retracted_text",
  "user_input",
  "args",
  "code",
]);
/** Text that an agent writes last: with other text after it, a wrapper or a stopped command would not be recognized. */
const CLOSING =
  /<\/USER_REQUEST>[\s\S]*$|<\/(?:user_info|user_query|system-reminder|notification|SYSTEM_MESSAGE)>\s*$|\n\nCommand aborted$/;

/** The same record with hostile text after every text, before a closing tag. */
function poisoned(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => poisoned(item, name));
  if (typeof value === "string") {
    if (!TEXTS.has(name) || value.trim() === "") return value;
    const end = CLOSING.exec(value)?.index ?? value.length;
    return value.slice(0, end) + HOSTILE + value.slice(end);
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, key)]));
}

describe.each(files)("$path", ({ format, reader, path, order, statuses }) => {
  const bytes = bytesOf(fixture(path));
  const session = readSession(format, fixture(path), [bytes]);

  it("is recognized by its content, before every other agent", () => {
    expect(formats.find((candidate) => candidate.detect(bytes))?.id).toBe(format.id);
    if (format.root !== undefined)
      expect(format.classify(`${format.root.folders[0]}/x/${path}`)).toBeDefined();
  });

  it("shows its parts in the order of its records, and how its turns ended", () => {
    expect(orderOf(session.parts)).toBe(order);
    const [transcript] = session.transcripts;
    expect([...(transcript?.turns ?? [])].map((turn) => turn?.status).join(" ")).toBe(statuses);
  });

  it("accounts for every line", () => {
    expectAccounted(session, readFileSync(fixture(path), "utf8"));
  });

  it("returns the same frames for all chunk boundaries", () => {
    expectRead(format, bytes, [1, 97, 1_003, 2_011, 4_001, 6_007]);
  });

  it("passes hostile text through as text", () => {
    const lines = readFileSync(fixture(path), "utf8").trimEnd().split("\n");
    const hostile = lines.map((line) => JSON.stringify(poisoned(JSON.parse(line))));
    const read = readSession(format, fixture(path), [new TextEncoder().encode(`${hostile.join("\n")}\n`)]);
    expect(orderOf(read.parts)).toBe(order);
    for (const part of read.parts) {
      if (part.type === "text") expect(part.text).toContain(HOSTILE);
      if (part.type === "thinking" && part.hidden === undefined) expect(part.thinking).toContain(HOSTILE);
      if (part.type === "prompt" && part.parts.some(({ type }) => type === "text"))
        expect(JSON.stringify(part.parts)).toContain(JSON.stringify(HOSTILE).slice(1, -1));
    }
  });

  it("resumes from its JSON state, saved after any record", () => {
    const lines = createLineReader();
    const records = lines
      .push(bytes)
      .flatMap(({ value, text, place }) =>
        value === undefined
          ? []
          : [{ key: String(place.byte), revision: "", place: { file: path, ...place }, value, text }],
      );
    const whole = reader.initialState({ path: fixture(path), isInside: false });
    let saved: never = structuredClone(whole);
    for (const record of records) {
      const expected = reader.read(whole, record);
      saved = JSON.parse(JSON.stringify(saved)) as never;
      expect(reader.read(saved, record)).toEqual(expected);
    }
    expect(reader.end(saved)).toEqual(reader.end(whole));
    expect(JSON.stringify(whole).length).toBeLessThan(64 * 1024);
  });
});

describe("facts in records other than their text", () => {
  const partsOf = (format: Format, path: string, side?: string) =>
    readSession(format, fixture(path), [bytesOf(fixture(path))], side);

  it("chooses the card of a result by the kind of tool", () => {
    const extras = files.flatMap(({ format, path }) =>
      partsOf(format, path).parts.flatMap((part) =>
        part.type === "tool_result" ? [`${part.tool_name ?? "?"}: ${part.ui_extra?.type ?? "none"}`] : [],
      ),
    );
    expect(extras).toEqual([
      "Execute: shell",
      "Read: read",
      "Edit: none",
      "TodoWrite: todos",
      "Task: sub_agent",
      "linear___get_issue: mcp",
      "Execute: shell",
      "Read: none",
      "Grep: none",
      "StrReplace: none",
      "Shell: shell",
      "Task: sub_agent",
      "search_replace: diff",
      "read_file: read",
      "web_search: web_search",
      "?: none",
      "Write: none",
      "Agent: sub_agent",
      "Bash: shell",
      "Read: read",
      "read: none",
      "exec: shell",
      "web_search: web_search",
      "bash: shell",
      "edit: diff",
      "task: sub_agent",
      "task: sub_agent",
      "run_shell_command: shell",
      "read_file: read",
      "replace: diff",
      "run_shell_command: shell",
      "read: read",
      "edit: diff",
      "bash: shell",
      "wind: none",
      "developer__text_editor: none",
      "developer__shell: shell",
      "unknown: none",
      "shell: shell",
      "shell: shell",
      "apply_patch: diff",
      "mcp__tides__next_high: mcp",
      "web_search: web_search",
      "spawn_agent: sub_agent",
      "update_plan: todos",
      "bash: shell",
      "view: read",
      "edit: diff",
      "github-search: mcp",
      "task: sub_agent",
      "?: none",
      "bash: shell",
      "read_file: read",
      "edit: diff",
      "run_shell_command: shell",
      "todo_write: todos",
      "agent: sub_agent",
      "run_shell_command: shell",
      "read_file: none",
      "glob: none",
      "run_shell_command: shell",
      "Read: read",
      "Edit: diff",
      "Bash: shell",
      "TodoWrite: todos",
      "AskUserQuestion: question",
      "ImageGen: none",
      "Agent: sub_agent",
      "Bash: shell",
      "Read: none",
      "grep_search: none",
      "view_file: read",
      "default_api:replace_file_content: diff",
      "run_command: shell",
      "view_file: none",
      "invoke_subagent: sub_agent",
      "send_message: none",
      "call_mcp_tool: mcp",
      "find: none",
      "ReadFile: read",
      "Shell: shell",
      "StrReplaceFile: diff",
      "Agent: sub_agent",
      "Shell: shell",
      "Task: sub_agent",
      "Shell: shell",
    ]);
  });

  it("counts the tokens of each step once, and those of a compaction separately", () => {
    const [transcript] = partsOf(kimi, `${KIMI}/main/wire.jsonl`).transcripts;
    expect(transcript?.usage).toEqual({ input: 410, output: 55, cache_read: 200, cache_write: 0 });
    const [other] = partsOf(iflow, "iflow/session-9d8c7b6a-5f4e-4d3c-8b2a-190817263544.jsonl").transcripts;
    expect(other?.usage).toEqual({ input: 90, output: 9 });
  });

  it("titles a sub-agent of Kimi with its task, without the context before it", () => {
    const [transcript] = partsOf(kimi, `${KIMI}/agent-0/wire.jsonl`).transcripts;
    expect(transcript?.turns.at(0)?.title).toBe("Look around");
    expect(transcript?.parts.at(1)).toMatchObject({ type: "marker", title: "Context from Kimi" });
  });

  it("reads title, folder and model from the side file", () => {
    const session = partsOf(
      grok,
      `${GROK}/chat_history.jsonl`,
      readFileSync(fixture(`${GROK}/summary.json`), "utf8"),
    );
    const patches = session.records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
    );
    expect(Object.assign({}, ...patches)).toMatchObject({
      agent: "grok",
      title: "What hello.py prints",
      cwd: "/home/mara",
      git_branch: "main",
    });
  });

  it.each([
    [{ repository: "mara/tide", repositoryHost: "github.com" }, "github.com/mara/tide"],
    [{ repository: "mara/tide", repositoryHost: "git.example.org" }, "git.example.org/mara/tide"],
    [{ repository: "mara/tide" }, "github.com/mara/tide"],
    [{ repository: "tide" }, undefined],
    [{}, undefined],
  ])("names the repository that Copilot records: %o", (context, repository) => {
    expect(factsOf({ context }).repository).toBe(repository);
  });

  it("links sub-agent runs to the calls that started them, or to their parent if no record names the call", () => {
    const linked = (...of: [Format, string][]) =>
      linkRuns(of.flatMap(([format, path]) => partsOf(format, path).facts));
    expect(
      linked(
        [droid, "droid/3f0a1c52-0d6e-4a77-9a10-6b1f2c3d4e5f.jsonl"],
        [droid, "droid/4a0a1c52-0d6e-4a77-9a10-6b1f2c3d4e60.jsonl"],
      ),
    ).toEqual([
      {
        session_id: "4a0a1c52-0d6e-4a77-9a10-6b1f2c3d4e60",
        parent_session_id: "3f0a1c52-0d6e-4a77-9a10-6b1f2c3d4e5f",
        tool_call_id: "t5",
      },
    ]);
    expect(linked([kimi, `${KIMI}/main/wire.jsonl`], [kimi, `${KIMI}/agent-0/wire.jsonl`])).toMatchObject([
      { parent_session_id: "6b7c8d9e-0f1a-4b2c-8d3e-4f5061728394", tool_call_id: "Agent_1" },
    ]);
    const runs = linked(
      [cursor, "cursor/agent-transcripts/7b1d2e3f-4a5b-4c6d-8e7f-901234567890.jsonl"],
      [
        cursor,
        "cursor/agent-transcripts/7b1d2e3f-4a5b-4c6d-8e7f-901234567890/subagents/8c1d2e3f-4a5b-4c6d-8e7f-901234567891.jsonl",
      ],
    );
    expect(runs).toMatchObject([{ parent_session_id: "7b1d2e3f-4a5b-4c6d-8e7f-901234567890" }]);
  });

  it("distinguishes two calls with the same id, and pairs each with its own result", () => {
    const say = (role: string, content: unknown) => ({ role, message: { content } });
    const { outcomes } = accountOf(cursor, "agent-transcripts/x.jsonl", [
      say("user", [{ type: "text", text: "Twice" }]),
      say("assistant", [{ type: "tool_use", id: "call_0", name: "Shell", input: { command: "a" } }]),
      say("user", [{ type: "tool_result", tool_use_id: "call_0", content: "A" }]),
      say("assistant", [
        { type: "tool_use", id: "call_0", name: "Shell", input: { command: "b" } },
        { type: "tool_use", id: "call_0", name: "Shell", input: { command: "c" } },
      ]),
      say("user", [
        { type: "tool_result", tool_use_id: "call_0", content: "B" },
        { type: "tool_result", tool_use_id: "call_0", content: "C" },
      ]),
    ]);
    const ids = outcomes.flatMap((line) =>
      [...line.matchAll(/(?:call|result) (call_0\S*)/g)].map(([, id]) => id),
    );
    const [a, resultA, b, c, resultB, resultC] = ids;
    expect([resultA, resultB, resultC]).toEqual([a, b, c]);
    expect(new Set([a, b, c]).size).toBe(3);
  });
});
