import { expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { droid } from "../../src/sources/droid/format.ts";
import { accountOf } from "./account.ts";

const ID = "7c8d9e0f-1a2b-4c3d-8e4f-506172839405";

/** The outcomes of messages after the start of a session. */
function outcomesOf(...messages: object[]): string[] {
  const lines = [
    { type: "session_start", id: ID, title: "Gulls", owner: "mara", version: 2, cwd: "/home/mara" },
    ...messages.map((message, n) => ({
      type: "message",
      id: `m${n}`,
      timestamp: new Date(Date.UTC(2026, 9, 3, 10, 0, n)).toISOString(),
      message,
    })),
  ];
  const { outcomes } = accountOf(droid, `/h/.factory/sessions/-home-mara/${ID}.jsonl`, lines);
  return outcomes.slice(1, lines.length);
}

const text = (value: string) => [{ type: "text", text: value }];

it("messages of Droid's program are context or notes", () => {
  expect(
    outcomesOf(
      { role: "user", content: text("Count the gulls") },
      { role: "system", content: text("A task ended"), visibility: "llm_only" },
      { role: "system", content: text("Signed in\nagain"), visibility: "user_only" },
      { role: "system", content: text("Both see this") },
      { role: "system", content: [], visibility: "both" },
    ).slice(1),
  ).toEqual([
    'shown · [context] Context from Droid "A task ended"',
    'shown · [note] Signed in "Signed in\\nagain"',
    'shown · [note] Both see this "Both see this"',
    "hidden: empty message",
  ]);
});

it("documents that a person attached to Droid have their name, and their text or path", () => {
  const pdf = (fields: object) => ({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: "", ...fields },
  });
  const [outcome] = outcomesOf({
    role: "user",
    content: [
      ...text("Read these"),
      pdf({ name: "tides.pdf", path: "/home/mara/tides.pdf" }),
      pdf({ name: "gulls.pdf", parsed_data: "42 gulls" }),
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "nests", name: "nests.txt" },
      },
    ],
  });
  const file = (mime: string, url: string, filename: string) =>
    JSON.stringify({ type: "file", mime, url, filename });
  expect(outcome).toContain(file("application/pdf", "file:///home/mara/tides.pdf", "tides.pdf"));
  expect(outcome).toContain(file("text/plain", "data:text/plain;charset=utf-8,42%20gulls", "gulls.pdf"));
  expect(outcome).toContain(file("text/plain", "data:text/plain;charset=utf-8,nests", "nests.txt"));
});

it("the tokens of a Droid session are the totals in its settings, and each increase counts once", () => {
  const reader = droid.createReader({ path: `/h/.factory/sessions/-home-mara/${ID}.jsonl` });
  const lines = [
    { type: "session_start", id: ID, title: "Gulls", version: 2 },
    { type: "message", id: "m0", message: { role: "user", content: text("Count the gulls") } },
    { type: "message", id: "m1", message: { role: "assistant", content: text("42") } },
  ];
  const frames = reader
    .push(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")))
    .flatMap((record) => record.frames);
  const readTotal = (inputTokens: number, outputTokens: number) => {
    const tokenUsage = { inputTokens, outputTokens, cacheReadTokens: 70, cacheCreationTokens: 0 };
    const inclusiveTokenUsage = { inputTokens: 9_999, outputTokens: 9_999 };
    const side = JSON.stringify({ model: "claude-opus-5", tokenUsage, inclusiveTokenUsage });
    frames.push(...reader.readSide(side).flatMap((record) => record.frames));
  };
  readTotal(100, 20);
  readTotal(100, 20);
  readTotal(130, 25);
  const transcript = frames.reduce(accumulate, emptyTranscript(ID));
  expect([...transcript.turns].map((turn) => [turn?.status, turn?.usage])).toEqual([
    ["completed", { input: 130, output: 25, cache_read: 70 }],
  ]);
});
