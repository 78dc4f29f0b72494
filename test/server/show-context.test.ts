import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contextsOf } from "../../src/server/cli/show-context.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { codex } from "../../src/sources/codex/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { loggedSession, params, shape } from "../logged-session.ts";
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

describe("the model's input at a step", () => {
  it("is the recorded request, with the agent's own digest", async () => {
    const [, first, second] = await read(loggedSession);
    expect(first).toMatchObject({ step: 1, request_id: "r1", recorded: true, digest_matches: true });
    expect(second).toMatchObject({ step: 2, request_id: "r2", recorded: true, digest_matches: true });
    expect(second?.request.messages).toHaveLength(5);
    expect(second?.request).toMatchObject({ ...shape, ...params });
  });

  it("does not count an attempt without an answer as a step", async () => {
    const all = await read(loggedSession);
    expect(all.map(({ step, request_id }) => [step, request_id])).toEqual([
      [null, "r0"],
      [1, "r1"],
      [2, "r2"],
    ]);
  });

  it("names the origin of each message, and the changes since the previous request", async () => {
    const [, , second] = await read(loggedSession);
    expect(second?.origins.map(({ lines }) => lines)).toEqual([[1], [7], [5], [6], [7]]);
    expect(second?.origins.map(({ part_ids }) => part_ids.length)).toEqual([1, 0, 1, 1, 0]);
    expect(second?.entered).toEqual([1, 2, 3, 4]);
    expect(second?.left).toEqual([]);
  });

  it("reports what is missing if the file's beginning was removed", async () => {
    const [context] = await read(loggedSession.slice(6));
    expect(context).toMatchObject({ recorded: true, digest_matches: false });
    expect(context?.missing).toEqual(["system prompt and tools", "3 of 5 messages"]);
  });

  it("is rebuilt from the transcript if nothing is logged, and says so", async () => {
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

  it("have every request with the agent's own digest", async () => {
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

  it("have the bodies that the model server received", async () => {
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

  it("of Codex are rebuilt, one per step", async () => {
    const [file = ""] = below(join(folder, "codex"));
    const all = await contexts(codex, file, readFileSync(file));
    expect(all.map(({ step }) => step)).toEqual(all.map((_, index) => index + 1));
    expect(all.every((context) => !context.recorded)).toBe(true);
  });
});

/** A body without the fields that the agent omits from its log, with texts as blocks. */
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
