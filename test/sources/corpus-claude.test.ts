import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { sharedData } from "../shared-data.ts";

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

function readWhole(path: string): ReadRecord[] {
  const reader = claudeCode.createReader({ path });
  return [...reader.push(readFileSync(path)), ...reader.close()];
}

function fold(records: ReadRecord[]): Map<string, Transcript> {
  const transcripts = new Map<string, Transcript>();
  for (const frame of records.flatMap(({ frames }) => frames)) {
    const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
    transcripts.set(frame.session_id, accumulate(before, frame));
  }
  return transcripts;
}

const partsOf = (transcript: Transcript): TranscriptPart[] =>
  transcript.parts.slice().flatMap((part) => (part === undefined ? [] : [part]));

/** Records of the file, without the last one with frames inferred from its end. */
const ofFile = (records: ReadRecord[]): ReadRecord[] => records.filter(({ place }) => place.length > 0);

const roots = ["claude-code", "recorded/claude-code", "recorded/growth-claude-code"];
const files = roots.flatMap((root) => {
  const folder = sharedData("corpus", root);
  return folder === undefined ? [] : filesBelow(folder, ".jsonl");
});
const corpus = sharedData("corpus") ?? "";

describe.skipIf(!sharedData())(
  "every available Claude Code session (skipped without the shared data)",
  () => {
    it.each(files.map((file) => [relative(corpus, file), file]))("%s", (_name, file) => {
      const bytes = readFileSync(file);
      const records = readWhole(file);

      // Accounting: every non-empty line has a record, and each JSON line was read.
      const physical = bytes.toString("utf8").split("\n");
      const lines = new Set(ofFile(records).map(({ place }) => place.line));
      expect(lines.size).toBe(physical.filter((line) => line !== "").length);
      for (const { place, disposition } of records) {
        if (disposition.kind === "unreadable") {
          const text = bytes.subarray(place.byte, place.byte + place.length).toString("utf8");
          expect(() => JSON.parse(text)).toThrow();
        }
      }

      // A shown record has a part in its place; a hidden one has none.
      const transcripts = fold(records);
      const made = new Set<number>();
      for (const transcript of transcripts.values()) {
        for (const part of partsOf(transcript)) {
          const place = linePlace(part.source);
          if (place !== undefined) made.add(place.byte);
        }
      }
      for (const { place, disposition } of ofFile(records)) {
        const hasPart = made.has(place.byte);
        if (
          disposition.kind === "shown" ||
          disposition.kind === "unknown" ||
          disposition.kind === "unreadable"
        ) {
          expect({ line: place.line, hasPart }).toEqual({ line: place.line, hasPart: true });
        } else if (disposition.kind === "folded" && disposition.into === "the queued prompt") {
          // The model's text about it is a separate record, or in older files replaces this one.
        } else expect({ line: place.line, hasPart }).toEqual({ line: place.line, hasPart: false });
      }

      // The order is the file's, and no id occurs twice.
      for (const transcript of transcripts.values()) {
        expect(transcript.gap).toBeUndefined();
        let last = -1;
        const ids = new Set<string>();
        for (const part of partsOf(transcript)) {
          expect(ids.has(part.id)).toBe(false);
          ids.add(part.id);
          const place = linePlace(part.source);
          if (place === undefined) continue;
          expect(place.byte).toBeGreaterThanOrEqual(last);
          last = place.byte;
        }
      }

      const checker = createOrderChecker();
      const violations = records
        .flatMap(({ frames }) => frames)
        .flatMap((frame) => checker.check(frame))
        .filter(({ rule }) => rule !== "orphan_result");
      expect(violations).toEqual([]);
    });

    it("is the same in chunks of 1,000 bytes with a settle after each", () => {
      for (const file of files) {
        const bytes = readFileSync(file);
        const reader = claudeCode.createReader({ path: file });
        const records: ReadRecord[] = [];
        for (let from = 0; from < bytes.length; from += 1000) {
          records.push(...reader.push(bytes.subarray(from, from + 1000)), ...reader.settle());
        }
        records.push(...reader.close());
        const whole = fold(readWhole(file));
        for (const [id, transcript] of fold(records)) {
          expect(partsOf(transcript)).toEqual(partsOf(whole.get(id) ?? emptyTranscript(id)));
        }
      }
    });
  },
);

// --- The order that the model played ----------------------------------------------------------------------------------

interface Recorded {
  file: string;
  what: string;
  intended: string;
}

