import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Format } from "../../src/sources/contract.ts";
import { copilotCli } from "../../src/sources/copilot-cli/format.ts";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { pi } from "../../src/sources/pi/format.ts";
import { qwenCode } from "../../src/sources/qwen-code/format.ts";
import { expectRead } from "../fuzz/readers.ts";
import { sharedData } from "../shared-data.ts";
import { bytesOf, expectAccounted, orderOf, readSession } from "./record-laws.ts";

/** Agents of `../shared/corpus/recorded` that append lines, by the start of the index's `format`. */
const AGENTS: Readonly<Record<string, Format>> = {
  "copilot-cli-events": copilotCli,
  "pi-jsonl-v3": pi,
  "qwen-code-jsonl": qwenCode,
};

const index = sharedData("corpus", "recorded", "INDEX-others.tsv");
const recorded = (index === undefined ? "" : readFileSync(index, "utf8"))
  .split("\n")
  .map((line) => line.split("\t"))
  .flatMap(([name = "", agent = "", , , , , played = ""]) => {
    const format = AGENTS[agent];
    const path = sharedData("corpus", "recorded", name);
    return format === undefined || path === undefined ? [] : [{ name, format, path, played }];
  });

/** The played order in the notation of `orderOf`, as far as the agent records it: `user tour: think call:a / text || user …`. */
function keptOrder(played: string, format: Format): string[] {
  return played.split(" || ").flatMap((turn) => {
    const scenario = /^user ([\w-]+): /.exec(turn)?.[1] ?? "";
    // The command of "slow" and the text of "slowtext" are stopped; Copilot does not record such a text.
    if (scenario === "slowtext") return format === copilotCli ? [] : ["U T x"];
    const steps = turn
      .replace(/^user [\w-]+: /, "")
      .split(" / ")
      .slice(0, scenario === "slow" ? 1 : undefined)
      .map((step) =>
        step
          .split(" ")
          .map((word) => (word === "think" ? "T" : word === "text" ? "x" : word.replace("call:", "c:")))
          .filter((word) => /^(?:T|x|c:)/.test(word))
          .join(" "),
      );
    return [`U ${steps.filter((step) => step !== "").join(" | ")}`];
  });
}

/** The turns of a session with a model call, each in short form. */
function turnsOf(parts: readonly TranscriptPart[]): string[] {
  const shown = parts.filter(({ type }) => type !== "marker");
  return orderOf(shown)
    .split(/ (?=U)/)
    .map((turn) => turn.replaceAll(/[!?-](?= |$)/g, "").replaceAll(/(?: \|)+$/g, ""))
    .filter((turn) => turn !== "U");
}

it.skipIf(index === undefined)(
  "finds all recorded sessions of these agents (skipped without ../shared)",
  () => {
    expect(
      recorded
        .map(({ format }) => format.id)
        .sort()
        .join(" "),
    ).toBe(`${"copilot-cli ".repeat(6)}${"pi ".repeat(5)}${"qwen-code ".repeat(6)}`.trim());
  },
);

describe.skipIf(index === undefined).each(recorded)(
  "$name (skipped without ../shared/corpus/recorded)",
  ({ format, path, played }) => {
    const bytes = index === undefined ? new Uint8Array() : bytesOf(path);
    const session = readSession(format, path, [bytes]);
    const [main] = session.transcripts;
    const parts = main === undefined ? [] : main.parts.slice().filter((part) => part !== undefined);

    it("is recognized by path and by content", () => {
      expect(format.classify(path)?.kind).toBe("session");
      expect(formats.find((candidate) => candidate.detect(bytes.subarray(0, 65_536)))?.id).toBe(format.id);
    });

    it("accounts for every line, and recognizes all of them", () => {
      expectAccounted(session, new TextDecoder().decode(bytes));
      expect(session.records.filter(({ disposition }) => /^un/.test(disposition.kind))).toEqual([]);
    });

    it("shows what the model played, in order, as far as the agent recorded it", () => {
      const turns = turnsOf(parts);
      if (!/long: /.test(played)) {
        expect(turns).toEqual(keptOrder(played, format));
        return;
      }
      // The index names the first three of its fifteen steps, and the last.
      const [turn = "", ...others] = turns;
      const [first = ""] = keptOrder(played.replace(/ \/ ….*$/, ""), format);
      expect(others).toEqual([]);
      expect(turn.startsWith(first)).toBe(true);
      expect(turn.endsWith(" | x")).toBe(true);
      expect(turn.split(" | ")).toHaveLength(15);
    });

    it("pairs every result with its call", () => {
      for (const part of session.parts)
        if (part.type === "tool_result") expect(part.call_index).toBeDefined();
    });

    it("is the same for all chunk boundaries, and when followed as it grew", () => {
      expectRead(format, bytes, [1, 1_000, 5_001, 9_999]);
      const lines = new TextDecoder().decode(bytes).split(/(?<=\n)/);
      const grown = readSession(
        format,
        path,
        lines.map((line) => new TextEncoder().encode(line)),
      );
      expect(grown.parts).toEqual(session.parts);
    });
  },
);

describe.skipIf(index === undefined)("sub-agents (skipped without ../shared/corpus/recorded)", () => {
  it.each([copilotCli, qwenCode])("$id: two runs are linked to the calls that started them", (format) => {
    const file = recorded.find((each) => each.format === format && /agents/.test(each.played));
    const { facts, transcripts } = readSession(format, file?.path ?? "", [bytesOf(file?.path ?? "")]);
    const links = linkRuns(facts);
    expect(links.map(({ tool_call_id }) => tool_call_id).sort()).toEqual([
      expect.stringMatching(/_0$/),
      expect.stringMatching(/_1$/),
    ]);
    expect(transcripts).toHaveLength(3);
    const tokens = transcripts.map(({ usage }) => usage?.output).sort();
    expect(tokens).toEqual([15, 17, 31]);
  });
});
