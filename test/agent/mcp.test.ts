import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectMcp, type McpConnections, type McpOptions, type McpServer } from "../../src/agent/mcp.ts";
import { alwaysAllowed, decide } from "../../src/agent/permissions.ts";
import { eventually } from "../eventually.ts";
import { call, createTestHost, type TestHost } from "./host.ts";

const SERVER = join(import.meta.dirname, "mcp-server.mjs");
const local: McpServer = { command: process.execPath, args: [SERVER] };

let host: TestHost;
let open: McpConnections[];
let children: ChildProcess[];
beforeEach(() => {
  host = createTestHost();
  open = [];
  children = [];
});
afterEach(async () => {
  await Promise.all(open.map((connections) => connections.close()));
  for (const child of children) child.kill("SIGKILL");
  host.remove();
});

async function connect(servers: Record<string, McpServer>, options: Partial<McpOptions> = {}) {
  const connections = await connectMcp(servers, {
    cwd: host.cwd,
    environment: { PATH: process.env.PATH },
    ...options,
  });
  open.push(connections);
  const use = (name: string, input: Record<string, unknown> = {}, more = {}) => {
    const tool = connections.tools.find(({ definition }) => definition.name === name);
    if (tool === undefined) throw new Error(`there is no ${name}`);
    return call(tool, host, input, more);
  };
  return { ...connections, use };
}

