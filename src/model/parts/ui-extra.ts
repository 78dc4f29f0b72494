import * as z from "zod";
import { optional, record } from "../record.ts";

/** One hunk of a diff: `lines` begin with a space, `-` or `+`, as in a unified diff. Line numbers count from 1; 0: not known. */
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

/** What the result of any tool may say of its output. */
const output = {
  /** Where the agent saved an output too long for its record, and that output's size in bytes. */
  persisted_path: optional(z.string()),
  persisted_bytes: optional(z.number()),
  /** Where in `output_text` the tool's own output begins, behind the agent's header, in UTF-16 code units. */
  output_start: optional(z.number()),
  /** Where it ends, before what the agent wrote around the beginning of an output that it saved. */
  output_stop: optional(z.number()),
  /** What the source says about the result beside it, as it says it: shown under Raw alone. */
  metadata: optional(z.unknown()),
};

/**
 * What a tool's result says beyond its text, typed, whichever agent wrote it. A tool card is chosen by `type` first.
 * Readers translate an agent's own structure (Claude Code's `toolUseResult`, Codex's `exec_command_end`…) into this.
 */
export const uiExtra = z.discriminatedUnion("type", [
  record({
    type: z.literal("shell"),
    command: optional(z.string()),
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
    /** What the agent got instead of lines: the word that what it read before still holds, or a document. */
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
  /** No more is known than of any tool. */
  record({ type: z.literal("output"), ...output }),
]);
export type UiExtra = z.infer<typeof uiExtra>;
