import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { frame } from "../../src/model/frames/frame.ts";
import { legacyMessage, message, stopReason, toolStatus, usage } from "../../src/model/messages/message.ts";
import { mediaPart, part } from "../../src/model/messages/part.ts";
import { diffHunk, fileDiff, todoItem, uiExtra } from "../../src/model/parts/ui-extra.ts";
import { answer, request, requestOption, requestOutcome } from "../../src/model/request.ts";
import {
  openRequest,
  sessionControl,
  sessionPatch,
  sessionStatus,
  sessionSummary,
} from "../../src/model/session.ts";
import {
  markerKind,
  runLink,
  source,
  transcriptPart,
  truncated,
  turn,
  turnStatus,
} from "../../src/model/transcript/transcript.ts";
import { id } from "./generate.ts";

// The values that each schema accepts and rejects, field by field. A change here changes the stored and sent formats.

/** The content of a field: the name of a kind, possible words (`a|b`), a constant (`=a`), fields, or a list. */
type Field = string | Fields | readonly [Field];
interface Fields {
  readonly [name: string]: Field;
}

const ID = id(1, 1);
/** By kind: a valid value, and invalid ones. */
const KINDS: Record<string, { value: unknown; not: readonly unknown[] }> = {
  text: { value: "some text", not: [5, null, undefined, {}] },
  number: { value: 1.5, not: ["1", null, undefined, Number.NaN] },
  "yes or no": { value: true, not: ["true", 0, null, undefined] },
  id: { value: ID, not: ["no id", 5, null, undefined] },
  anything: { value: { any: [1, null] }, not: [] },
};

/** A value with every field, or with only the required ones. */
function sampleOf(field: Field, whole: boolean): unknown {
  if (typeof field === "string") {
    return KINDS[field]?.value ?? field.replace(/^=/, "").split("|")[0];
  }
  if (Array.isArray(field)) return [sampleOf(field[0], whole)];
  return Object.fromEntries(
    Object.entries(field as Fields).flatMap(([name, inner]) =>
      whole || !isOptional(name) ? [[bare(name), sampleOf(inner, whole)]] : [],
    ),
  );
}
/** A name that ends in `?`: the field may be absent. */
const isOptional = (name: string) => name.endsWith("?");
const bare = (name: string) => name.replace(/\?$/, "");

/** Values that are invalid for a field, and valid values other than the sample. */
function wrongFor(field: Field): unknown[] {
  if (typeof field === "string") return [...(KINDS[field]?.not ?? ["no such word", 5, null, undefined])];
  if (!Array.isArray(field)) {
    const value = sampleOf(field, true) as object;
    const broken = Object.entries(field as Fields).flatMap(([name, inner]) => [
      ...wrongFor(inner).map((wrong) => ({ ...value, [bare(name)]: wrong })),
      ...(isOptional(name) || inner === "anything" ? [] : [without(value, bare(name))]),
    ]);
    return [...broken, "text", null, undefined, []];
  }
  return [...wrongFor(field[0]).map((wrong) => [wrong]), {}, "text", null, undefined];
}
function othersFor(field: Field): unknown[] {
  if (typeof field === "string") return KINDS[field] === undefined ? field.split("|").slice(1) : [];
  if (Array.isArray(field)) return [[], ...othersFor(field[0]).map((other) => [other])];
  const value = sampleOf(field, true) as object;
  return Object.entries(field as Fields).flatMap(([name, inner]) => [
    ...othersFor(inner).map((other) => ({ ...value, [bare(name)]: other })),
    ...(isOptional(name) ? [without(value, bare(name))] : []),
  ]);
}
const without = (value: object, name: string) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

/** A schema accepts exactly these fields unchanged, and keeps unknown fields of newer versions. */
function holds(schema: z.ZodType, fields: Field): void {
  const whole = sampleOf(fields, true);
  const accepted = [whole, sampleOf(fields, false), ...othersFor(fields)];
  for (const value of accepted) expect(schema.parse(value)).toEqual(value);
  for (const value of wrongFor(fields)) {
    if (schema.safeParse(value).success) expect(value).toBe("refused");
  }
  if (typeof whole === "object" && whole !== null && !Array.isArray(whole)) {
    const newer = { ...whole, of_a_newer_version: [1] };
    expect(schema.parse(newer)).toEqual(newer);
  }
}

