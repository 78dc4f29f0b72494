import { createHash } from "node:crypto";
import { seeded } from "../test/seeded.ts";
import { uuidOf } from "../test/uuid-of.ts";

/**
 * Generates the text of a session in the format of Claude Code 2.1, of about the given size. The same options give the same
 * bytes.
 *
 * Modelled on 43 real sessions (4,646 lines, 17 MB): frequency of each kind of line, and its length (median and 90th percentile;
 * log-normal). A result is contained twice, for the model and for the program, and an edit includes the whole previous file: 62 %
 * of all bytes are lines of results, three quarters are lines of more than 4 KB, and a line has 3.6 KB on average, with a median
 * of 1.1 KB.
 */
export function generateClaudeText(options: { id: string; bytes: number; seed: number }): string {
  const next = seeded(options.seed);
  const { id: session_id } = options;
  const lines: string[] = [];
  let length = 0;
  let parent: string | null = null;
  let clock = Date.UTC(2026, 10, 20, 9, 0, 0);
  let step = 0;

  const write = (type: string, rest: object) => {
    clock += 400 + Math.floor(next() * 4_000);
    const uuid = uuidOf(`${session_id} ${lines.length}`);
    const line = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd: "/home/ada/project",
      sessionId: session_id,
      version: "2.1.197",
      gitBranch: "main",
      type,
      ...rest,
      uuid,
      timestamp: new Date(clock).toISOString(),
    });
    parent = uuid;
    lines.push(line);
    length += line.length + 1;
  };
  const assistant = (block: unknown, stop_reason: string | null) =>
    write("assistant", {
      message: {
        id: `msg_${options.seed}_${step}`,
        type: "message",
        role: "assistant",
        model: "claude-opus-4-7",
        content: [block],
        stop_reason,
        stop_sequence: null,
        usage: {
          input_tokens: 4,
          cache_creation_input_tokens: 812,
          cache_read_input_tokens: 41_000 + step,
          cache_creation: { ephemeral_5m_input_tokens: 812, ephemeral_1h_input_tokens: 0 },
          output_tokens: 120,
          service_tier: "standard",
        },
      },
      requestId: `req_${options.seed}_${step}`,
    });
  /** A sample of a log-normal distribution, given by its median and 90th percentile; at most four times the latter. */
  const size = (median: number, tenth: number) => {
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const sigma = Math.log(tenth / median) / 1.2816;
    return Math.round(Math.min(median * Math.exp(sigma * normal), tenth * 4));
  };

  function call() {
    const kind = next();
    const tool = TOOLS.find(({ share }) => kind < share) ?? BASH;
    const id = `toolu_${options.seed}_${lines.length}`;
    const path = `/home/ada/project/src/part-${Math.floor(next() * 200)}/file-${Math.floor(next() * 40)}.ts`;
    const { input, output, structure } = tool.make(size, path, (count) => source(next, count));
    assistant({ type: "tool_use", id, name: tool.name, input }, "tool_use");
    if (next() < 0.7) {
      write("progress", {
        data: { type: "hook_progress", hookEvent: "PostToolUse", command: source(next, size(300, 2_400)) },
        toolUseID: id,
        parentToolUseID: id,
      });
    }
    write("user", {
      message: {
        role: "user",
        content: [{ tool_use_id: id, type: "tool_result", content: output, is_error: next() < 0.04 }],
      },
      toolUseResult: structure,
      sourceToolAssistantUUID: parent,
    });
  }

  while (length < options.bytes) {
    write("user", {
      message: { role: "user", content: prose(next, size(260, 1_600)) },
      permissionMode: "default",
    });
    const steps = 1 + Math.floor(next() * 14);
    for (let n = 0; n < steps && length < options.bytes; n += 1) {
      step += 1;
      if (next() < 0.6) {
        const signature = createHash("sha512").update(`${step}`).digest("base64").repeat(size(6, 24));
        assistant({ type: "thinking", thinking: prose(next, size(320, 1_400)), signature }, null);
      }
      if (next() < 0.4) assistant({ type: "text", text: prose(next, size(240, 900)) }, null);
      call();
    }
    step += 1;
    assistant({ type: "text", text: prose(next, size(700, 2_400)) }, "end_turn");
    write("system", { subtype: "turn_duration", durationMs: 48_000, isMeta: false });
  }
  return `${lines.join("\n")}\n`;
}

