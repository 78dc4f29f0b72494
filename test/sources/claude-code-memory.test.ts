import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_CHECKPOINT } from "../../src/sources/checkpoint.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { sharedData } from "../shared-data.ts";
import { call, type Fields, result, SESSION, say, writer } from "./claude-support.ts";
import { lineEnds, readOn, readResumed } from "./resumed.ts";

const PATH = `/projects/p/${SESSION}.jsonl`;
const encoder = new TextEncoder();

/** Reads a session of any length in chunks. Returns the largest state, in bytes, and how often there was none. */
function statesOf(pieces: Iterable<string>): { largest: number; missing: number; read: number } {
  const reader = claudeCode.createReader({ path: PATH });
  const out = { largest: 0, missing: 0, read: 0 };
  for (const piece of pieces) {
    const bytes = encoder.encode(piece);
    out.read += bytes.length;
    reader.push(bytes);
    const checkpoint = reader.checkpoint?.();
    if (checkpoint === undefined) out.missing += 1;
    else out.largest = Math.max(out.largest, encoder.encode(checkpoint.state).length);
  }
  return out;
}

/** How far back lines refer, within what is saved: in lines, and in rounds of `busySession`. */
const NEAR_LINES = 40;
const NEAR_ROUNDS = 15;

/**
 * A session in which everything that a reader remembers grows, and whose lines refer to earlier ones: they repeat, answer and
 * retract them, and rewind to them.
 */
function busySession(rounds: number): string {
  const { line, user, assistant, queue } = writer();
  const next = seeded(7);
  const lines: Fields[] = [];
  const words = (count: number) => "some words of a text ".repeat(count);
  const earlier = () => lines[Math.max(0, lines.length - 1 - Math.floor(next() * NEAR_LINES))] ?? {};
  for (let n = 0; n < rounds; n += 1) {
    lines.push(queue("enqueue", `queued ${n} ${words(10)}`));
    lines.push(user(`prompt ${n} ${words(20)}`));
    lines.push(
      assistant(`m${n}`, [
        { type: "thinking", thinking: words(30), signature: `signature ${n}`.repeat(40) },
        say(`answer ${n} ${words(30)}`),
      ]),
      assistant(`m${n}`, [
        call(`run${n}`, { prompt: `task ${n} ${words(100)}`, description: `d${n}` }, "Task"),
      ]),
      assistant(`m${n}`, [call(`read${n}`, { file_path: `/f/${n}`, content: words(50) }, "Write")]),
    );
    lines.push(
      user([result(`run${n}`, `Async agent launched successfully. agentId: a${n} ${words(20)}`)], {
        toolUseResult: { isAsync: true, status: "async_launched", agentId: `a${n}` },
      }),
    );
    if (n % 3 > 0) lines.push(user([result(`read${n}`, `written ${words(10)}`)]));
    lines.push(user([result(`lost${n}`, "no call")]));
    lines.push(user(`Caveat: The messages below were ${n}`, { isMeta: true }));
    lines.push(line("pr-link", { prUrl: `https://example.org/pull/${n}`, prNumber: n, prRepository: "a/b" }));
    lines.push({ type: "summary", summary: `Title ${n}`, leafUuid: `leaf-${n}` });
    lines.push(line("system", { subtype: "informational", content: `note ${n}` }));
    switch (Math.floor(next() * 6)) {
      case 0:
        lines.push({ ...earlier() });
        break;
      case 1:
        lines.push({ ...earlier(), version: "2.1.200" });
        break;
      case 2:
        lines.push(assistant(`w${n}`, [say("instead")], null, { supersedesUuids: [earlier().uuid] }));
        break;
      case 3:
        lines.push(user(`again ${n}`, { parentUuid: earlier().uuid ?? null }));
        break;
      case 4:
        lines.push(line("system", { subtype: "compact_boundary", compactMetadata: { trigger: "auto" } }));
        lines.push({ ...earlier(), uuid: `copy-${n}` });
        break;
      default:
        lines.push(user([result(`read${Math.max(0, n - Math.floor(next() * NEAR_ROUNDS))}`, "late")]));
    }
  }
  return lines.map((each) => `${JSON.stringify(each)}\n`).join("");
}

it("resumes from a checkpoint, with lines that refer back as far as is saved", () => {
  const bytes = encoder.encode(busySession(12));
  const cuts = lineEnds(bytes, 150);
  const { resumes, largest, records, facts } = readResumed(claudeCode, PATH, bytes, cuts);
  const whole = readOn(claudeCode, PATH, bytes, []);
  expect(records).toEqual(whole.records);
  expect(resumes).toBe(cuts.length);
  expect(largest).toBeLessThanOrEqual(MAX_CHECKPOINT);
  // The facts of the calls that a resumed reader remembers.
  const calls = whole.facts.sessions[0]?.calls ?? [];
  const known = facts.sessions[0]?.calls ?? [];
  expect(known.length).toBeGreaterThan(5);
  expect(known).toEqual(calls.slice(-known.length));
});

it("does not remember more of a session that is several times longer", () => {
  const pieces = (rounds: number) => (busySession(rounds).match(/(?:.*\n){1,397}/g) ?? []) as string[];
  const short = statesOf(pieces(300));
  const long = statesOf(pieces(2_000));
  expect(long.read).toBeGreaterThan(6 * short.read);
  expect([short.missing, long.missing]).toEqual([0, 0]);
  expect(long.largest).toBeLessThan(1.2 * short.largest);
  expect(long.largest).toBeLessThanOrEqual(MAX_CHECKPOINT);
});

/** The longest sessions of the corpus. */
const LONGEST = ["b00b80af", "e8106766", "fdd24234", "2a8af1a8", "a032db5a"];
const folder = sharedData("corpus/claude-code/projects");

/** The lines of sessions repeatedly, each time with other ids, in chunks. */
function* scaled(texts: readonly string[], bytes: number): Generator<string> {
  let written = 0;
  for (let round = 1; written < bytes; round += 1) {
    for (const text of texts) {
      const again = text.replaceAll(
        /"((?:parent|leaf|logicalParent)?[uU]uid|id|tool_use_id)":"([^"]{8,})"/g,
        (_, name: string, id: string) => `"${name}":"${round.toString(16).padStart(6, "0")}${id.slice(6)}"`,
      );
      for (const piece of again.match(/(?:.*\n){1,40}/g) ?? []) {
        written += piece.length;
        yield piece;
      }
    }
  }
}

const MEGABYTES = times(25, 100);

describe.skipIf(!folder)(`sessions of ${MEGABYTES} MB (skipped without the shared data)`, () => {
  it("have a state of at most 256 KB", () => {
    const root = folder ?? "";
    const names = readdirSync(root, { recursive: true, encoding: "utf8" });
    const texts = LONGEST.map((start) => {
      const name = names.find((each) => each.includes(`/${start}`) && each.endsWith(".jsonl"));
      return readFileSync(join(root, name ?? start), "utf8");
    });
    const { largest, missing, read } = statesOf(scaled(texts, MEGABYTES * 1_000_000));
    expect(read).toBeGreaterThanOrEqual(MEGABYTES * 1_000_000);
    expect(missing).toBe(0);
    expect(largest).toBeLessThanOrEqual(256 * 1024);
  }, 300_000);
});