const USAGE = {
  input: "number",
  output: "number",
  "cache_read?": "number",
  "cache_write?": "number",
  "reasoning?": "number",
  "cost?": "number",
};
const STOP = "stop|length|tool_use|error|aborted";
const TURN_STATUS = "running|completed|failed|interrupted";
const STATUS = "success|error|aborted";
const HIDDEN = "encrypted|redacted|empty";
const ORIGIN = "agent|notification|command";
const MARKERS = "compaction|interrupt|error|retry|model_switch|rewind|context|hook|notification|note";
const HUNK = {
  old_start: "number",
  old_lines: "number",
  new_start: "number",
  new_lines: "number",
  lines: ["text"],
} as const;
const FILE = {
  path: "text",
  change: "create|update|delete|move",
  "new_path?": "text",
  additions: "number",
  deletions: "number",
  hunks: [HUNK],
} as const;
const TODO = { text: "text", status: "pending|in_progress|completed" };
const SOURCE = { file: "text", line: "number", byte: "number", length: "number" };
const OPTION = {
  id: "text",
  label: "text",
  "description?": "text",
  "kind?": "allow_once|allow_always|reject_once|reject_always",
};
const REQUEST = {
  request_id: "id",
  kind: "approval|question",
  title: "text",
  "tool_call_id?": "text",
  "tool_name?": "text",
  "subject?": "text",
  "digest?": "text",
  options: [OPTION],
  "multiple?": "yes or no",
  "free_text?": "yes or no",
  "expires_at?": "number",
} as const;
const ANSWER = { option_ids: ["text"], "text?": "text" } as const;

const STORED = { "part_id?": "id", "at?": "number", "ended_at?": "number" };
const PARTS = {
  text: { text: "text", "id?": "text", "phase?": "text", "refusal?": "yes or no" },
  image_url: { url: "text", "id?": "text" },
  image_file: { file_path: "text", "mime_type?": "text", "byte_size?": "number", "sha256?": "text" },
  file: { mime: "text", "filename?": "text", url: "text", "source?": "anything" },
  thinking_text: {
    text: "text",
    "id?": "text",
    "model_id?": "text",
    "reasoning_field?": "text",
    "detail?": "anything",
    "hidden?": HIDDEN,
  },
  thinking_signature: {
    signature: "text",
    "id?": "text",
    "model_id?": "text",
    "format?": "text",
    "detail?": "anything",
  },
  tool_call: {
    call_id: "text",
    tool_name: "text",
    arguments_json: "text",
    "item_id?": "text",
    "namespace?": "text",
    "provider_call_id?": "text",
    "unfinished?": "yes or no",
  },
  unknown: { raw: "anything" },
};
const TEXT = { type: "=text", text: "text" };
const IMAGE = { type: "=image_url", url: "text" };

const UI_EXTRA: Record<string, Fields> = {
  shell: {
    "command?": "text",
    "cwd?": "text",
    "exit_code?": "number",
    "interrupted?": "yes or no",
    "duration_ms?": "number",
    "background_task_id?": "text",
  },
  diff: { files: [FILE] },
  read: {
    path: "text",
    "start_line?": "number",
    "line_count?": "number",
    "total_lines?": "number",
    "instead?": "unchanged|PDF",
  },
  search: { "query?": "text", match_count: "number", files: ["text"] },
  todos: { todos: [TODO] },
  web_search: { query: "text", results: [{ title: "text", url: "text" }] },
  web_fetch: { url: "text", "status?": "number", "byte_size?": "number" },
  question: { questions: [{ question: "text", options: ["text"], "answer?": "text" }] },
  plan: { plan: "text", "accepted?": "yes or no" },
  sub_agent: {
    "agent_key?": "text",
    "session_id?": "text",
    "name?": "text",
    "task?": "text",
    "status?": "text",
    "tokens?": "number",
    "tool_calls?": "number",
    "duration_ms?": "number",
  },
  mcp: { server: "text", tool: "text", "structured?": "anything" },
  output: {},
};
const KEPT: Fields = {
  "persisted_path?": "text",
  "persisted_bytes?": "number",
  "output_start?": "number",
  "output_stop?": "number",
};
const PLAN = { type: "=plan", plan: "text" };

