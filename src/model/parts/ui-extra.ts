import * as z from "zod";
import { optional, record } from "../record.ts";

/** A hunk of a diff. `lines` begin with a space, `-` or `+`, as in a unified diff. Line numbers are one-based; 0: unknown. */
export const diffHunk = record({
  old_start: z.number(),
  old_lines: z.number(),
  new_start: z.number(),
  new_lines: z.number(),
  lines: z.array(z.string()),
});
export type DiffHunk = z.infer<typeof diffHunk>;

export const fileDiff = record({
  path: z.string(),
  change: z.enum(["create", "update", "delete", "move"]),
  new_path: optional(z.string()),
  additions: z.number(),
  deletions: z.number(),
  hunks: z.array(diffHunk),
});
export type FileDiff = z.infer<typeof fileDiff>;

export const todoItem = record({ text: z.string(), status: z.enum(["pending", "in_progress", "completed"]) });
export type TodoItem = z.infer<typeof todoItem>;

/** Fields about the output that any tool's result can have. */
const output = {
  /** Where the agent saved an output that was too long for its record, and the size in bytes. */
  persisted_path: optional(z.string()),
  persisted_bytes: optional(z.number()),
  /** Start of the tool's own output in `output_text`, after the agent's header, in UTF-16 code units. */
  output_start: optional(z.number()),
  /** End of the tool's own output, before text that the agent added to the beginning of a saved output. */
  output_stop: optional(z.number()),
  /** The source's metadata of the result, unchanged. Shown under Raw only. */
  metadata: optional(z.unknown()),
};

/**
 * Typed details of a tool's result beyond its text, the same for all agents. A tool card is selected by `type` first. Readers
 * translate each agent's own structure (Claude Code's `toolUseResult`, Codex's `exec_command_end`…) into this.
 */
export const uiExtra = z.discriminatedUnion("type", [
  record({
    type: z.literal("shell"),
    command: optional(z.string()),
    /** The command of an earlier call that this one waits for, or types into. */
    continues: optional(z.string()),
    cwd: optional(z.string()),
    exit_code: optional(z.number()),
    interrupted: optional(z.boolean()),
    duration_ms: optional(z.number()),
    background_task_id: optional(z.string()),
    ...output,
  }),
  record({ type: z.literal("diff"), files: z.array(fileDiff), ...output }),
  record({
    type: z.literal("read"),
    path: z.string(),
    start_line: optional(z.number()),
    line_count: optional(z.number()),
    total_lines: optional(z.number()),
    /** What the agent got instead of lines: a note that the file is unchanged, or a document. */
    instead: optional(z.enum(["unchanged", "PDF"])),
    ...output,
  }),
  record({
    type: z.literal("search"),
    query: optional(z.string()),
    match_count: z.number(),
    files: z.array(z.string()),
    ...output,
  }),
  record({ type: z.literal("todos"), todos: z.array(todoItem), ...output }),
  record({
    type: z.literal("web_search"),
    query: z.string(),
    results: z.array(record({ title: z.string(), url: z.string() })),
    ...output,
  }),
  record({
    type: z.literal("web_fetch"),
    url: z.string(),
    status: optional(z.number()),
    byte_size: optional(z.number()),
    ...output,
  }),
  record({
    type: z.literal("question"),
    questions: z.array(
      record({ question: z.string(), options: z.array(z.string()), answer: optional(z.string()) }),
    ),
    ...output,
  }),
  record({ type: z.literal("plan"), plan: z.string(), accepted: optional(z.boolean()), ...output }),
  record({
    type: z.literal("sub_agent"),
    /** The agent's own name for the run (Claude Code's agent id, Codex's thread id or path). */
    agent_key: optional(z.string()),
    session_id: optional(z.string()),
    name: optional(z.string()),
    task: optional(z.string()),
    status: optional(z.string()),
    tokens: optional(z.number()),
    tool_calls: optional(z.number()),
    duration_ms: optional(z.number()),
    ...output,
  }),
  record({
    type: z.literal("mcp"),
    server: z.string(),
    tool: z.string(),
    structured: optional(z.unknown()),
    ...output,
  }),
  /** No details are known. */
  record({ type: z.literal("output"), ...output }),
]);
export type UiExtra = z.infer<typeof uiExtra>;
