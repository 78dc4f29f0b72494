import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cline } from "../../src/sources/cline/format.ts";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { sharedData } from "../shared-data.ts";
import { bytesOf, orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-cline-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recorded = sharedData("corpus", "recorded", "cline");
const index = sharedData("corpus", "recorded", "INDEX-others.tsv");

/** Every recorded file with the played order in the index's notation. */
const played = (index === undefined ? "" : readFileSync(index, "utf8"))
  .split("\n")
  .map((line) => line.split("\t"))
  .filter(([file, format]) => format === "cline-cli-messages" && file?.includes("/sessions/") === true)
  .map(([file = "", , , , , , order = ""]) => ({ file, order }));

/** `user tour: think text call:a / text` in the notation of `orderOf`: a failed or stopped call is still a call. */
function expectedOrder(order: string): string {
  const [, steps = ""] = order.split(": ");
  // Abbreviations are expanded by the test that reads them; words in brackets never reached the file.
  return steps
    .split(" / ")
    .filter((step) => !step.startsWith("("))
    .map((step) => step.replaceAll("think", "T").replaceAll("text", "x").replaceAll("call:", "c:"))
    .join(" | ");
}

const plain = (order: string) =>
  order
    .split(" ")
    .map((word) => word.replace(/^(c:.*?)[!?-]$/, "$1"))
    .filter((word) => !word.startsWith("["))
    .join(" ");

describe.skipIf(recorded === undefined)(
  "recorded Cline sessions (skipped without ../shared/corpus/recorded/cline)",
  () => {
    it.each(played)("shows what the model played: $file", ({ file, order }) => {
      const path = join(recorded ?? "", "..", file);
      const sessions = look(cline, openStore(dirname(path)));
      const name = basename(file).replace(".messages.json", "");
      const session = [...sessions.values()].find((each) => each.name.endsWith(name));
      if (session === undefined) throw new Error(`No session ${name}`);
      const { parts, transcript } = closed(session);
      const shown = plain(orderOf(parts)).replace(/^(?:\[context\] )?U /, "");
      if (order.includes("…")) {
        const steps = shown.split(" | ");
        expect(steps.length).toBe(15);
        expect(steps.slice(0, 3)).toEqual(expectedOrder(order).split(" | ").slice(0, 3));
        expect(steps.at(-1)).toBe("x");
        for (const step of steps.slice(0, -1)) expect(step).toMatch(/^(?:T )?(?:x )?c:run_commands$/);
      } else if (file.includes("1795217463957_hnwea")) {
        // Interrupted: the last text was played and never written.
        expect(shown).toBe(expectedOrder(order).replace(/ \| x$/, ""));
        expect([...transcript.turns].at(-1)?.status).toBe("failed");
      } else {
        expect(shown).toBe(expectedOrder(order));
        expect([...transcript.turns].at(-1)?.status).toBe(order.includes("HTTP") ? "failed" : "completed");
      }
      const fates = session.records.map(({ disposition }) => disposition.kind);
      expect(fates.filter((kind) => kind === "unknown" || kind === "unreadable")).toEqual([]);
    });

    it("reads growing snapshots to the same parts as the last one at once, whichever were seen", () => {
      const steps = Array.from({ length: 16 }, (_, at) =>
        join(recorded ?? "", "growth", `step${String(at + 1).padStart(2, "0")}.messages.json`),
      );
      const path = join(folder, "growing.messages.json");
      const readAll = (which: readonly string[]) => {
        let sessions = new Map();
        for (const step of which) {
          cpSync(step, path);
          sessions = look(cline, openStore(path), sessions);
        }
        const [session] = sessions.values();
        return { ...closed(session), lines: session.lines as string[] };
      };
      const at_once = readAll(steps.slice(-1));
      expect(orderOf(at_once.parts).split(" | ").length).toBe(15);
      for (const which of [steps, steps.filter((_, at) => at % 3 === 0 || at === 15)]) {
        const grown = readAll(which);
        expect(grown.parts.map(({ source: _, ...part }) => part)).toEqual(
          at_once.parts.map(({ source: _, ...part }) => part),
        );
        expect(grown.transcript.usage).toEqual(at_once.transcript.usage);
        // The log grows with what changed, not with each version of the document.
        expect(grown.lines.length).toBe(at_once.lines.length);
      }
    });

    it("reads the session's state from its side file, and counts tokens as Cline does", () => {
      const file = join(recorded ?? "", ".cline/data/sessions/1795217447100_6np5j");
      const [session] = look(cline, openStore(file)).values();
      if (session === undefined) throw new Error("No session");
      const { transcript } = closed(session);
      const patches = session.records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
      );
      const state = JSON.parse(readFileSync(join(file, "1795217447100_6np5j.json"), "utf8"));
      expect(Object.assign({}, ...patches)).toMatchObject({
        agent: "cline",
        agent_version: "3.0.65",
        title: state.metadata.title,
        cwd: state.cwd,
        model: state.model,
      });
      expect(transcript.usage).toMatchObject({
        input: state.metadata.usage.inputTokens,
        output: state.metadata.usage.outputTokens,
      });
      const results = closed(session).parts.flatMap((part) =>
        part.type === "tool_result" ? [[part.tool_name, part.status, part.ui_extra]] : [],
      );
      expect(results).toContainEqual([
        "run_commands",
        "error",
        { type: "shell", command: "cat does-not-exist.txt", exit_code: 1 },
      ]);
    });

    it("links both sub-agents to their calls by their prompts", () => {
      const file = join(recorded ?? "", ".cline/data/sessions/1795217455050_57pv9");
      const sessions = [...look(cline, openStore(file)).values()];
      expect(sessions.map(({ kind }) => kind).sort()).toEqual(["run", "run", "session"]);
      const links = linkRuns(sessions.flatMap(({ reader }) => reader.linkFacts().sessions));
      expect(links.map(({ tool_call_id }) => tool_call_id).sort()).toEqual(["call_144_0", "call_144_1"]);
    });

    it("is recognized by its content", () => {
      const file = join(recorded ?? "", "growth/step16.messages.json");
      expect(formats.find((format) => format.detect(bytesOf(file).subarray(0, 65_536)))?.id).toBe("cline");
      expect(cline.snapshots?.recognizes(openStore(file))).toBe(true);
    });
  },
);