const MESSAGE = {
  id: "id",
  created_at: "text",
  "response_id?": "text",
  "after_part_id?": "text",
  "part_id?": "id",
};
const MESSAGES: Record<string, Fields> = {
  system: { parts: [TEXT] },
  developer: { parts: [TEXT], "title?": "text" },
  user: { parts: [TEXT], "queued?": "yes or no", "origin?": ORIGIN },
  assistant: {
    parts: [TEXT],
    "usage?": USAGE,
    "stop_reason?": STOP,
    "model?": "text",
    "provider?": "text",
    "api?": "text",
    "model_id?": "text",
    "raw_blocks?": "anything",
    "stop_reason_raw?": "text",
    "stop_details?": "anything",
    "error?": "text",
    "ended_at?": "number",
    "unfinished?": "yes or no",
    "implicit?": "yes or no",
    "interrupt?": { "part_id?": "id", "reason?": "text", "at?": "number", "alone?": "yes or no" },
  },
  tool: {
    call_id: "text",
    tool_name: "text",
    status: STATUS,
    output_text: "text",
    parts: [IMAGE],
    "ui_extra?": PLAN,
    "side_effects?": ["anything"],
    "task_metadata?": "anything",
  },
};

const RUN = { "name?": "text", "task?": "text", "depth?": "number" };
const PARENT = { session_id: "id", "tool_call_id?": "text" };
const FORKED = { session_id: "id", "at_byte?": "number", "rewind?": "yes or no" };
const LINK = { session_id: "id", "name?": "text", "task?": "text" };
const CONTROL = {
  state: "idle|working|waiting|closed",
  can_steer: "yes or no",
  can_fork: "yes or no",
  can_compact: "yes or no",
  can_switch_model: "yes or no",
  takes_images: "yes or no",
  queued: [{ message_id: "id", text: "text" }],
} as const;
const OPEN_REQUEST = {
  request_id: "id",
  kind: "approval|question",
  title: "text",
  asked_at: "number",
  "expires_at?": "number",
};

const ENTRY = {
  id: "id",
  session_id: "id",
  message_id: "id",
  "at?": "number",
  "source?": SOURCE,
  "step?": "number",
  "revised_at?": "number",
  "retracted?": "text",
  "truncated?": { "text?": "number" },
};
const ENTRIES: Record<string, Fields> = {
  thinking: {
    thinking: "text",
    "hidden?": HIDDEN,
    "signature?": "text",
    "format?": "text",
    "open?": "yes or no",
    "ended_at?": "number",
  },
  text: { text: "text", "phase?": "text", "open?": "yes or no", "ended_at?": "number" },
  tool_call: {
    tool_call_id: "text",
    tool_name: "text",
    arguments_json: "text",
    state: { status: "=pending", input: "anything", raw: "text" },
    "progress?": "text",
    "result_index?": "number",
    "run?": LINK,
  },
  tool_result: {
    tool_call_id: "text",
    "tool_name?": "text",
    is_error: "yes or no",
    status: STATUS,
    output_text: "text",
    "output_end?": "text",
    parts: [IMAGE],
    "ui_extra?": PLAN,
    "call_index?": "number",
  },
  image: { media: IMAGE },
  file: { media: { type: "=file", mime: "text", url: "text" } },
  prompt: { parts: [TEXT], "queued?": "yes or no", "origin?": ORIGIN },
  step_start: { "model?": "text" },
  step_finish: {
    "reason?": STOP,
    "reason_raw?": "text",
    "error?": "text",
    "tokens?": USAGE,
    "cost?": "number",
  },
  marker: { kind: MARKERS, title: "text", "text?": "text", "data?": "anything" },
  request: {
    request: REQUEST,
    "outcome?": "answered|expired|cancelled",
    "answer?": ANSWER,
    "closed_at?": "number",
  },
  unknown: { raw: "anything", "title?": "text", "error?": "text" },
  legacy: { role: "user|assistant", content: "text", "thinking?": "text" },
};

