import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { show } from "../../src/server/cli/show-files.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { openStore } from "../../src/server/import/record-logs/open-store.ts";
import { formats } from "../../src/sources/index.ts";
import { inspect } from "../../src/sources/inspect/format.ts";
import { eventually } from "../eventually.ts";
import { orderOf } from "../sources/record-laws.ts";
import { closed, look } from "../sources/store-reading.ts";
import { type ZipMethod, zipOf } from "../zip-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-eval-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HASH = "0123456789abcdef0123456789abcdef";
const header = { version: 2, status: "success", eval: { task: "tides", model: "tide-1" } };
const user = { id: "u", role: "user", content: `attachment://${HASH}` };
const answer = {
  id: "a1",
  role: "assistant",
  content: "I run it.",
  tool_calls: [{ id: "c1", function: "bash", arguments: { cmd: "ls" } }],
};
const result = { id: "r1", role: "tool", tool_call_id: "c1", function: "bash", content: "a.csv" };
const last = { id: "a2", role: "assistant", content: "One file." };
const model = (input: object, message: object) => ({
  event: "model",
  timestamp: "2026-10-05T08:00:00Z",
  ...input,
  output: { model: "tide-1", choices: [{ message }], usage: { input_tokens: 10, output_tokens: 2 } },
});

const sample = (id: string, epoch: number) => ({
  id,
  epoch,
  target: "1",
  attachments: { [HASH]: "How many files?" },
  events: [
    { event: "sample_init" },
    model({ input: [user] }, answer),
    model({ input: [user, answer, result] }, last),
  ],
  messages: [user, answer, result, last],
  scores: { match: { value: "C" } },
});
const ORDER = "[note] U x c:bash | x [note]";

