import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readFlags } from "../../src/server/cli/flags.ts";
import { readAddress } from "../../src/server/http/address.ts";
import { UsageError } from "../../src/server/usage-error.ts";

// That the command prints these errors and exits: main.test.ts.

const folder = mkdtempSync(join(tmpdir(), "verbatim-flags-"));
const FILES = { PASSWORD: "correct horse battery\n", SHORT: "short\n", EMPTY: "" };
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The message of the error with which the daemon rejects a command line. */
function rejection(args: string[]): string {
  try {
    readAddress(readFlags(args.map((arg) => (arg in FILES ? join(folder, arg) : arg))).flags);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`${args.join(" ")} is accepted.`);
}

it.each<[string[], string]>([
  [["run", "Go", "--mdoel", "x"], "Unknown option --mdoel. Put arguments that start with a dash after `--`."],
  [["--no-smaples"], "Unknown option --no-smaples. Put arguments that start with a dash after `--`."],
  [["--no-port"], "Unknown option --no-port. Put arguments that start with a dash after `--`."],
  [["run", "-fix it"], "Unknown option -f. Put arguments that start with a dash after `--`."],
  [["--data-dir"], "--data-dir needs a value."],
  [["--port", "--open"], "--port needs a value."],
  [["--no-samples=3"], "--no-samples does not take a value."],
])("describes what is wrong with the flags %j", (args, text) => {
  expect(rejection(args)).toBe(`${text} \`--help\` lists all options.`);
});

it.each<[string[], string]>([
  [["--nonsense"], "--nonsense"],
  [["--json"], "--json belongs to `run` and `show`"],
  [["show", "x.jsonl", "--port", "1"], "--port belongs to the daemon, not to `show`"],
  [["--host", "192.168.1.5"], "--password-file"],
  [["--host", "::"], "--password-file"],
  [["--host", "0.0.0.0", "--password-file", "PASSWORD"], "TLS"],
  [["--host", "0.0.0.0", "--password-file", "SHORT", "--origin", "https://v.example"], "12 characters"],
  [
    ["--host", "0.0.0.0", "--password-file", "PASSWORD", "--origin", "http://v.example"],
    "--origin http://v.example",
  ],
  [["--host", "0.0.0.0", "--password-file", "none", "--origin", "https://v.example"], "none: cannot be read"],
  [
    ["--host", "0.0.0.0", "--password-file", "PASSWORD", "--origin", "http://localhost:8080"],
    "--host 0.0.0.0 needs TLS",
  ],
  [["--host", "0.0.0.0", "--origin", "http://localhost:8080"], "--password-file"],
  [["--origin", "https://v.example"], "--password-file"],
  [["--origin", "https://localhost:8443"], "--password-file"],
  [["--origin", "http://localhost.v.example"], "--origin http://localhost.v.example"],
  [["--origin", "http://192.168.1.5:8080"], "--origin http://192.168.1.5:8080"],
  [["--origin", "http://localhost:8080/x"], "--origin http://localhost:8080/x"],
  [["--cert", "PASSWORD"], "--key"],
  [["--cert", "EMPTY", "--key", "EMPTY"], "--cert"],
])("rejects %j in one line that includes a remedy", (args, said) => {
  const message = rejection(args);
  expect(message).toContain(said);
  expect(message.trim().split("\n")).toHaveLength(1);
});