const FRAME = {
  session_id: "id",
  at: "number",
  "source?": SOURCE,
  "part_index?": "number",
  "step?": "number",
  "truncated?": { "text?": "number" },
};
const LEGACY = { ...MESSAGE, role: "user|assistant", content: "text", "thinking?": "text" };
const FRAMES: Record<string, Fields> = {
  "message.start": { message_id: "id", "turn_id?": "id", "model?": "text", "response_id?": "text" },
  "message.part_start": { part_id: "id", kind: "text|thinking", "message_id?": "id", "phase?": "text" },
  "message.delta": {
    kind: "text|thinking",
    text: "text",
    "part_id?": "id",
    "offset?": "number",
    "bare?": "yes or no",
  },
  "message.part_end": {
    part_id: "id",
    "text?": "text",
    "signature?": "text",
    "format?": "text",
    "hidden?": HIDDEN,
  },
  "message.tool_call_start": {
    tool_call_id: "text",
    tool_name: "text",
    "part_id?": "id",
    "message_id?": "id",
  },
  "message.tool_call": {
    tool_call_id: "text",
    tool_name: "text",
    arguments_json: "text",
    "part_id?": "id",
    "message_id?": "id",
  },
  "message.tool_progress": { tool_call_id: "text", text: "text", offset: "number" },
  "message.tool_result": {
    tool_call_id: "text",
    "tool_name?": "text",
    is_error: "yes or no",
    status: STATUS,
    output_text: "text",
    "output_end?": "text",
    parts: [IMAGE],
    "ui_extra?": PLAN,
    "part_id?": "id",
    "message_id?": "id",
  },
  "message.image": {
    part_id: "id",
    "message_id?": "id",
    "file_path?": "text",
    "url?": "text",
    "mime_type?": "text",
    "byte_size?": "number",
  },
  "message.file": { part_id: "id", "message_id?": "id", mime: "text", url: "text", "filename?": "text" },
  "message.end": {
    message_id: "id",
    "stop_reason?": STOP,
    "usage?": USAGE,
    "stop_reason_raw?": "text",
    "error?": "text",
  },
  "message.retract": { message_id: "id", "part_id?": "id", reason: "text" },
  "message.legacy": { message: LEGACY },
  "message.record": { message: { ...MESSAGE, role: "=assistant", parts: [TEXT] } },
  "user.message": {
    message_id: "id",
    "part_id?": "id",
    parts: [TEXT],
    "queued?": "yes or no",
    "origin?": ORIGIN,
  },
  "developer.message": { message_id: "id", "part_id?": "id", parts: [TEXT], "title?": "text" },
  "todo.change": { todos: [TODO] },
  "request.open": { request: REQUEST },
  "request.close": { request_id: "id", outcome: "answered|expired|cancelled", "answer?": ANSWER },
  "turn.start": { turn_id: "id" },
  "turn.end": { "turn_id?": "id", "status?": TURN_STATUS },
  "turn.retract": { turn_id: "id", reason: "text" },
  "task.start": { "tool_call_id?": "text", "sub_agent?": LINK },
  "task.finish": { "tool_call_id?": "text", "status?": TURN_STATUS },
  "task.metadata": { "tool_call_id?": "text", metadata: "anything" },
  error: { "part_id?": "id", message: "text", "can_retry?": "yes or no", "data?": "anything" },
  interrupt: { "part_id?": "id", "reason?": "text" },
  marker: {
    part_id: "id",
    "message_id?": "id",
    kind: MARKERS,
    title: "text",
    "text?": "text",
    "data?": "anything",
  },
  unknown: { part_id: "id", raw: "anything", "title?": "text", "error?": "text" },
  "context.usage": { tokens: "number", "limit?": "number" },
  "session.update": { patch: { "agent?": "text", "title?": "text" } },
  end: {},
};

