import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../../../src/agent/approval.ts";
import type { Tool } from "../../../src/agent/tool.ts";
import { createEditTool } from "../../../src/agent/tools/edit.ts";
import { createShellTool } from "../../../src/agent/tools/shell.ts";
import { createWebFetchTool } from "../../../src/agent/tools/web-fetch.ts";
import { createWriteTool } from "../../../src/agent/tools/write.ts";
import { fileOfCall } from "../../../src/agent/truncated-output.ts";
import { anyCharacter } from "../../any-character.ts";
import { times } from "../../long.ts";
import { createTestHost, type TestHost } from "../host.ts";

const COMMANDS = times(60, 10_000);
/** Number of calls of each other tool that asks. */
const CALLS = times(40, 10_000);
const AT_ONCE = 20;

let host: TestHost;
beforeEach(() => {
  host = createTestHost();
});
afterEach(() => host.remove());

const nasty = fc.constantFrom(
  ..."\u001b\u0007\b\r\n\t\u202e\u2066\u2069\u200b\u00ad\ufeff\u2028\u0430\u03bf\u0455$`\"'\\;&|<>(){}*?~#!- ",
  "а", // Cyrillic, looks like a
  "rm",
  "-rf",
  "\u{1f600}",
  "\u{e0041}",
  "é",
  "e\u0301",
  "%s",
  "$(id)",
);
const text = fc
  .oneof(
    fc.array(nasty, { minLength: 1, maxLength: 40 }).map((parts) => parts.join("")),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }),
  )
  .filter((one) => one.trim() !== "" && !one.includes("\0") && one.isWellFormed());
/** The name of a file in the session's folder: `~` is refused, because it means another folder. */
const name = text
  .map((one) => one.replaceAll("/", ""))
  .filter((one) => one.trim() !== "" && !/^(?:\.+|~)$/.test(one) && Buffer.byteLength(one) <= 200);

/** Prepares a call, runs it as the loop does, and returns the digest of what a person would have been shown. */
async function runShown(tool: Tool, input: Record<string, unknown>, call_id = "call_1"): Promise<string> {
  const { subject, run } = tool.prepare(input, host);
  const { signal } = new AbortController();
  const output = await run({ host, message_id: "m", call_id, signal, progress: () => {} });
  expect(output.status ?? "success", JSON.stringify([input, output.output_text])).toBe("success");
  return digestOf(subject);
}

/** A new folder for each attempt, so that its content was written by that attempt. */
function emptyFolder(): void {
  rmSync(host.cwd, { recursive: true, force: true });
  mkdirSync(host.cwd);
}

/** The only file in the session's folder, as it is on disk. */
function onDisk(): { name: string; bytes: Buffer } {
  const names = readdirSync(host.cwd);
  expect(names).toHaveLength(1);
  const [found = ""] = names;
  return { name: found, bytes: readFileSync(join(host.cwd, found)) };
}

describe("what is shown is what runs, for any content", { timeout: 1_200_000 }, () => {
  it(`${COMMANDS} commands, byte for byte`, async () => {
    // Replaces the shell and prints its arguments: their number, then each one followed by a NUL.
    const shim = join(host.files, "shim");
    writeFileSync(shim, `#!/bin/sh\nprintf '%s\\0' "$#" "$@"\n`);
    chmodSync(shim, 0o755);
    const tool = createShellTool({ environment: { PATH: process.env.PATH, HOME: "/nowhere" }, shell: shim });
    let tried = 0;
    const compare = async (command: string): Promise<void> => {
      const call_id = `call_${tried++}`;
      const shown = await runShown(tool, { command }, call_id);
      const log = fileOfCall(host, call_id, ".log");
      const bytes = readFileSync(log);
      rmSync(log);
      expect(bytes.equals(Buffer.from(`3\0-c\0--\0${command}\0`)), JSON.stringify(command)).toBe(true);
      const given = bytes.subarray("3\0-c\0--\0".length, -1);
      expect(createHash("sha256").update(given).digest("hex"), JSON.stringify(command)).toBe(shown);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (commands) => {
        await Promise.all(commands.map(compare));
      }),
      // Smaller inputs would take as many processes again.
      { numRuns: COMMANDS / AT_ONCE, endOnFailure: true },
    );
    expect(tried).toBe(COMMANDS);
  });

  it(`${CALLS} written files: their names and all of their bytes`, async () => {
    const tool = createWriteTool();
    await fc.assert(
      fc.asyncProperty(name, text, async (path, content) => {
        emptyFolder();
        const shown = await runShown(tool, { path, content });
        const { name: written, bytes } = onDisk();
        expect(
          digestOf(`write ${JSON.stringify(written)} with these ${bytes.length} bytes:\n${bytes.toString()}`),
        ).toBe(shown);
      }),
      { numRuns: CALLS },
    );
  });

  it(`${CALLS} edited files: the old and the new text`, async () => {
    const tool = createEditTool();
    await fc.assert(
      fc.asyncProperty(name, text, text, async (path, old_text, new_text) => {
        fc.pre(old_text !== new_text && !/[\r\ufeff]/.test(old_text + new_text));
        emptyFolder();
        writeFileSync(join(host.cwd, path), old_text);
        const shown = await runShown(tool, { path, old_text, new_text });
        const { name: edited, bytes } = onDisk();
        const [went, came] = [Buffer.byteLength(old_text), bytes.length];
        expect(
          digestOf(
            `edit ${JSON.stringify(edited)}: replace the one occurrence of these ${went} bytes:\n${old_text}\nwith these ${came} bytes:\n${bytes.toString()}`,
          ),
        ).toBe(shown);
      }),
      { numRuns: CALLS },
    );
  });

  it(`${CALLS} fetched URLs`, async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`http://${request.headers.host}${request.url}`);
      response.setHeader("content-type", "text/plain");
      response.end("Fetched.");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      // The address is a string only for pipes.
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const tool = createWebFetchTool({
        rules: () => [{ tool: "web_fetch", pattern: `${origin}/*`, decision: "allow" }],
      });
      await fc.assert(
        fc.asyncProperty(text, async (path) => {
          asked.length = 0;
          const shown = await runShown(tool, { url: `${origin}/${path}` });
          expect(asked).toHaveLength(1);
          expect(digestOf(`GET ${asked[0]}`)).toBe(shown);
        }),
        { numRuns: CALLS },
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
