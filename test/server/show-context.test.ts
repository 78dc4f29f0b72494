import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contextsOf } from "../../src/server/cli/show-context.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { codex } from "../../src/sources/codex/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { sharedData } from "../shared-data.ts";

async function* inPieces(bytes: Uint8Array, size = 4_096) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function contexts(format: Format, file: string, bytes: Uint8Array) {
  const all = [];
  for await (const context of contextsOf(file, format, inPieces(bytes))) all.push(context);
  return all;
}

const read = async (lines: readonly object[]) => {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return await contexts(claudeCode, "/p/projects/x/s.jsonl", Buffer.from(text));
};

/** The log's own notation: sorted keys, no spaces. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([key, member]) => [key, sorted(member)]),
        )
      : value;
const digestOf = (value: unknown) =>
  createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex");

const sessionId = "0b8f6f0e-5c6b-4f0e-9a52-4f3a0c6d2e11";
const common = { sessionId, version: "2.1.332", cwd: "/p", timestamp: "2026-11-20T10:00:00.000Z" };
const user = (uuid: string, parentUuid: string | null, content: unknown, more = {}) => ({
  ...common,
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
  ...more,
});
const assistant = (uuid: string, parentUuid: string, id: string, content: unknown[], more = {}) => ({
  ...common,
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, role: "assistant", model: "m", content, usage: { input_tokens: 1, output_tokens: 1 } },
  ...more,
});
const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

const shape = { system: [{ type: "text", text: "You are careful." }], tools: [{ name: "Bash" }] };
const asked = { role: "user", content: [{ type: "text", text: "List the files" }] };
const called = {
  role: "assistant",
  content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
};
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a.txt" }] };
const reminder = { role: "system", content: [{ type: "text", text: "Be brief." }] };
const params = { model: "m", max_tokens: 100 };
const request = (id: string, more: object) => ({
  type: "api-request",
  sessionId,
  id,
  timestamp: common.timestamp,
  shapeHash: digestOf(shape),
  params,
  ...more,
});

/** A session of two steps; the first was tried twice. The second request repeats a message and caches its last block. */
const session = [
  user(uuidOf(1), null, "List the files"),
  { type: "api-request-shape", sessionId, shapeHash: digestOf(shape), shape },
  request("r0", {
    keep: 0,
    tail: [digestOf(asked)],
    requestDigest: digestOf({ ...shape, ...params, messages: [asked] }),
  }),
  request("r1", {
    base: "r0",
    keep: 1,
    tail: [],
    requestDigest: digestOf({ ...shape, ...params, messages: [asked] }),
  }),
  assistant(uuidOf(2), uuidOf(1), "msg_1", called.content, { requestRef: "r1" }),
  user(uuidOf(3), uuidOf(2), result.content),
  { type: "api-request-blob", sessionId, hash: digestOf(reminder), message: reminder },
  request("r2", {
    base: "r1",
    keep: 1,
    tail: [digestOf(reminder), digestOf(called), digestOf(result), digestOf(reminder)],
    cacheControl: [{ path: ["messages", 4, "content", 0], value: { type: "ephemeral" } }],
    requestDigest: digestOf({
      ...shape,
      ...params,
      messages: [
        asked,
        reminder,
        called,
        result,
        { ...reminder, content: [{ ...reminder.content[0], cache_control: { type: "ephemeral" } }] },
      ],
    }),
  }),
  assistant(uuidOf(4), uuidOf(3), "msg_2", [{ type: "text", text: "One file." }], { requestRef: "r2" }),
];

