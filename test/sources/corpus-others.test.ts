import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formats } from "../../src/sources/index.ts";
import { expectRead } from "../fuzz/readers.ts";
import { sharedData } from "../shared-data.ts";
import { bytesOf, expectAccounted, orderOf, readSession } from "./record-laws.ts";

type Json = Record<string, unknown>;

/** The content of a file, counted without its reader: prompts, thoughts, texts and calls, in line order. */
type Count = (lines: readonly Json[]) => string[];

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const at = (value: unknown, name: string): unknown => (value as Json | undefined)?.[name];

/** Messages of Anthropic blocks: Cursor and Droid. */
const blocks: Count = (lines) =>
  lines.flatMap((line) => {
    const message = at(line, "message") as Json | undefined;
    const role = at(message, "role") ?? line.role;
    return list(at(message, "content")).flatMap((block) => {
      if (block.type === "tool_use") return [`c:${String(block.name)}`];
      if (block.type === "thinking") return ["T"];
      if (block.type === "text") return [role === "user" ? "U" : "x"];
      return [];
    });
  });

const kimi: Count = (lines) => {
  const calls = new Set<unknown>();
  return lines.flatMap((line) => {
    const event = at(line, "event");
    if (line.type === "turn.prompt") return ["U"];
    if (at(event, "type") === "tool.call") calls.add(at(event, "toolCallId"));
    if (at(event, "type") === "tool.call") return [`c:${String(at(event, "name"))}`];
    if (at(event, "type") !== "content.part") return [];
    return [at(at(event, "part"), "type") === "think" ? "T" : "x"];
  });
};

const grok: Count = (lines) =>
  lines.flatMap((line) => {
    if (line.type === "user") return line.prompt_index === undefined ? [] : ["U"];
    if (line.type === "reasoning") return ["T"];
    if (line.type === "backend_tool_call") return [`c:${String(at(line.kind, "tool_type"))}`];
    if (line.type !== "assistant") return [];
    const text = line.content === "" ? [] : ["x"];
    return [...text, ...list(line.tool_calls).map(({ name }) => `c:${String(name)}`)];
  });

/** Each call and each text once, at its first occurrence, because later records of an answer repeat them. */
const iflow: Count = (lines) => {
  const seen = new Set<string>();
  return lines.flatMap((line) => {
    const content = at(line.message, "content");
    if (typeof content === "string") return ["U"];
    return list(content).flatMap((block) => {
      const name =
        block.type === "tool_use" ? `c:${String(block.name)}` : block.type === "text" ? "x" : undefined;
      const key = JSON.stringify([block.id, block.text, block.type]);
      if (name === undefined || seen.has(key)) return [];
      seen.add(key);
      return [name];
    });
  });
};

/** Messages of pi's format. */
const pi: Count = (lines) =>
  lines.flatMap((line) => {
    const message = at(line, "message");
    const role = at(message, "role");
    return list(at(message, "content")).flatMap((block) => {
      if (block.type === "toolCall") return [`c:${String(block.name)}`];
      if (block.type === "text" && role === "user") return ["U"];
      return block.type === "text" && role === "assistant" ? ["x"] : [];
    });
  });

const COUNTS: Readonly<Record<string, Count>> = {
  "cursor-large": blocks,
  "droid-session_store_large": blocks,
  "grok-chat_history": grok,
  "iflow-session-5de701fc-7454-4858-a249-95cac4fd3b51": iflow,
  "kimi-assistant_tools": kimi,
  "kimi-subagent_agent-0": kimi,
  "openclaw-large": pi,
};

const folder = sharedData("corpus", "other");
const files = (folder === undefined ? [] : readdirSync(folder))
  .filter((name) => COUNTS[name.replace(/\.jsonl$/, "")] !== undefined)
  .map((name) => ({ name, path: join(folder ?? "", name) }));

it.skipIf(folder === undefined)(
  "finds every file of these agents (skipped without ../shared/corpus/other)",
  () => {
    expect(files.map(({ name }) => name)).toEqual(Object.keys(COUNTS).map((name) => `${name}.jsonl`));
  },
);

describe.skipIf(folder === undefined).each(files)(
  "$name (skipped without ../shared/corpus/other)",
  ({ name, path }) => {
    const text = readFileSync(path, "utf8");
    const bytes = bytesOf(path);
    const format = formats.find((candidate) => candidate.detect(bytes.subarray(0, 65_536)));

    it("is recognized by its content", () => {
      expect(name.startsWith(format?.id ?? "no agent")).toBe(true);
    });

    it("accounts for every line, recognizes all of them, and does not depend on chunk boundaries", () => {
      if (format === undefined) throw new Error(`No format reads ${name}`);
      const session = readSession(format, path, [bytes]);
      expectAccounted(session, text);
      expect(session.records.filter(({ disposition }) => /^un/.test(disposition.kind))).toEqual([]);
      expectRead(format, bytes, [10, 999, 5_003, 9_001, 20_000]);
    });

    it("shows prompts, thoughts, texts and calls in the order of an independent count, and pairs every result", () => {
      if (format === undefined) throw new Error(`No format reads ${name}`);
      const { parts } = readSession(format, path, [bytes]);
      const order = orderOf(parts)
        .split(" ")
        .filter((word) => /^(?:U|u|T|x|c:)/.test(word))
        .map((word) => word.replace(/[!?-]$/, ""));
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Json);
      expect(order).toEqual(COUNTS[name.replace(/\.jsonl$/, "")]?.(lines));
      const results = parts.filter(({ type }) => type === "tool_result");
      expect(results.length).toBeGreaterThan(0);
      for (const result of results) expect(result).toHaveProperty("call_index");
    });
  },
);
