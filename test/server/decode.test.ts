import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { decodeStream } from "../../src/server/cli/decode-stream.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { differences, type Expected } from "../providers/recordings.ts";

const ROOT = join(import.meta.dirname, "../..");
const FIXTURES = join(ROOT, "test/providers/fixtures");

const folder = mkdtempSync(join(tmpdir(), "verbatim-decode-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the command with these arguments and this standard input. */
function decode(
  args: readonly string[],
  input?: Uint8Array,
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [DAEMON_SCRIPT, "decode", ...args], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

describe("decode", () => {
  it("prints a recorded stream as one JSON object", async () => {
    const file = join(FIXTURES, "anthropic-all-blocks.sse");
    const { code, out } = await decode(["--wire", "anthropic-messages", file]);
    expect(code).toBe(0);
    const decoded = JSON.parse(out);
    expect(Object.keys(decoded)).toEqual(["parts", "usage", "stop_reason", "stop_reason_raw", "error"]);
    // Validated by the comparison.
    const expected = JSON.parse(readFileSync(file.replace(/sse$/, "expect.json"), "utf8")) as Expected;
    expect(differences(decoded, expected)).toEqual([]);
  });

  it("reads standard input", async () => {
    const { code, out } = await decode(
      ["--wire", "openai-responses", "-"],
      readFileSync(join(FIXTURES, "responses-items.sse")),
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).parts).toHaveLength(8);
  });

  it("describes what is wrong with an invalid stream", async () => {
    const file = join(folder, "no-stream.sse");
    writeFileSync(file, "data: {not json\n\n");
    const decoded = await decodeStream(anthropicMessages, file);
    expect(decoded).toMatchObject({ parts: [], stop_reason: "error", error: { type: "unreadable" } });
  });

  it.each([
    { args: ["--wire", "morse", "x.sse"], says: "unknown protocol" },
    { args: ["--wire", "anthropic-messages", ROOT], says: "cannot be read" },
  ])("exits with 2 and one line for $args", async ({ args, says }) => {
    const { code, out, err } = await decode(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});