describe("what the model was given at a step", () => {
  it("is the recorded request, whose digest is the agent's own", async () => {
    const [, first, second] = await read(session);
    expect(first).toMatchObject({ step: 1, request_id: "r1", recorded: true, digest_matches: true });
    expect(second).toMatchObject({ step: 2, request_id: "r2", recorded: true, digest_matches: true });
    expect(second?.request.messages).toHaveLength(5);
    expect(second?.request).toMatchObject({ ...shape, ...params });
  });

  it("lists an attempt without an answer as no step", async () => {
    const all = await read(session);
    expect(all.map(({ step, request_id }) => [step, request_id])).toEqual([
      [null, "r0"],
      [1, "r1"],
      [2, "r2"],
    ]);
  });

  it("says what each message was made from, and what entered since the request before", async () => {
    const [, , second] = await read(session);
    expect(second?.origins.map(({ lines }) => lines)).toEqual([[1], [7], [5], [6], [7]]);
    expect(second?.origins.map(({ part_ids }) => part_ids.length)).toEqual([1, 0, 1, 1, 0]);
    expect(second?.entered).toEqual([1, 2, 3, 4]);
    expect(second?.left).toEqual([]);
  });

  it("says what is missing where the file's beginning was cut away", async () => {
    const [context] = await read(session.slice(6));
    expect(context).toMatchObject({ recorded: true, digest_matches: false });
    expect(context?.missing).toEqual(["system prompt and tools", "3 of 5 messages"]);
  });

  it("is rebuilt from the transcript where nothing is logged, and says so", async () => {
    const { lines, session_id } = generateClaudeSession({ parts: 40, turns: 3 });
    const all = await contexts(
      claudeCode,
      `/p/projects/x/${session_id}.jsonl`,
      Buffer.from(lines.join("\n")),
    );
    expect(all.length).toBeGreaterThan(3);
    for (const context of all) {
      expect(context).toMatchObject({ recorded: false, digest: null });
      expect(context.missing).toContain("system prompt");
    }
    const before = all.at(-2)?.request.messages ?? [];
    expect(all.at(-1)?.request.messages.slice(0, before.length)).toEqual(before);
  });
});

const recorded = sharedData("corpus", "recorded");
const below = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name));

describe.skipIf(!recorded)("recorded sessions of 2.1.332 (skipped without the shared data)", () => {
  const folder = recorded ?? "";

  it("give every request with the agent's own digest", async () => {
    let requests = 0;
    for (const file of below(join(folder, "claude-code-2.1.332"))) {
      for (const context of await contexts(claudeCode, file, readFileSync(file))) {
        if (!context.recorded) continue;
        requests += 1;
        expect(context, `${file} ${context.request_id}`).toMatchObject({ missing: [], digest_matches: true });
      }
    }
    expect(requests).toBeGreaterThan(300);
  });

  it("give the bodies that the model server received", async () => {
    const received = new Map<string, string>();
    for (const line of readFileSync(join(folder, "received-requests-2.1.332/requests.jsonl"), "utf8")
      .trim()
      .split("\n")) {
      const { requestId, file } = JSON.parse(line);
      received.set(requestId, join(folder, "received-requests-2.1.332", file));
    }
    let compared = 0;
    for (const file of below(join(folder, "claude-code-2.1.332"))) {
      const ids = new Map<string, string>();
      for (const line of readFileSync(file, "utf8").split("\n")) {
        const { requestRef, requestId, requestSessionId } = line === "" ? {} : JSON.parse(line);
        if (requestRef !== undefined && requestSessionId === undefined) ids.set(requestRef, requestId);
      }
      for (const { request_id, request } of await contexts(claudeCode, file, readFileSync(file))) {
        const body = received.get(ids.get(request_id ?? "") ?? "");
        if (body === undefined) continue;
        compared += 1;
        expect(asReceived(request), `${file} ${request_id}`).toEqual(
          asReceived(JSON.parse(readFileSync(body, "utf8"))),
        );
      }
    }
    expect(compared).toBeGreaterThan(40);
  });

  it("of Codex are rebuilt, one for each step", async () => {
    const [file = ""] = below(join(folder, "codex"));
    const all = await contexts(codex, file, readFileSync(file));
    expect(all.map(({ step }) => step)).toEqual(all.map((_, index) => index + 1));
    expect(all.every((context) => !context.recorded)).toBe(true);
  });
});

/** A body without what the agent keeps out of its log, its texts as blocks. */
function asReceived(body: Record<string, unknown>): unknown {
  const { metadata: _, stream: __, safeguards: ___, betas: ____, system, messages, ...rest } = body;
  const isBilling = (block: { text?: string }) =>
    block.text?.startsWith("x-anthropic-billing-header") === true;
  return {
    ...rest,
    system: Array.isArray(system) ? system.filter((block) => !isBilling(block)) : system,
    messages: (Array.isArray(messages) ? messages : []).map((message) => ({
      ...message,
      content:
        typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content,
    })),
  };
}
