import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ownOutput } from "../../src/model/parts/kept-output.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { eventually } from "../eventually.ts";
import { storedIn } from "./stored-in.ts";

// Agents that move a long output to a file, and leave a part of it and the file's path in the record. The notes and folders are
// those of real runs: opencode 1.18.33, Kilo 7.7.9, Qwen Code 0.15.10, Kimi Code 2.1.0, Grok 1.0.41 and pi 0.74.2. Gemini CLI's are
// from the program of 0.61.0, oh-my-pi's from the source code of 18.3.4.

const ID = "6b7c8d9e-0f1a-4b2c-8d3e-4f5061728394";
const WHOLE = Array.from({ length: 3_000 }, (_, n) => `${n + 1}\n`).join("");
const PART = WHOLE.slice(0, 400);

let home: string;
let sessions: Sessions | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "output-files-"));
});
afterEach(async () => {
  await sessions?.close();
  sessions = undefined;
  rmSync(home, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const lines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

interface Moved {
  agent: string;
  /** Paths below the agent's home. */
  session: string;
  output: string;
  /** Writes the session, with the path of the output as the agent recorded it. */
  record(session: string, output: string): void;
}

const qwen = (fields: object, n: number): object => ({
  uuid: `u${n}`,
  parentUuid: n === 0 ? null : `u${n - 1}`,
  sessionId: ID,
  timestamp: `2026-11-20T10:00:0${n}.000Z`,
  cwd: "/w",
  version: "0.15.10",
  ...fields,
});
const kimi = (event: object, n: number): object => ({
  type: "context.append_loop_event",
  event: { stepUuid: "s1", ...event },
  time: 1_790_000_000_000 + n,
});
const grok = (update: object, n: number): object => ({
  timestamp: 1_790_000_000 + n,
  method: "session/update",
  params: { sessionId: ID, update, _meta: { eventId: `${ID}-${n}` } },
});
const pi = (fields: object, n: number): object => ({
  id: `e${n}`,
  parentId: n === 0 ? null : `e${n - 1}`,
  timestamp: `2026-11-20T10:00:0${n}.000Z`,
  ...fields,
});

/** `header`, `details`: more fields of the session's header, and the details of the result. */
function writePi(session: string, header: object, details: object): void {
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "seq 1 3000" } };
  const text = [{ type: "text", text: PART }];
  const result = {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "bash",
    content: text,
    details,
    isError: false,
  };
  write(
    session,
    lines([
      { type: "session", version: 3, id: ID, timestamp: "2026-11-20T10:00:00.000Z", cwd: "/w", ...header },
      ...[
        { type: "message", message: { role: "user", content: [{ type: "text", text: "Count" }] } },
        { type: "message", message: { role: "assistant", content: [call], stopReason: "toolUse" } },
        { type: "message", message: result },
      ].map(pi),
    ]),
  );
}

/** A database with the tables of opencode 1. */
function writeOpenCode(path: string, output: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
      time_created INTEGER, time_updated INTEGER, time_archived INTEGER, revert TEXT);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    INSERT INTO session (id, directory, title, version, time_created, time_updated) VALUES ('ses_1', '/w', 'Count', '1', 1, 9)`);
  const message = database.prepare("INSERT INTO message VALUES (?, 'ses_1', ?, ?, ?)");
  const part = database.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?, ?)");
  message.run("msg_1", 1, 1, JSON.stringify({ role: "user", time: { created: 1 } }));
  part.run("prt_1", "msg_1", 1, 1, JSON.stringify({ type: "text", text: "Count" }));
  message.run("msg_2", 2, 2, JSON.stringify({ role: "assistant", time: { created: 2 }, modelID: "m" }));
  const state = {
    status: "completed",
    input: { command: "seq 1 3000" },
    output: `...output truncated...\n\nFull output saved to: ${output}\n\n${PART}`,
    metadata: { exit: 0, truncated: true, outputPath: output },
  };
  part.run("prt_2", "msg_2", 3, 3, JSON.stringify({ type: "tool", tool: "bash", callID: "c1", state }));
  database.close();
}

const MOVED: Moved[] = [
  {
    agent: "opencode",
    session: "opencode/opencode.db",
    output: "opencode/tool-output/tool_22e618153001qLn6biqesjD8VL",
    record: writeOpenCode,
  },
  {
    agent: "kilo",
    session: "kilo/kilo.db",
    output: "kilo/tool-output/tool_22e61aea3001vqBNBc4Lu3rHbZ",
    record: writeOpenCode,
  },
  {
    agent: "gemini-cli",
    session: `.gemini/tmp/tide/chats/session-${ID}.jsonl`,
    output: `.gemini/tmp/tide/tool-outputs/session-${ID}/run_shell_command_c1.txt`,
    record(session, output) {
      const text = `Output too large. Showing first 8,000 and last 32,000 characters. For full output see: ${output}\n${PART}`;
      const at = (second: number) => `2026-11-20T10:00:0${second}.000Z`;
      write(
        session,
        lines([
          { sessionId: ID, projectHash: "0123abcd", startTime: at(0), kind: "main" },
          { id: "m1", timestamp: at(1), type: "user", content: [{ text: "Count" }] },
          {
            id: "m2",
            timestamp: at(2),
            type: "gemini",
            content: "",
            model: "m",
            toolCalls: [
              {
                id: "c1",
                name: "run_shell_command",
                args: { command: "seq 1 3000" },
                status: "success",
                timestamp: at(2),
                result: [
                  {
                    functionResponse: { id: "c1", name: "run_shell_command", response: { output: text } },
                  },
                ],
              },
            ],
          },
        ]),
      );
    },
  },
  {
    agent: "qwen-code",
    session: `.qwen/projects/-w/chats/${ID}.jsonl`,
    output: ".qwen/tmp/0c757c18/run_shell_command_f1236d5c9b37.output",
    record(session, output) {
      const text = [
        "Tool output was too large and has been truncated.",
        `The full output has been saved to: ${output}`,
        "To read the complete output, use the read_file tool with the absolute file path above.",
        "The truncated output below shows the beginning and end of the content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.",
        "",
        "Truncated part of the output:",
        `Command: seq 1 3000\nDirectory: (root)\nOutput: ${PART}\nError: (none)\nExit Code: 0\nSignal: 0`,
      ].join("\n");
      const call = { id: "c1", name: "run_shell_command", args: { command: "seq 1 3000" } };
      const response = { id: "c1", name: "run_shell_command", response: { output: text } };
      write(
        session,
        lines(
          [
            { type: "user", message: { role: "user", parts: [{ text: "Count" }] } },
            { type: "assistant", message: { role: "model", parts: [{ functionCall: call }] } },
            {
              type: "tool_result",
              message: { role: "user", parts: [{ functionResponse: response }] },
              toolCallResult: { callId: "c1", status: "success" },
            },
          ].map(qwen),
        ),
      );
    },
  },
  {
    agent: "kimi",
    session: `.kimi-code/sessions/wd_tide/session_${ID}/agents/main/wire.jsonl`,
    output: `.kimi-code/sessions/wd_tide/session_${ID}/agents/main/tasks/bash-bbcyab2y/output.log`,
    record(session, output) {
      const text = [
        "Tool output exceeded 50000 characters; the full output was saved to a file.",
        "tool_name: Bash",
        "tool_call_id: c1",
        `output_size_chars: ${WHOLE.length}`,
        `output_size_bytes: ${WHOLE.length}`,
        `output_path: ${output}`,
        "next_step: Use Read with output_path to page through the saved output, or Grep to search it.",
        "",
        "[preview: chars [0, 400)]",
        PART,
      ].join("\n");
      write(
        session,
        lines([
          { type: "metadata", protocol_version: "1.5", created_at: 1_790_000_000_000 },
          {
            type: "turn.prompt",
            input: [{ type: "text", text: "Count" }],
            origin: { kind: "user" },
            time: 1_790_000_000_000,
          },
          ...[
            { type: "step.begin", uuid: "s1", turnId: "0", step: 1 },
            { type: "tool.call", toolCallId: "c1", name: "Bash", args: { command: "seq 1 3000" } },
            { type: "tool.result", toolCallId: "c1", result: { output: text } },
          ].map(kimi),
        ]),
      );
    },
  },
  {
    agent: "grok",
    session: `.grok/sessions/%2Fw/${ID}/updates.jsonl`,
    output: `.grok/sessions/%2Fw/${ID}/terminal/call_2_0.log`,
    record(session, output) {
      const note = `exit: 0 [truncated: showing first/last 19.6 KB of 340.7 KB - full output at: ${output}]`;
      const command = "seq 1 3000";
      write(
        session,
        lines(
          [
            {
              sessionUpdate: "user_message_chunk",
              content: { type: "text", text: "Count" },
              _meta: { modelId: "grok-4.6", promptIndex: 0 },
            },
            {
              sessionUpdate: "tool_call",
              toolCallId: "c1",
              title: "run_terminal_command",
              rawInput: { command },
              _meta: { "x.ai/tool": { name: "run_terminal_command" } },
            },
            {
              sessionUpdate: "tool_call_update",
              toolCallId: "c1",
              status: "completed",
              content: [{ type: "content", content: { type: "text", text: PART } }],
              rawOutput: {
                type: "Bash",
                output_for_prompt: `${note}\n${PART}`,
                exit_code: 0,
                command,
                truncated: true,
                output_file: output,
                total_bytes: WHOLE.length,
              },
            },
          ].map(grok),
        ),
      );
    },
  },
  {
    agent: "pi",
    session: ".pi/agent/sessions/--w--/2026-11-20T10-00-00-000Z_1.jsonl",
    output: "tmp/pi-bash-78c9936565635c2a.log",
    record: (session, output) => writePi(session, {}, { fullOutputPath: output }),
  },
  {
    agent: "oh-my-pi",
    session: `.omp/agent/sessions/-w/2026-11-20T10-00-00-000Z_${ID}.jsonl`,
    output: `.omp/agent/sessions/-w/2026-11-20T10-00-00-000Z_${ID}/3.bash.log`,
    record(session) {
      const truncation = { direction: "tail", totalBytes: WHOLE.length, artifactId: "3" };
      writePi(session, { titleSource: "auto" }, { meta: { truncation } });
    },
  },
];

async function outputOf(agent: string, session: string) {
  const opened = createSessions({
    formats,
    roots: [],
    paths: [join(home, session)],
    ...storedIn(join(home, "data")),
    hints: false,
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  sessions = opened;
  const row = await eventually(() => {
    const [found] = opened.list();
    expect(found?.agent).toBe(agent);
    return found;
  });
  const open = await opened.open(row?.id ?? "");
  const part = await eventually(() => {
    const found = [...(open?.transcript.parts ?? [])].find((each) => each?.type === "tool_result");
    if (found?.type !== "tool_result") throw new Error("The call has no result.");
    return found;
  });
  const bytes = await opened.output(open?.id ?? "", part.id, 0);
  return { seen: ownOutput(part), whole: bytes && Buffer.from(bytes).toString() };
}

it.each(MOVED)("$agent: the complete output of a call is read from the agent's file", async (moved) => {
  write(join(home, moved.output), WHOLE);
  moved.record(join(home, moved.session), join(home, moved.output));
  expect(await outputOf(moved.agent, moved.session)).toEqual({ seen: PART, whole: WHOLE });
});

it.each(MOVED)("$agent: no other file is read as the output of a call", async (moved) => {
  write(join(home, "secret"), "secret");
  mkdirSync(dirname(join(home, moved.output)), { recursive: true });
  symlinkSync(join(home, "secret"), join(home, moved.output));
  moved.record(join(home, moved.session), join(home, moved.output));
  expect(await outputOf(moved.agent, moved.session)).toEqual({ seen: PART, whole: undefined });
});

it.each(MOVED.filter(({ agent }) => agent !== "pi"))(
  "$agent: the output is found after the session was moved",
  async (moved) => {
    write(join(home, moved.output), WHOLE);
    moved.record(join(home, moved.session), join("/home/mara", moved.output));
    expect(await outputOf(moved.agent, moved.session)).toEqual({ seen: PART, whole: WHOLE });
  },
);
