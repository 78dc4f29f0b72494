import { seeded } from "./seeded.ts";
import { uuidOf } from "./uuid-of.ts";

/** The result of `generateClaudeSession`: the same options give the same bytes. */
export interface GeneratedSession {
  session_id: string;
  /** JSON lines in the format of Claude Code 2.1, one record each, without newlines. */
  lines: string[];
  /** Number of thinking, text and call parts in the lines, without results and prompts. */
  parts: number;
}

const WORDS =
  "the parser keeps every record it reads and hands the next one to the fold which never moves what was shown before a result joins its call while the reader follows the file as it grows and nothing is lost".split(
    " ",
  );
const TOOLS = ["Bash", "Read", "Grep", "Edit", "Glob"] as const;

/**
 * A long session of realistic mix: 25% thinking, 40% Markdown (a fifth with code), 35% tool calls with results of some
 * 2 KB. `turns: 1` puts everything into a single turn.
 */
export function generateClaudeSession(options: {
  parts: number;
  turns: number;
  seed?: number;
  cwd?: string;
  /** Another name gives another session with the same content. */
  name?: string;
}): GeneratedSession {
  const next = seeded(options.seed ?? 1);
  const session_id = uuidOf(
    `${options.name ?? "session"} ${options.seed ?? 1} ${options.parts} ${options.turns}`,
  );
  const lines: string[] = [];
  const started = Date.UTC(2026, 10, 20, 9, 0, 0);
  let parent: string | null = null;
  let clock = started;

  const words = (count: number) =>
    Array.from({ length: count }, () => WORDS[Math.floor(next() * WORDS.length)]).join(" ");
  const write = (type: "user" | "assistant", message: unknown, extra: object = {}) => {
    clock += 400 + Math.floor(next() * 900);
    const uuid = uuidOf(`${session_id} line ${lines.length}`);
    lines.push(
      JSON.stringify({
        parentUuid: parent,
        isSidechain: false,
        userType: "external",
        cwd: options.cwd ?? "/home/ada/long-session",
        sessionId: session_id,
        version: "2.1.197",
        gitBranch: "main",
        type,
        message,
        uuid,
        timestamp: new Date(clock).toISOString(),
        ...extra,
      }),
    );
    parent = uuid;
  };

  const perTurn = Math.ceil(options.parts / options.turns);
  let made = 0;
  let step = 0;
  for (let turn = 0; turn < options.turns && made < options.parts; turn += 1) {
    write("user", { role: "user", content: `Prompt ${turn + 1}: ${words(14)}` });
    for (let inTurn = 0; inTurn < perTurn && made < options.parts; ) {
      step += 1;
      const id = `msg_${step}`;
      const assistant = (block: unknown, stop_reason: string | null = null) =>
        write("assistant", {
          id,
          type: "message",
          role: "assistant",
          model: "claude-opus-4-7",
          content: [block],
          stop_reason,
          usage: { input_tokens: 4, cache_read_input_tokens: 12_000, output_tokens: 120 },
        });
      const kind = next();
      made += 1;
      inTurn += 1;
      const last = made >= options.parts || inTurn >= perTurn;
      if (kind < 0.25 && !last) {
        assistant({ type: "thinking", thinking: `${words(60)}\n\n${words(40)}`, signature: "c2lnbmF0dXJl" });
      } else if (kind < 0.65 || last) {
        const code =
          next() < 0.2
            ? `\n\n\`\`\`ts\nexport const step${made} = (value: number) => value + ${made};\n\`\`\``
            : "";
        assistant(
          {
            type: "text",
            text: `### Step ${made}\n\n${words(50)}.\n\n- ${words(8)}\n- **${words(4)}** ${words(6)}${code}`,
          },
          last ? "end_turn" : null,
        );
      } else {
        const name = TOOLS[Math.floor(next() * TOOLS.length)] ?? "Bash";
        const call = `toolu_${made}`;
        assistant(
          {
            type: "tool_use",
            id: call,
            name,
            input: {
              command: `make step-${made}`,
              description: words(5),
              file_path: `/src/file-${made}.ts`,
              pattern: words(1),
            },
          },
          "tool_use",
        );
        write("user", {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: call,
              content: Array.from({ length: 30 }, () => words(11)).join("\n"),
              is_error: next() < 0.04,
            },
          ],
        });
      }
    }
  }
  return { session_id, lines, parts: made };
}
