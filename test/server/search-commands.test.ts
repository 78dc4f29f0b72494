import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";

/** Runs the commands on an index written by a real daemon. */
const home = mkdtempSync(join(tmpdir(), "verbatim-search-commands-"));
const data = join(home, "data");
const environment: Record<string, string> = { HOME: home };
for (const [name, value] of Object.entries(bareEnvironment))
  if (value !== undefined) environment[name] = value;
const argumentsOf = (args: string[]) => ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT, ...args];

const tides = generateClaudeSession({ parts: 30, turns: 2, seed: 21, cwd: "/home/ada/tides" });
const moon = generateClaudeSession({ parts: 30, turns: 2, seed: 22, cwd: "/home/ada/moon" });
let daemon: ChildProcess;

function run(args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) => {
    execFile(process.execPath, argumentsOf(args), { env: environment }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}
const search = (...args: string[]) => run(["search", ...args, "--data-dir", data]);

const hits = z.object({
  hits: z.array(
    z.object({
      link: z.string(),
      session: z.object({ id: z.string(), cwd: z.string() }),
      part: z.object({ id: z.string(), kind: z.string(), turn: z.number() }),
      snippet: z.object({ text: z.string() }),
    }),
  ),
  searched: z.number(),
});

beforeAll(async () => {
  for (const { session_id, lines } of [tides, moon]) {
    const word = session_id === tides.session_id ? "zebrafinch" : "narwhal";
    const folder = join(home, ".claude/projects", `-home-ada-${word}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${session_id}.jsonl`), `${lines.join("\n").replace("parser", word)}\n`);
  }
  daemon = spawn(process.execPath, argumentsOf(["--port", "0", "--data-dir", data, "--no-samples"]), {
    env: environment,
    stdio: "ignore",
  });
  await eventually(async () => {
    expect((await search("zebrafinch")).code).toBe(0);
    expect((await search("narwhal")).code).toBe(0);
  }, 60_000);
});
afterAll(async () => {
  daemon.kill();
  await new Promise((done) => daemon.once("exit", done));
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

it("search prints each part with its context and link, as text and as JSON", async () => {
  const printed = await search("zebrafinch");
  expect(printed.err).toBe("");
  expect(printed.out).toContain(`/session/${tides.session_id}#part-`);
  expect(printed.out).toMatch(/turn 1 · \w+.*zebrafinch/);
  expect(printed.out).toMatch(/1 matches in 2 of 2 sessions/);

  const { out } = await search("zebrafinch", "--json");
  const page = hits.parse(JSON.parse(out));
  expect(page.hits).toHaveLength(1);
  const [hit] = page.hits;
  expect(hit?.session).toMatchObject({ id: tides.session_id, cwd: "/home/ada/tides" });
  expect(hit?.link).toBe(`/session/${tides.session_id}#part-${hit?.part.id}`);
  expect(hit?.snippet.text).toContain("zebrafinch");
});

it("search supports the query language, a limit and an order, and reports errors", async () => {
  const calls = hits.parse(
    JSON.parse((await search("kind:call", "--limit", "3", "--sort", "rank", "--json")).out),
  );
  expect(calls.hits.map(({ part }) => part.kind)).toEqual(["call", "call", "call"]);
  expect(await search("no-such-word-anywhere")).toMatchObject({ code: 1, err: "" });
  const wrong = await search("kind:thoughts");
  expect(wrong.code).toBeGreaterThan(1);
  expect(wrong.err).toContain("Use one of prompt, thought");
  expect((await search("x", "--limit", "none")).err).toContain("--limit takes a number");
  expect((await run(["search", "x", "--data-dir", join(home, "nothing")])).err).toContain("no search index");
});

/** Runs the MCP server as an agent's client does. */
async function withServer(args: string[], work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: argumentsOf(["mcp", ...args, "--data-dir", data]),
    env: environment,
    stderr: "pipe",
  });
  let errors = "";
  transport.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  await client.connect(transport);
  try {
    await work(client);
  } finally {
    await client.close();
  }
  expect(errors).toBe("");
}

const text = z.object({
  content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]),
  isError: z.boolean().optional(),
});
async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError = false } = text.parse(await client.callTool({ name, arguments: args }));
  return { text: content[0].text, isError, json: (): unknown => JSON.parse(content[0].text) };
}

it("an agent finds a part over MCP, and reads the parts around it", async () => {
  await withServer([], async (client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ["search", true],
      ["open", true],
      ["list", true],
    ]);
    const [hit] = hits.parse((await call(client, "search", { query: "narwhal" })).json()).hits;
    expect(hit?.session.id).toBe(moon.session_id);
    const opened = await call(client, "open", {
      session_id: hit?.session.id,
      part_id: hit?.part.id,
      count: 5,
    });
    const { parts } = z
      .object({
        parts: z.array(z.object({ id: z.string(), seq: z.number(), text: z.string(), link: z.string() })),
      })
      .parse(opened.json());
    expect(parts.find(({ id }) => id === hit?.part.id)?.text).toContain("narwhal");
    expect(parts.find(({ id }) => id === hit?.part.id)?.link).toBe(hit?.link);
    expect(parts.map(({ seq }) => seq)).toEqual(parts.map((_, at) => (parts[0]?.seq ?? 0) + at));
    const listed = z.object({ total: z.number() }).parse((await call(client, "list", {})).json());
    expect(listed.total).toBe(2);
  });
});

it("errors over MCP contain a remedy", async () => {
  await withServer([], async (client) => {
    expect(await call(client, "search", { query: "status:bad" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("Use one of ok, failed"),
    });
    expect(await call(client, "open", { session_id: "nobody" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("There is no session nobody"),
    });
  });
});

it("--project hides the sessions of other folders from all tools", async () => {
  await withServer(["--project", "/home/ada/tides"], async (client) => {
    const { hits: found } = hits.parse(
      (await call(client, "search", { query: "kind:prompt", limit: 1 })).json(),
    );
    expect(found.map(({ session }) => session.id)).toEqual([tides.session_id]);
    expect(hits.parse((await call(client, "search", { query: "narwhal" })).json()).hits).toEqual([]);
    expect(await call(client, "open", { session_id: moon.session_id })).toMatchObject({ isError: true });
    const { sessions } = z
      .object({ sessions: z.array(z.object({ id: z.string() })) })
      .parse((await call(client, "list", {})).json());
    expect(sessions).toEqual([expect.objectContaining({ id: tides.session_id })]);
  });
});