interface Tool {
  name: string;
  /** Cumulative share of this call among all calls. */
  share: number;
  make(
    size: (median: number, tenth: number) => number,
    path: string,
    source: (length: number) => string,
  ): { input: object; output: string; structure: unknown };
}

const BASH: Tool = {
  name: "Bash",
  share: 1,
  make(size, path, source) {
    const stdout = source(size(165, 2_058));
    return {
      input: {
        command: `npx vitest run ${path} --reporter dot | tail -40`,
        description: "Runs the tests of one file",
      },
      output: stdout,
      structure: { stdout, stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
    };
  },
};

const TOOLS: readonly Tool[] = [
  {
    name: "Read",
    share: 0.24,
    make(size, filePath, source) {
      const content = source(size(2_800, 11_700));
      const lines = content.split("\n");
      return {
        input: { file_path: filePath },
        output: lines.map((line, n) => `${String(n + 1).padStart(6)}→${line}`).join("\n"),
        structure: {
          type: "text",
          file: { filePath, content, numLines: lines.length, startLine: 1, totalLines: lines.length },
        },
      };
    },
  },
  {
    name: "Edit",
    share: 0.43,
    make(size, filePath, source) {
      const oldString = source(size(300, 1_400));
      const newString = source(size(500, 2_200));
      const originalFile = source(size(17_000, 38_000));
      const changed = [
        ...oldString.split("\n").map((line) => `-${line}`),
        ...newString.split("\n").map((line) => `+${line}`),
      ];
      return {
        input: { file_path: filePath, old_string: oldString, new_string: newString, replace_all: false },
        output: `The file ${filePath} has been updated. Here's a snippet:\n${source(size(120, 2_500))}`,
        structure: {
          filePath,
          oldString,
          newString,
          originalFile,
          structuredPatch: [{ oldStart: 40, oldLines: 12, newStart: 40, newLines: 15, lines: changed }],
          userModified: false,
          replaceAll: false,
        },
      };
    },
  },
  {
    name: "Grep",
    share: 0.56,
    make(size, path, source) {
      const content = source(size(1_274, 6_941));
      return {
        input: { pattern: "createReader\\(", path, output_mode: "content", "-n": true },
        output: content,
        structure: {
          mode: "content",
          numFiles: 0,
          filenames: [],
          content,
          numLines: content.split("\n").length,
        },
      };
    },
  },
  {
    name: "TodoWrite",
    share: 0.63,
    make(size, _path, source) {
      const todos = Array.from({ length: 6 }, (_, n) => ({
        content: source(size(60, 120)).replaceAll("\n", " "),
        status: n < 2 ? "completed" : "pending",
        activeForm: "Working on it",
      }));
      return {
        input: { todos },
        output: "Todos have been modified successfully. Ensure that you continue to use the todo list.",
        structure: { oldTodos: todos, newTodos: todos },
      };
    },
  },
];

const WORDS =
  "the parser keeps every record it reads and hands the next one to the fold which never moves what was shown before a result joins its call while the reader follows the file as it grows and nothing is lost".split(
    " ",
  );
const CODE = [
  "export function readLine(bytes: Uint8Array, from: number): Line | undefined {",
  '  if (bytes[from] === QUOTE) return { kind: "text", value: decode(bytes, from) };',
  "  const found = known.get(id) ?? [];",
  "\t\tfor (const [name, value] of Object.entries(record)) {",
  '    return [name, value].join("\\n\\t");',
  '  "scripts": { "test": "vitest run", "build": "vite build" },',
  "",
  "  // Whoever reads on from here has seen all of it.",
  "}",
];

/** Lines of code with quotes, tabs and backslashes, which JSON has to escape. */
function source(next: () => number, length: number): string {
  const lines: string[] = [];
  for (let made = 0; made < length; ) {
    const line = CODE[Math.floor(next() * CODE.length)] ?? "";
    lines.push(line);
    made += line.length + 1;
  }
  return lines.join("\n").slice(0, length);
}

function prose(next: () => number, length: number): string {
  const words: string[] = [];
  for (let made = 0; made < length; ) {
    const word = WORDS[Math.floor(next() * WORDS.length)] ?? "";
    words.push(next() < 0.02 ? `${word}.\n\n-` : next() < 0.04 ? `\`${word}\`` : word);
    made += word.length + 1;
  }
  return words.join(" ").slice(0, length);
}