describe("a schema accepts exactly these fields and values:", () => {
  it.each(Object.entries(PARTS))("the stored part %s", (type, fields) => {
    holds(part, { ...STORED, type: `=${type}`, ...fields });
    const isMedia = ["image_url", "image_file", "file", "unknown"].includes(type);
    expect(mediaPart.safeParse(sampleOf({ type: `=${type}`, ...fields }, false)).success).toBe(isMedia);
  });

  it.each(Object.entries(UI_EXTRA))("the card's facts %s", (type, fields) => {
    holds(uiExtra, { type: `=${type}`, ...fields, ...KEPT });
  });

  it.each(Object.entries(MESSAGES))("the message of role %s", (role, fields) => {
    holds(message, { ...MESSAGE, role: `=${role}`, ...fields });
  });

  it.each(Object.entries(ENTRIES))("the transcript's part %s", (type, fields) => {
    holds(transcriptPart, { ...ENTRY, type: `=${type}`, ...fields });
  });

  it.each(Object.entries(FRAMES))("the frame %s", (type, fields) => {
    holds(frame, { ...FRAME, type: `=${type}`, ...fields });
  });

  it("parts of a message", () => {
    holds(usage, USAGE);
    holds(stopReason, STOP);
    holds(toolStatus, STATUS);
    holds(diffHunk, HUNK);
    holds(fileDiff, FILE);
    holds(todoItem, TODO);
  });

  it("a legacy message, which has no parts", () => {
    holds(legacyMessage, LEGACY);
    const value = sampleOf(LEGACY, true) as object;
    expect(legacyMessage.safeParse({ ...value, parts: [] }).success).toBe(false);
    expect(legacyMessage.safeParse({ ...value, parts: undefined }).success).toBe(true);
  });

  it("a request, its options, its answer, its outcome", () => {
    holds(request, REQUEST);
    holds(requestOption, OPTION);
    holds(answer, ANSWER);
    holds(requestOutcome, "answered|expired|cancelled");
  });

  it("a session's facts, its row, and its control", () => {
    const facts = {
      "agent_version?": "text",
      "title?": "text",
      "cwd?": "text",
      "git_branch?": "text",
      "repository?": "text",
      "model?": "text",
      "parent?": PARENT,
      "run?": RUN,
      "forked_from?": FORKED,
      "sample?": "yes or no",
      "provider?": "text",
      "scripted?": "yes or no",
    };
    holds(sessionPatch, { ...facts, "agent?": "text" });
    holds(sessionControl, CONTROL);
    holds(openRequest, OPEN_REQUEST);
    holds(sessionStatus, TURN_STATUS);
    holds(sessionSummary, {
      ...facts,
      "continued_in?": { session_id: "id", "at_byte?": "number" },
      id: "id",
      agent: "text",
      "first_prompt?": "text",
      status: TURN_STATUS,
      "activity?": "text",
      "started_at?": "number",
      last_activity_at: "number",
      turns: "number",
      steps: "number",
      tool_calls: "number",
      errors: "number",
      parts: "number",
      "usage?": USAGE,
      runs: "number",
      "control?": CONTROL,
      "requests?": [OPEN_REQUEST],
      "archived?": "yes or no",
      "file?": "text",
      byte_size: "number",
    });
  });

  it("a place, a turn, a run's link, truncated fields", () => {
    holds(source, SOURCE);
    holds(runLink, LINK);
    holds(turnStatus, TURN_STATUS);
    holds(markerKind, MARKERS);
    holds(turn, {
      id: "id",
      session_id: "id",
      index: "number",
      first_part: "number",
      part_count: "number",
      "prompt_index?": "number",
      status: TURN_STATUS,
      "title?": "text",
      "started_at?": "number",
      "ended_at?": "number",
      steps: "number",
      tool_calls: "number",
      errors: "number",
      "model?": "text",
      "usage?": USAGE,
      "retracted?": "text",
    });
    expect(truncated.parse({ text: 5, thinking: 6 })).toEqual({ text: 5, thinking: 6 });
    expect(truncated.safeParse({ text: "5" }).success).toBe(false);
  });
});

describe("a schema of several kinds", () => {
  it("accepts each of them and rejects unknown kinds", () => {
    for (const [schema, discriminator, fields] of [
      [part, "type", STORED],
      [uiExtra, "type", {}],
      [message, "role", MESSAGE],
      [transcriptPart, "type", ENTRY],
      [frame, "type", FRAME],
    ] as const) {
      const value = sampleOf(fields, false) as object;
      expect(schema.safeParse({ ...value, [discriminator]: "of a newer version" }).success).toBe(false);
      expect(schema.safeParse(value).success).toBe(false);
    }
  });

  it("is completely covered here", () => {
    const names = (options: readonly { shape: { type?: { value: string }; role?: { value: string } } }[]) =>
      options.map(({ shape }) => (shape.type ?? shape.role)?.value);
    expect(names(part.options as never)).toEqual(Object.keys(PARTS));
    expect(names(uiExtra.options as never)).toEqual(Object.keys(UI_EXTRA));
    expect(names(message.options as never)).toEqual(Object.keys(MESSAGES));
    expect(names(transcriptPart.options as never)).toEqual(Object.keys(ENTRIES));
    expect(names(frame.options as never)).toEqual(Object.keys(FRAMES));
  });

  it("shows only images as images, by URL or as a file", () => {
    const image = (media: object) =>
      transcriptPart.safeParse({ ...(sampleOf(ENTRY, false) as object), type: "image", media }).success;
    expect(image({ type: "image_url", url: "data:," })).toBe(true);
    expect(image({ type: "image_file", file_path: "/a" })).toBe(true);
    expect(image({ type: "file", mime: "a", url: "b" })).toBe(false);
  });
});