function recordedSessions(): Recorded[] {
  const index = sharedData("corpus", "recorded", "INDEX.tsv");
  if (index === undefined) return [];
  return readFileSync(index, "utf8")
    .split("\n")
    .map((line) => line.split("\t"))
    .filter(([file, format]) => format === "claude-code" && file?.endsWith(".jsonl") === true)
    .flatMap(([file = "", , , , , what = "", intended = ""]) =>
      intended === "" ? [] : [{ file, what, intended }],
    );
}

/** The header's notation as a list of the parts that the file must show, without played but unwritten ones (`~`). */
function expectedOrder(intended: string): string[] {
  return intended.split(" ").flatMap((token) => {
    if (token === "|" || token === "" || token.endsWith("~") || token.startsWith("x(blank)")) return [];
    if (/^[UP]\[/.test(token)) return [`prompt ${token.slice(2, -1)}`];
    if (token.startsWith("T")) return ["thinking"];
    if (token === "x") return ["text"];
    if (token.startsWith("r:")) return ["server result"];
    const call = /^c:(.+?)([!?]?)$/.exec(token);
    if (call === null) throw new Error(`The index has a token that this test cannot read: ${token}`);
    const [, name, end] = call;
    return [`call ${name} ${end === "!" ? "error" : end === "?" ? "no result" : "ok"}`];
  });
}

const scenario = (text: string): string | undefined => /\[\[scenario:([\w-]+)\]\]/.exec(text)?.[1];

function shownOrder(path: string): string[] {
  const records = readWhole(path);
  const raw = new Map(
    readFileSync(path, "utf8")
      .split("\n")
      .map((line, index) => [index + 1, line]),
  );
  const [transcript] = fold(records).values();
  if (transcript === undefined) return [];
  const parts = partsOf(transcript);
  const serverCalls = new Set<string>();
  return parts.flatMap((part): string[] => {
    const line = raw.get(linePlace(part.source)?.line ?? 0) ?? "";
    switch (part.type) {
      case "thinking":
        return ["thinking"];
      case "text":
        // Partial text before an interrupt is not a finished answer.
        return line.includes('"model":"<synthetic>"') ? [] : ["text"];
      case "tool_call": {
        if (line.includes('"type":"server_tool_use"')) serverCalls.add(part.tool_call_id);
        const result = part.result_index === undefined ? undefined : transcript.parts.at(part.result_index);
        const end =
          result?.type !== "tool_result" ? "no result" : result.status === "success" ? "ok" : "error";
        return [`call ${part.tool_name} ${end}`];
      }
      case "tool_result":
        return serverCalls.has(part.tool_call_id) ? ["server result"] : [];
      case "prompt": {
        // Queued prompts, and parts without a scenario, are not in the played order.
        const name = scenario(part.parts.map((item) => (item.type === "text" ? item.text : "")).join("\n"));
        return name === undefined || part.queued === true ? [] : [`prompt ${name}`];
      }
      case "marker": {
        // A command's expansion contains the scenario that it starts.
        const name = part.kind === "context" ? scenario(part.text ?? "") : undefined;
        return name === undefined ? [] : [`prompt ${name}`];
      }
      default:
        return [];
    }
  });
}

describe.skipIf(!sharedData())("recorded sessions (skipped without the shared data)", () => {
  it.each(recordedSessions().map((entry) => [entry.what, entry] as const))(
    "shows exactly what the model played: %s",
    (_what, { file, intended }) => {
      const path = sharedData("corpus", "recorded", file) ?? "";
      expect(shownOrder(path)).toEqual(expectedOrder(intended));
    },
  );

  it("reports only the two real rewinds as rewinds", () => {
    const rewound = files.filter((file) =>
      readWhole(file).some(({ frames }) => frames.some(({ type }) => type === "turn.retract")),
    );
    expect(rewound.map((file) => relative(corpus, file))).toEqual([
      "claude-code/projects/-experiments-ideas/03eb5929-52b3-4b13-ada3-b93ae35806b8.jsonl",
      "recorded/claude-code/projects/-tmp-demo-project/52f5d606-039c-4b33-902a-448348908fe5.jsonl",
    ]);
  });

  it("links every run to the call that started it, nested ones to their run's call", () => {
    const linked: string[] = [];
    const unlinked: string[] = [];
    for (const root of ["claude-code", "recorded/claude-code"]) {
      const facts = filesBelow(sharedData("corpus", root) ?? "", ".jsonl").flatMap((file) => {
        if (claudeCode.classify(file) === undefined) return [];
        const reader = claudeCode.createReader({ path: file });
        reader.push(readFileSync(file));
        reader.close();
        if (claudeCode.classify(file)?.kind === "run") {
          const side = file.replace(/\.jsonl$/, ".meta.json");
          try {
            reader.readSide(readFileSync(side, "utf8"));
          } catch {
            // Old versions write none.
          }
        }
        return reader.linkFacts().sessions;
      });
      for (const link of linkRuns(facts)) {
        (link.tool_call_id === undefined ? unlinked : linked).push(link.session_id);
      }
      const runs = facts.filter(({ run }) => run !== undefined);
      expect(new Set(linkRuns(facts).map((link) => link.session_id)).size).toBe(
        new Set(runs.map((run) => run.session_id)).size,
      );
    }
    expect(linked).toHaveLength(23);
    // The parent's file of one run is missing; one trimmed fixture has a run without any call.
    expect(unlinked).toHaveLength(2);
  });
});

// --- Growing files ----------------------------------------------------------------------------------------------------

function growthSeries(): [string, string[]][] {
  const series: [string, string[]][] = [];
  const stream = sharedData("corpus", "recorded", "growth-claude-code", "cc-stream");
  if (stream !== undefined) series.push(["cc-stream", filesBelow(stream, ".jsonl")]);
  const steps = sharedData("corpus", "claude-code", "growth");
  if (steps !== undefined) series.push(["growth steps", filesBelow(steps, ".jsonl")]);
  const tree = sharedData("corpus", "recorded", "growth-claude-code", "cc-tree");
  if (tree !== undefined) {
    const all = filesBelow(tree, ".jsonl");
    const names = new Set(all.map((file) => relative(tree, file).split("/").slice(1).join("/")));
    for (const name of names)
      series.push([`cc-tree ${name}`, all.filter((file) => file.endsWith(`/${name}`))]);
  }
  return series;
}

describe.skipIf(!sharedData())("growing sessions (skipped without the shared data)", () => {
  it.each(growthSeries())("%s: has the same parts whether it is followed or read at once", (_name, steps) => {
    const path = steps.at(-1) ?? "";
    const follower = claudeCode.createReader({ path });
    const records: ReadRecord[] = [];
    let size = 0;
    for (const step of steps) {
      const bytes = readFileSync(step);
      records.push(...follower.push(bytes.subarray(size)), ...follower.settle());
      size = bytes.length;
    }
    records.push(...follower.close());
    const followed = fold(records);
    const whole = fold(readWhole(path));
    expect([...followed.keys()]).toEqual([...whole.keys()]);
    for (const [id, transcript] of whole) {
      expect(partsOf(followed.get(id) ?? emptyTranscript(id))).toEqual(partsOf(transcript));
    }
  });
});

// --- Lines made to break readers --------------------------------------------------------------------------------------

interface Payload {
  id: string;
  input: unknown;
  expect: { records?: number; errors?: number; pending?: number };
}

function payloads(): Payload[] {
  const file = sharedData("payloads", "jsonl-lines.json");
  // The file has this documented format.
  return file === undefined ? [] : (JSON.parse(readFileSync(file, "utf8")) as Payload[]);
}

describe.skipIf(!sharedData())("hostile lines (skipped without the shared data)", () => {
  it.each(payloads().map((payload) => [payload.id, payload] as const))(
    "%s",
    (_id, { input, expect: wanted }) => {
      if (typeof input !== "string") throw new Error("This test can read only plain inputs");
      const reader = claudeCode.createReader({ path: "payload.jsonl" });
      const records = reader.push(new TextEncoder().encode(input));
      if (wanted.pending === undefined) records.push(...reader.settle());
      else expect(records.filter(({ disposition }) => disposition.kind === "unreadable")).toEqual([]);
      records.push(...reader.close());
      const counted = ofFile(records).filter(
        ({ disposition }) => !(disposition.kind === "hidden" && disposition.rule === "blank line"),
      );
      const unreadable = counted.filter(({ disposition }) => disposition.kind === "unreadable").length;
      const copies = counted.filter(
        ({ disposition }) => disposition.kind === "folded" && disposition.into === "the same line before it",
      ).length;
      if (wanted.errors !== undefined) expect(unreadable - (wanted.pending ?? 0)).toBe(wanted.errors);
      if (wanted.records !== undefined) {
        // A record that a newline split in two may be recovered or be two errors.
        expect(counted.length - unreadable - copies).toBe(wanted.records);
      }
      expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
    },
  );
});