/** Writes an archive of JSON values. */
function archive(
  name: string,
  entries: readonly (readonly [string, unknown])[],
  options: Parameters<typeof zipOf>[1] = {},
): string {
  const path = join(folder, name);
  const texts = entries.map(
    ([entry, value]) => [entry, typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  writeFileSync(path, zipOf(texts, options));
  return path;
}

function ordersOf(path: string): Record<string, string> {
  const store = openStore(path);
  try {
    expect(inspect.snapshots?.recognizes(store)).toBe(true);
    const sessions = [...look(inspect, store).values()];
    return Object.fromEntries(
      sessions.map((session) => [
        session.name.slice(path.length),
        `${orderOf(closed(session).parts)}${JSON.stringify(closed(session).parts).includes("How many files?") ? "" : " without its prompt"}`,
      ]),
    );
  } finally {
    store.close();
  }
}

async function run(files: string[], session?: string) {
  let out = "";
  const warnings: string[] = [];
  const code = await show({
    files,
    formats,
    as: "text",
    ...(session !== undefined && { session }),
    write: async (text) => {
      out += text;
    },
    warn: (text) => warnings.push(text),
  });
  return { out, warnings, code };
}

describe("an Inspect log in an archive", () => {
  it.each<[ZipMethod, boolean]>([
    ["stored", false],
    ["deflate", false],
    ["zstd", false],
    ["zstd", true],
  ])("has each sample as a session, %s, with the directory of a large archive: %s", (method, large) => {
    const path = archive(
      `${method}-${large}.eval`,
      [
        ["_journal/start.json", header],
        ["samples/one_epoch_1.json", sample("one", 1)],
        ["samples/of/two_epoch_2.json", sample("of/two", 2)],
        ["summaries.json", []],
        ["header.json", header],
      ],
      { method, large },
    );
    expect(ordersOf(path)).toEqual({
      "!/samples/of/two_epoch_2.json#": ORDER,
      "!/samples/one_epoch_1.json#": ORDER,
    });
  });

  it("resolves messages that are only given by their number in the pool", () => {
    const pooled = {
      ...sample("one", 1),
      events: [
        model({ input: [], input_refs: [[0, 1]] }, answer),
        model(
          {
            input: [],
            input_refs: [
              [0, 1],
              [1, 3],
            ],
          },
          last,
        ),
      ],
      messages: [],
      events_data: { messages: [user, answer, result], calls: [] },
    };
    const { events_data, ...before } = pooled;
    const older = { ...before, message_pool: events_data.messages };
    const path = archive("pool.eval", [
      ["header.json", header],
      ["samples/new_epoch_1.json", pooled],
      ["samples/old_epoch_1.json", older],
    ]);
    expect(Object.values(ordersOf(path))).toEqual([ORDER, ORDER]);
  });

  it("reads a sample that is split into documents", () => {
    const path = archive("chunked.eval", [
      ["header.json", { ...header, version: 3 }],
      [
        "samples/one_epoch_1/sample.json",
        { id: "one", epoch: 1, target: "1", message_refs: [[0, 4]], scores: { match: { value: "C" } } },
      ],
      ["samples/one_epoch_1/skeleton.json", {}],
      ["samples/one_epoch_1/messages/0.json", [{ ...user, content: "attachment://1" }, answer]],
      ["samples/one_epoch_1/messages/2.json", [result, last]],
      [
        "samples/one_epoch_1/events/0.json",
        [{ event: "sample_init" }, model({ input_refs: [[0, 1]] }, answer)],
      ],
      ["samples/one_epoch_1/events/2.json", [model({ input_refs: [[0, 3]] }, last)]],
      ["samples/one_epoch_1/events/stats.json", {}],
      ["samples/one_epoch_1/attachments/0.json", ["other", "How many files?"]],
    ]);
    expect(ordersOf(path)).toEqual({ "!/samples/one_epoch_1#": ORDER });
  });

  it("reports an unreadable sample, and shows the others", () => {
    const path = archive("damaged.eval", [
      ["header.json", header],
      ["samples/bad_epoch_1.json", '{"id":"bad"'],
      ["samples/good_epoch_1.json", sample("good", 1)],
    ]);
    expect(ordersOf(path)).toEqual({
      "!/samples/bad_epoch_1.json#": "?? without its prompt",
      "!/samples/good_epoch_1.json#": ORDER,
    });
  });

  it("is shown by name: its samples, and one of them", async () => {
    const path = archive("shown.eval", [
      ["header.json", header],
      ["samples/one_epoch_1.json", sample("one", 1)],
      ["samples/two_epoch_1.json", sample("two", 1)],
    ]);
    const all = await run([path]);
    expect(all.code).toBe(0);
    expect(all.out).toContain("2 sessions");
    expect(all.out).toContain("samples/two_epoch_1.json#  tides · two");
    const one = await run([path], `${path}!/samples/two_epoch_1.json#`);
    expect(one.out).toContain("> How many files?");
    expect(one.out).toContain("a.csv");
  });

  it("reports an invalid or incomplete archive", async () => {
    const path = archive("whole.eval", [["header.json", header]]);
    const half = join(folder, "half.eval");
    const bytes = zipOf([["header.json", JSON.stringify(header)]]);
    writeFileSync(half, bytes.subarray(0, bytes.length - 30));
    const { code, warnings } = await run([half]);
    expect(code).toBe(1);
    expect(warnings.join("\n")).toContain("it is not a ZIP archive, or it is incomplete");
    expect((await run([path])).warnings.join("\n")).toContain("it has no sessions");
  });

  it("is followed while the evaluation writes it", async () => {
    const entries = [
      ["_journal/start.json", header],
      ["samples/one_epoch_1.json", sample("one", 1)],
    ] as const;
    const path = archive("live.eval", entries);
    const sessions = createSessions({
      formats,
      roots: [],
      paths: [path],
      timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
    });
    try {
      const titles = () =>
        sessions
          .list()
          .map(({ title }) => title)
          .sort();
      await eventually(() => expect(titles()).toEqual(["tides · one"]));
      archive("live.eval", [
        ...entries,
        ["samples/two_epoch_1.json", sample("two", 1)],
        ["header.json", header],
      ]);
      await eventually(() => expect(titles()).toEqual(["tides · one", "tides · two"]));
    } finally {
      await sessions.close();
    }
  });
});
