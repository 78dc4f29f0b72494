import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionReply, sessionsReply } from "../../src/protocol.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { eventually } from "../eventually.ts";
import { type SpawnedDaemon, spawnDaemon } from "./spawned-daemon.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const linesOf = (file: string): string[] => readFileSync(join(FIXTURES, file), "utf8").trimEnd().split("\n");
const command = (...args: string[]): string[] => [
  "--disable-warning=ExperimentalWarning",
  DAEMON_SCRIPT,
  ...args,
];

describe("pipe", () => {
  let daemon: SpawnedDaemon;
  beforeAll(async () => {
    daemon = await spawnDaemon();
  });
  afterAll(() => daemon.close());

  const get = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${daemon.api_token}` };
    return await (await fetch(`${daemon.origin}${path}`, { headers })).json();
  };
  /** The number of parts of an agent's sessions, which include its sub-agents. */
  const partsOf = async (agent: string): Promise<number> => {
    const { sessions } = sessionsReply.parse(await get("/api/sessions"));
    const ids = sessions.filter((one) => one.agent === agent).map(({ id }) => id);
    const replies = await Promise.all(ids.map((id) => get(`/api/sessions/${id}`)));
    return replies.reduce<number>((sum, reply) => sum + sessionReply.parse(reply).page.parts.length, 0);
  };
  const start = () => {
    const program = spawn(process.execPath, command("pipe", "--data-dir", daemon.data), {
      env: bareEnvironment,
    });
    const output = { out: "", err: "" };
    program.stdout.setEncoding("utf8").on("data", (text) => {
      output.out += text;
    });
    program.stderr.setEncoding("utf8").on("data", (text) => {
      output.err += text;
    });
    const ended = new Promise<number | null>((done) => program.once("close", done));
    return { program, output, ended };
  };

  it.each([
    ["codex-exec", "codex-exec/run.jsonl"],
    ["claude-code", "claude-code/stream-json.jsonl"],
    ["droid-exec", `droid-exec/${readdirSync(join(FIXTURES, "droid-exec"))[0]}`],
  ])("shows a session of %s while its program runs, and prints its lines again", async (agent, file) => {
    const lines = linesOf(file);
    const half = lines.length >> 1;
    const { program, output, ended } = start();
    await eventually(() => expect(output.err).toContain("Live in the browser"));
    program.stdin.write(`${lines.slice(0, half).join("\n")}\n`);
    await eventually(async () => expect(await partsOf(agent)).toBeGreaterThan(0));
    program.stdin.end(`${lines.slice(half).join("\n")}\n`);
    expect(await ended).toBe(0);
    expect(output.out).toBe(`${lines.join("\n")}\n`);
    expect(output.err).toMatch(/^Live in the browser: http:\S+\n$/);
    const shown = spawnSync(process.execPath, command("show", join(FIXTURES, file), "--json"), {
      encoding: "utf8",
    });
    const parts = shown.stdout.trim().split("\n").length;
    // The end of a run that the lines do not end is only known to `show`.
    await eventually(async () => expect(await partsOf(agent)).toBeGreaterThanOrEqual(parts - 1));
  });

  it.each([1, 30])(
    "leaves out lines that are no records, and says when %i are not recognized",
    async (count) => {
      const { program, output, ended } = start();
      program.stdin.end(`Reading prompt from stdin\n${'{"a":1}\n'.repeat(count)}`);
      expect(await ended).toBe(2);
      expect(output.err).toContain("Name one of them with --agent.");
    },
  );
});

it("pipe explains that no daemon runs", () => {
  const { status, stderr } = spawnSync(process.execPath, command("pipe", "--data-dir", tmpdir()), {
    encoding: "utf8",
    input: "{}\n",
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining("Start one with `npm start`.")]);
});

it("show reads standard input, and leaves no copy of it", () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("verbatim-show-"));
  const input = readFileSync(join(FIXTURES, "codex-exec/run.jsonl"));
  const { status, stdout } = spawnSync(process.execPath, command("show", "-"), { encoding: "utf8", input });
  expect([status, stdout.split(" session ")[0]]).toEqual([0, "Codex (exec)"]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("verbatim-show-"))).toEqual(before);
});
