import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { changeLive, type LivePart } from "../../../src/model/live-text.ts";
import { asObject, asString, asText, type JsonObject } from "../../../src/model/narrow.ts";
import { createMessageDisplayReader } from "../../../src/server/attach/claude-code/message-display.ts";
import { createLiveNotificationReader } from "../../../src/server/attach/codex/live-notification.ts";
import type { LiveEvent } from "../../../src/server/attach/live-text/live-event.ts";
import { createLiveTexts } from "../../../src/server/attach/live-text/live-texts.ts";
import { createPartEventReader } from "../../../src/server/attach/opencode/part-events.ts";
import { sharedData } from "../../shared-data.ts";

// Recorded reports of real agents.

const trace = (name: string) => sharedData("agents/attach", name);
function linesOf(path: string | undefined): JsonObject[] {
  if (path === undefined) return [];
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => asObject(JSON.parse(line)) ?? {});
}

/** The texts of each session at the end, for a client that received no records. */
function textsOf(events: readonly LiveEvent[]): Map<string, string> {
  const texts = createLiveTexts({ now: () => 0 });
  const parts = new Map<string, readonly LivePart[]>();
  for (const session of new Set(events.map(({ session_id }) => session_id)))
    texts.subscribe(session, (change) => parts.set(session, changeLive(parts.get(session) ?? [], change)));
  const found = new Map<string, string>();
  for (const event of events) {
    texts.report(event);
    for (const { id, text } of parts.get(event.session_id) ?? []) found.set(id, text);
  }
  texts.close();
  return found;
}

describe.skipIf(!trace("codex-appserver.jsonl"))("the recorded notifications of Codex", () => {
  it("yield the text of every item and the output of commands", () => {
    const read = createLiveNotificationReader();
    const whole = new Map<string, string>();
    const outputs = new Map<string, string>();
    const events = linesOf(trace("codex-appserver.jsonl")).flatMap(({ from, message }) => {
      const { method, params } = asObject(message) ?? {};
      if (from !== "server" || typeof method !== "string") return [];
      const item = asObject(asObject(params)?.item);
      if (method === "item/completed" && item?.type === "agentMessage")
        whole.set(asText(item.id) ?? "", asString(item.text) ?? "");
      if (method === "item/commandExecution/outputDelta") {
        const { itemId, delta } = asObject(params) ?? {};
        outputs.set(`${itemId}`, `${outputs.get(`${itemId}`) ?? ""}${delta}`);
      }
      return read(method, asObject(params), 1_000);
    });
    const texts = textsOf(events);
    expect(whole.size).toBeGreaterThan(4);
    for (const [id, text] of whole) expect(texts.get(id)).toBe(text);
    expect(outputs.size).toBeGreaterThan(0);
    for (const [id, text] of outputs) expect(texts.get(id)).toBe(text);
    expect([...texts.values()]).toContain("**Making** a file");
  });
});

describe.skipIf(!trace("opencode-event.jsonl"))("the recorded events of opencode", () => {
  it("yield the text of every answer and thought, but not the user's", () => {
    const read = createPartEventReader(() => 1_000);
    const whole = new Map<string, string>();
    const events = linesOf(trace("opencode-event.jsonl")).flatMap(({ event }) => {
      const { type, properties } = asObject(event) ?? {};
      const part = asObject(asObject(properties)?.part);
      const isWhole = asObject(part?.time)?.end !== undefined;
      if (type === "message.part.updated" && isWhole && /^(text|reasoning)$/.test(`${part?.type}`))
        whole.set(asText(part?.id) ?? "", asString(part?.text) ?? "");
      return read(asText(type) ?? "", asObject(properties) ?? {});
    });
    expect(whole.size).toBeGreaterThan(10);
    expect(textsOf(events)).toEqual(whole);
    // The deltas alone yield the same texts.
    expect(textsOf(events.filter(({ type }) => type !== "end"))).toEqual(whole);
  });
});

describe.skipIf(!trace("claude-hooks.jsonl"))("the recorded hooks of Claude Code", () => {
  it("yield the text of every message for any order of its lines", () => {
    const bodies = linesOf(trace("claude-hooks.jsonl")).flatMap(({ ev, body }) =>
      ev === "req" ? [body] : [],
    );
    const read = createMessageDisplayReader(() => 1_000);
    const texts = [...textsOf(bodies.flatMap((body) => read(body) ?? [])).values()];
    expect(texts).toContain("The file is made.\nSecond line.\nThird line.");
    const reversed = createMessageDisplayReader(() => 1_000);
    const others = [...textsOf(bodies.toReversed().flatMap((body) => reversed(body) ?? [])).values()];
    expect(others.toSorted()).toEqual(texts.toSorted());
  });
});