it("takes a folder named after its session as the store, and a document elsewhere as a store of its own", () => {
  const { snapshots } = cline;
  for (const name of ["1_a.json", "1_a.messages.json", "agent_2_b.messages.json"])
    expect(snapshots?.storeOf(`1_a/${name}`)).toBe("1_a");
  expect(snapshots?.storeOf("data/sessions/1_a/3_c.messages.json")).toBe("data/sessions/1_a");
  expect(snapshots?.storeOf("copies/1_a.messages.json")).toBeUndefined();
});

const document = (messages: unknown[]) => ({
  version: 1,
  updated_at: String(messages.length),
  agent: "lead",
  sessionId: "1_a",
  origin: { source: "cli", mode: "user", sessionId: "1_a", version: "3.0.65" },
  messages,
});

describe("a Cline document that is rewritten", () => {
  const path = join(folder, "own.messages.json");
  const user = (id: string, text: string) => ({
    id,
    role: "user",
    content: [{ type: "text", text }],
    ts: 1_790_000_000_000,
  });
  const says = (id: string, text: string) => ({
    id,
    role: "assistant",
    content: [{ type: "text", text }],
    ts: 1_790_000_001_000,
    modelInfo: { id: "m" },
    metrics: { inputTokens: 10, outputTokens: 2, cost: 0.5 },
  });
  const write = (messages: unknown[]) => writeFileSync(path, JSON.stringify(document(messages)));

  it("revises a message in place, and retracts a removed one", () => {
    write([
      user("u1", '<user_input mode="plan">First</user_input>'),
      says("a1", "One"),
      user("u2", "Second"),
      says("a2", "Two"),
    ]);
    let sessions = look(cline, openStore(path));
    write([
      user("u1", '<user_input mode="plan">First</user_input>'),
      says("a1", "One, revised"),
      user("u2", "Second"),
    ]);
    sessions = look(cline, openStore(path), sessions);
    write([
      user("u1", '<user_input mode="plan">First</user_input>'),
      says("a1", "One, revised"),
      user("u2", "Second"),
      says("a3", "Three"),
    ]);
    sessions = look(cline, openStore(path), sessions);
    const [session] = sessions.values();
    if (session === undefined) throw new Error("No session");
    const { parts, transcript } = closed(session);
    expect(
      parts.flatMap((part) =>
        part.type === "text"
          ? [`${part.text}${part.retracted === undefined ? "" : ` (${part.retracted})`}`]
          : [],
      ),
    ).toEqual(["One, revised", "Two (removed by Cline)", "Three"]);
    expect([...transcript.turns].map((turn) => [turn?.title, turn?.status])).toEqual([
      ["First", "completed"],
      ["Second", "completed"],
    ]);
    expect(transcript.usage).toMatchObject({ input: 30, output: 6, cost: 1.5 });
  });

  it("shows where its context was compacted, each time", () => {
    const home = join(folder, "sessions/1_a");
    mkdirSync(home, { recursive: true });
    const put = (name: string, value: unknown) => writeFileSync(join(home, name), JSON.stringify(value));
    const compacted = (covered: number, summary: string) =>
      put("1_a.compaction.json", {
        version: 1,
        updated_at: "2026-09-21T14:13:21.000Z",
        source_message_count: covered,
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: summary }],
            metadata: { kind: "compaction_summary" },
          },
        ],
      });
    const messages = [user("u1", "First"), says("a1", "One"), user("u2", "Second"), says("a2", "Two")];
    put("1_a.messages.json", document(messages));
    compacted(2, "So far");
    const store = openStore(home);
    let sessions = look(cline, store);
    compacted(4, "Until now");
    sessions = look(cline, store, sessions);
    const [session] = sessions.values();
    if (session === undefined) throw new Error("No session");
    const { parts } = closed(session);
    expect(orderOf(parts)).toBe("U x [compaction] U x [compaction]");
    expect(parts.flatMap((part) => (part.type === "marker" ? [part.text] : []))).toEqual([
      "So far",
      "Until now",
    ]);
  });

  it("shows a summary among its messages as a compaction, not as a prompt", () => {
    write([
      { ...user("s", "So far"), metadata: { kind: "compaction_summary" } },
      user("u", "Next"),
      says("a", "One"),
    ]);
    const [session] = look(cline, openStore(path)).values();
    if (session === undefined) throw new Error("No session");
    expect(orderOf(closed(session).parts)).toBe("[compaction] U x");
  });
});