/** Starts the server on a free port. */
async function startRemote(): Promise<string> {
  const child = spawn(process.execPath, [SERVER, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return await eventually(() => {
    expect(said).toMatch(/^\d+\n/);
    return `http://127.0.0.1:${said.trim()}/mcp`;
  });
}

describe("a started server", () => {
  it("offers its tools under its name, which return text, images and structured data", async () => {
    const { tools, use } = await connect({ sums: local });
    expect(tools.map(({ definition }) => definition.name)).toContain("mcp__sums__add");
    expect(await use("mcp__sums__add", { a: 2, b: 3 })).toEqual({
      status: "success",
      output_text: "5",
      ui_extra: { type: "mcp", server: "sums", tool: "add", structured: { sum: 5 } },
    });
    const picture = await use("mcp__sums__picture");
    expect(picture.output_text).toBe("[image/png, 5 bytes, not shown]\na pixel\n[notes: file:///notes.md]");
    const [image] = picture.parts ?? [];
    expect(image).toMatchObject({ type: "image_file", mime_type: "image/png" });
    expect(image?.type === "image_file" && readFileSync(image.file_path).length).toBe(70);
    expect(await use("mcp__sums__fail")).toMatchObject({ status: "error", output_text: "no such city" });
  });

  it("has tool schemas that all providers accept: with properties, and without alternatives at the root", async () => {
    const { tools } = await connect({ sums: local });
    const schemaOf = (name: string) =>
      tools.find(({ definition }) => definition.name === `mcp__sums__${name}`)?.definition.input_schema;
    expect(schemaOf("plain")).toEqual({ type: "object", properties: {} });
    expect(schemaOf("either")).toEqual({
      type: "object",
      properties: {
        name: { type: "string" },
        depth: { type: "number" },
        kind: { anyOf: [{ const: "file" }, { const: "page" }] },
        path: { type: "string" },
        url: { type: "string" },
      },
      required: ["name", "depth", "kind"],
      $defs: expect.anything(),
    });
  });

  it("gets no keys, but the variables of its configuration", async () => {
    const environment = { PATH: process.env.PATH, OPENAI_API_KEY: "secret" };
    const { use } = await connect({ sums: { ...local, env: { CITY: "Ghent" } } }, { environment });
    const { output_text } = await use("mcp__sums__environment");
    expect(output_text).not.toContain("secret");
    expect(output_text).toContain("Ghent");
  });

  it("needs approval, whatever it says about itself, unless a rule allows the tool", async () => {
    const { tools } = await connect({ sums: local });
    const tool = tools.find(({ definition }) => definition.name === "mcp__sums__picture");
    const { target } = tool?.prepare({ a: 1 }, host) ?? { target: "" };
    const call = { tool_name: "mcp__sums__picture", target };
    expect(decide([], call, tool?.default_decision ?? "deny").decision).toBe("ask");
    expect(decide([alwaysAllowed(call)], { ...call, target: "{}" }, "ask").decision).toBe("allow");
    expect(decide([{ tool: "mcp__sums__*", decision: "allow" }], call, "ask").decision).toBe("allow");
  });

  it("with an invalid tool loses only that one, and the problem is reported", async () => {
    const { tools, problems, use } = await connect({ sums: local });
    expect(problems.map(({ message }) => message).join("\n")).toMatch(/cannot be used: .*inputSchema/);
    expect(problems.map(({ message }) => message).join("\n")).toMatch(/several tools named mcp__sums__add/);
    expect(tools.some(({ definition }) => definition.name.includes("broken"))).toBe(false);
    expect(await use("mcp__sums__nonsense")).toMatchObject({
      status: "error",
      output_text: expect.stringContaining("invalid reply"),
    });
    // Its output schema is not evaluated, because its pattern would take years.
    expect(await use("mcp__sums__liar")).toMatchObject({ status: "success" });
    expect(await use("mcp__sums__add", { a: 1, b: 1 })).toMatchObject({ output_text: "2" });
  });

  it("that does not answer or is stopped reports it, and keeps working", async () => {
    const { use } = await connect({ sums: local }, { call_within_ms: 400 });
    expect(await use("mcp__sums__slow")).toMatchObject({
      status: "error",
      output_text: expect.stringContaining("did not answer within 0.4 s"),
    });
    expect(await use("mcp__sums__slow", {}, { signal: AbortSignal.abort() })).toMatchObject({
      status: "error",
      output_text: "It was stopped.",
    });
    expect(await use("mcp__sums__add", { a: 1, b: 2 })).toMatchObject({ output_text: "3" });
  });

  it("that ends reports how, in this call and the next", async () => {
    const { use, problems } = await connect({ sums: local });
    const first = await use("mcp__sums__die");
    expect(first.status).toBe("error");
    expect(first.output_text).toMatch(/exit code 7.*out of cheese/);
    expect((await use("mcp__sums__add", { a: 1, b: 2 })).output_text).toMatch(
      /no longer running.*exit code 7/,
    );
    expect(problems.at(-1)?.message).toMatch(/exit code 7/);
  });

  it("has a long result truncated with a complete copy on disk, and is killed for an endless one", async () => {
    const { use } = await connect({ sums: local });
    const long = await use("mcp__sums__long");
    expect(long.output_text.length).toBeLessThan(31_000);
    const [, path = ""] = /complete output is in (\S+) …/.exec(long.output_text) ?? [];
    expect(readFileSync(path, "utf8")).toBe("y".repeat(200_000));
    expect(long.ui_extra).toMatchObject({ type: "mcp", persisted_path: path, persisted_bytes: 200_000 });
    expect(await use("mcp__sums__huge")).toMatchObject({
      status: "error",
      output_text: expect.stringContaining("more than 16,777,216 bytes"),
    });
  });

  it.skipIf(process.platform !== "linux")(
    "ends with what it has started when connections are closed",
    async () => {
      const connections = await connect({
        wrapped: {
          command: "/bin/sh",
          args: ["-c", `sleep 1000 & echo $! > pid; "$0" "$1"`, process.execPath, SERVER],
        },
      });
      expect(await connections.use("mcp__wrapped__add", { a: 1, b: 1 })).toMatchObject({ output_text: "2" });
      const pid = readFileSync(join(host.cwd, "pid"), "utf8").trim();
      await connections.close();
      expect(
        existsSync(`/proc/${pid}`) && /State:\s+[^Z]/.test(readFileSync(`/proc/${pid}/status`, "utf8")),
      ).toBe(false);
      expect(connections.problems.filter(({ message }) => message.includes("ended"))).toEqual([]);
    },
  );
});

describe("a server that cannot be used", () => {
  it("is reported as a problem, and the others work", async () => {
    const { tools, problems } = await connect(
      {
        missing: { command: "/nowhere/server" },
        silent: { command: "/bin/sh", args: ["-c", "cat > /dev/null"] },
        loud: { command: "/bin/sh", args: ["-c", "echo broken config >&2; exit 3"] },
        closed: { url: "http://127.0.0.1:1/mcp" },
        sums: local,
      },
      { connect_within_ms: 5_000 },
    );
    const said = (server: string) =>
      problems
        .filter((problem) => problem.server === server)
        .map(({ message }) => message)
        .join();
    expect(said("missing")).toMatch(/could not be started/);
    expect(said("silent")).toMatch(/did not answer within 5 s/);
    expect(said("loud")).toMatch(/exit code 3.*broken config/);
    expect(said("closed")).not.toBe("");
    expect(tools.map(({ definition }) => definition.name)).toContain("mcp__sums__add");
  });
});

it("an error of a server is reported with its message and its standard error output", async () => {
  const { problems } = await connect({
    refusing: { ...local, args: [SERVER, "refuse"] },
    confused: { ...local, args: [SERVER, "mislist"] },
  });
  expect(problems).toHaveLength(2);
  expect(problems).toContainEqual({
    server: "refusing",
    message: expect.stringMatching(/GITHUB_TOKEN is missing\. It said: reading the environment$/),
  });
  expect(problems).toContainEqual({
    server: "confused",
    message: "It sent an invalid reply.",
  });
});

describe("a server that is retried", () => {
  it("has its tools again after it ended or was unreachable", async () => {
    const late = {
      command: "/bin/sh",
      args: ["-c", `test -f ready && exec "$0" "$1"`, process.execPath, SERVER],
    };
    const { use, problems, retry } = await connect({ sums: local, late });
    const about = (server: string) =>
      problems.filter((problem) => problem.server === server && /exit code/.test(problem.message));
    await use("mcp__sums__die");
    expect(about("sums")).toHaveLength(1);
    expect(about("late")).toHaveLength(1);
    await retry();
    expect(await use("mcp__sums__add", { a: 1, b: 2 })).toMatchObject({ output_text: "3" });
    expect(about("sums")).toEqual([]);
    expect(about("late")).toHaveLength(1);
    writeFileSync(join(host.cwd, "ready"), "");
    await Promise.all([retry(), retry()]);
    expect(await use("mcp__late__add", { a: 1, b: 2 })).toMatchObject({ output_text: "3" });
    expect(about("late")).toEqual([]);
  });

  it("is not waited for endlessly, is killed on close, and does not affect a working one", async () => {
    const script = `if test -f started; then echo $$ > pid; exec cat > /dev/null; fi; touch started; exit 3`;
    const lame = `test -f lame && exec "$0" "$1"; touch lame; exit 3`;
    const { retry, use, close } = await connect(
      {
        hanging: { command: "/bin/sh", args: ["-c", script] },
        lame: { command: "/bin/sh", args: ["-c", lame, process.execPath, SERVER] },
        sums: local,
      },
      { retry_within_ms: 200 },
    );
    const began = performance.now();
    const pid = await eventually(async () => {
      await retry();
      return Number(readFileSync(join(host.cwd, "pid"), "utf8"));
    });
    expect(await use("mcp__sums__add", { a: 1, b: 2 })).toMatchObject({ output_text: "3" });
    // Another server that is started at the same time does not wait for it.
    await eventually(async () =>
      expect(await use("mcp__lame__add", { a: 1, b: 2 })).toMatchObject({ output_text: "3" }),
    );
    process.kill(pid, 0);
    await close();
    // It has ended, but that is noticed a moment later.
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
    // Far less than the thirty seconds that a server has.
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});

describe("a server with a URL", () => {
  it("is called with the headers of its configuration", async () => {
    const url = await startRemote();
    const { use } = await connect({ far: { url, headers: { "x-key": "let me in" } } });
    expect(await use("mcp__far__add", { a: 20, b: 22 })).toMatchObject({
      status: "success",
      output_text: "42",
    });
    expect((await use("mcp__far__huge")).output_text).toContain("more than 16,777,216 bytes");
    expect(await use("mcp__far__add", { a: 1, b: 1 })).toMatchObject({ output_text: "2" });
  });

  it("that needs another key is a problem", async () => {
    const url = await startRemote();
    const { tools, problems } = await connect({ far: { url } });
    expect(tools).toEqual([]);
    expect(problems).toHaveLength(1);
  });

  it("that disappears causes an error, not a crash", async () => {
    const url = await startRemote();
    const { use } = await connect(
      { far: { url, headers: { "x-key": "let me in" } } },
      { call_within_ms: 5_000 },
    );
    children[0]?.kill("SIGKILL");
    expect(await use("mcp__far__add", { a: 1, b: 1 })).toMatchObject({ status: "error" });
  });
});
