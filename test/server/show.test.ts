import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { transcriptPart } from "../../src/model/transcript/transcript.ts";
import { show } from "../../src/server/cli/show-files.ts";
import { formats } from "../../src/sources/index.ts";
import { generateClaudeSession } from "../generate-session.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-show-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(files: string[], as: "text" | "json" | "accounting" | "jsonl" | "md") {
  let out = "";
  const warnings: string[] = [];
  const code = await show({
    files,
    formats,
    as,
    write: async (text) => {
      out += text;
    },
    warn: (text) => warnings.push(text),
  });
  return { out, warnings, code, lines: out.split("\n").filter((line) => line !== "") };
}

const line = z.looseObject({
  session_id: z.string(),
  turn: z.number(),
  index: z.number(),
  role: z.enum(["user", "assistant", "tool", "system"]),
  type: z.string(),
  source: z.exactOptional(z.strictObject({ file: z.string(), line: z.number(), byte: z.number() })),
});

const generated = generateClaudeSession({ parts: 60, turns: 3 });
const text = `${generated.lines.join("\n")}\n`;
const file = join(folder, `${generated.session_id}.jsonl`);
writeFileSync(file, text);

describe("export of a file", () => {
  it("prints history that shows the same parts when read back", async () => {
    const exported = join(folder, "exported.jsonl");
    writeFileSync(exported, (await run([file], "jsonl")).out);
    const partsOf = async (path: string) =>
      (await run([path], "json")).lines.map((json) => ({ ...JSON.parse(json), source: undefined }));
    expect(await partsOf(exported)).toEqual(await partsOf(file));
  });

  it("prints Markdown with a heading for each turn", async () => {
    const { out, code } = await run([file], "md");
    expect(code).toBe(0);
    expect(out.match(/^## Turn \d+/gm)).toEqual(["## Turn 1", "## Turn 2", "## Turn 3"]);
  });

  it("prints Markdown whose title is the first prompt, if the session has none", async () => {
    const { out } = await run([file], "md");
    const [, prompt] = /^## Turn 1: (.+) \[OK\]$/m.exec(out) ?? [];
    expect(prompt).toBeDefined();
    expect(out.split("\n")[0]).toBe(`# ${prompt}`);
  });
});

describe("show", () => {
  it("prints one JSON object per part, in file order, with its place", async () => {
    const { lines, code, warnings } = await run([file], "json");
    expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
    const parts = lines.map((json) => line.parse(JSON.parse(json)));
    expect(parts.map(({ index }) => index)).toEqual(parts.map((_, index) => index));
    expect(new Set(parts.map(({ turn }) => turn))).toEqual(new Set([0, 1, 2]));
    expect(parts.filter(({ type }) => ["thinking", "text", "tool_call"].includes(type))).toHaveLength(
      generated.parts,
    );
    const bytes = Buffer.from(text);
    let before = -1;
    for (const part of parts) {
      expect(
        transcriptPart
          .safeParse({ ...part, source: undefined })
          .error?.issues.filter(({ path }) => path[0] !== "source") ?? [],
      ).toEqual([]);
      const { role, type, source } = part;
      if (type === "prompt") expect(role).toBe("user");
      if (["thinking", "text", "tool_call"].includes(type)) expect(role).toBe("assistant");
      if (type === "tool_result") expect(role).toBe("tool");
      if (!source) continue;
      expect(source.file).toBe(file);
      expect(bytes.subarray(source.byte).toString().split("\n", 1)[0]).toBe(generated.lines[source.line - 1]);
      expect(source.line).toBeGreaterThanOrEqual(before);
      before = source.line;
    }
  });

  it("accounts for every line", async () => {
    const broken = join(folder, "broken.jsonl");
    writeFileSync(broken, `${text}{"type":"never seen before","sessionId":"x"}\n{"broken": \n`);
    const { lines, code } = await run([broken], "accounting");
    expect(code).toBe(0);
    const { hidden, ...counts } = z
      .object({
        file: z.string(),
        agent: z.string(),
        lines: z.number(),
        shown: z.number(),
        folded: z.number(),
        hidden: z.record(z.string(), z.number()),
        unknown: z.number(),
        unreadable: z.number(),
      })
      .parse(JSON.parse(lines[0] ?? ""));
    expect(counts).toMatchObject({ agent: "claude-code", lines: generated.lines.length + 2, unreadable: 1 });
    const hiddenLines = Object.values(hidden).reduce((sum, count) => sum + count, 0);
    expect(counts.shown + counts.folded + hiddenLines + counts.unknown + counts.unreadable).toBe(
      counts.lines,
    );
  });

  it("counts lines as they are in the file, with any content", async () => {
    const odd = join(folder, "odd.jsonl");
    const [first = "", second = "", third = ""] = generated.lines;
    writeFileSync(odd, `${first}\r\n\n  \n${second}${third}\n\0\0\0\n\0\0${third}\n{"torn\n${third}`);
    const { lines } = await run([odd], "accounting");
    const { hidden, shown, folded, unknown, unreadable, lines: count } = JSON.parse(lines[0] ?? "");
    expect(count).toBe(8);
    expect(hidden).toEqual({ "blank line": 2 });
    expect(unreadable).toBe(3);
    expect(shown + folded + unknown + unreadable + 2).toBe(count);
  });

  it("prints a readable transcript, with each result under its call", async () => {
    const { out } = await run([file], "text");
    expect(out).toContain("── turn 3");
    expect(out).toMatch(/\[OK\] Bash [^{\n]+\n {4}/);
    expect(out).not.toContain("[object Object]");
  });

  it("truncates long arguments and outputs in text with a note, but not in JSON", async () => {
    const session_id = "22222222-2222-4222-8222-222222222222";
    const long = `${"x".repeat(5_000)}\n${"line\n".repeat(100)}`;
    const message = { id: "m1", content: [{ type: "tool_use", id: "t1", name: "Write", input: { long } }] };
    const answer = { content: [{ type: "tool_result", tool_use_id: "t1", content: long }] };
    const path = join(folder, `${session_id}.jsonl`);
    const lines = [
      { type: "assistant", uuid: "a", sessionId: session_id, message },
      { type: "user", uuid: "b", sessionId: session_id, message: answer },
    ];
    writeFileSync(path, lines.map((value) => `${JSON.stringify(value)}\n`).join(""));
    const { out } = await run([path], "text");
    expect(out).toContain("4000 more characters (--json prints all)");
    expect(out).toContain("61 more lines (--json prints all)");
    expect(out.length).toBeLessThan(5_000);
    const json = (await run([path], "json")).out;
    expect(json).toContain(JSON.stringify(long).slice(1, -1));
  });

  it("escapes control characters in an agent's text", async () => {
    const [first = ""] = generated.lines.filter((json) => json.includes('"type":"text"'));
    const evil = first.replace(
      /"text":"[^"]*"/,
      `"text":"\\u001b]0;owned\\u0007\\u009b31m\\u202eabc\\r\\bx"`,
    );
    expect(evil).not.toBe(first);
    const path = join(folder, "evil.jsonl");
    writeFileSync(path, `${[...generated.lines.slice(0, 1), evil].join("\n")}\n`);
    const { out } = await run([path], "text");
    expect(out).toContain("\\u001b]0;owned\\u0007\\u009b31m\\u202eabc\\u000d\\u0008x");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    const drives = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;
    expect(out).not.toMatch(drives);
    const json = await run([path], "json");
    expect(json.out).not.toMatch(drives);
    expect(json.lines.map((line) => JSON.parse(line).text)).toContain(
      "\u001b]0;owned\u0007\u009b31m\u202eabc\r\bx",
    );
  });

  it("reads a compressed file like the original", async () => {
    const compressed = `${file}.zst`;
    writeFileSync(compressed, zstdCompressSync(text));
    const plain = await run([file], "json");
    const unpacked = await run([compressed], "json");
    const withoutFile = (json: string) => json.replace(/"file":"[^"]*"/g, "");
    expect(unpacked.lines.map(withoutFile)).toEqual(plain.lines.map(withoutFile));
  });

  it("accepts an empty file only where an agent stores its sessions", async () => {
    const path = join(folder, ".claude/projects/-work/11111111-1111-4111-8111-111111111111.jsonl");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    const { code, lines } = await run([path], "accounting");
    expect(code).toBe(0);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ lines: 0, shown: 0, hidden: {} });
  });

  it("reads a log of messages with the facts beside it, if an agent has both in a folder", async () => {
    const session = join(folder, "session_20260601_100000_1b2c3d4e");
    mkdirSync(session);
    const messages = join(session, "messages.jsonl");
    writeFileSync(messages, '{"role":"user","content":"Hi"}\n{"role":"assistant","content":"Hello"}\n');
    expect((await run([messages], "text")).out).toContain("Chat messages session");
    writeFileSync(
      join(session, "meta.json"),
      JSON.stringify({ session_id: "s", start_time: "2026-06-01T10:00:00Z", environment: {} }),
    );
    expect((await run([messages], "text")).out).toContain("Mistral Vibe session");
  });

  it("reports each invalid file, prints the others, and fails", async () => {
    const empty = join(folder, "empty.jsonl");
    writeFileSync(empty, "");
    const other = join(folder, "package.json");
    writeFileSync(other, '{"name":"x"}');
    const binary = join(folder, "binary.jsonl.zst");
    writeFileSync(binary, Buffer.from([1, 2, 3, 4]));
    mkdirSync(join(folder, "a-folder"));
    const missing = join(folder, "missing.jsonl");
    const { warnings, code, lines } = await run(
      [missing, join(folder, "a-folder"), empty, other, binary, file],
      "accounting",
    );
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(warnings).toEqual([
      `${missing}: no such file.`,
      `${join(folder, "a-folder")}: this is a folder. Specify a session file in it.`,
      `${empty}: the file is empty.`,
      expect.stringContaining(`${other}: not a session of a supported agent (`),
      expect.stringContaining(`${binary}: cannot be read`),
    ]);
  });
});
