import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainText } from "../../../src/model/text/display-text.ts";
import { scripts } from "../../../src/providers/scripted/scripts/index.ts";
import { readConfig } from "../../../src/server/config.ts";
import { configuredAgents } from "../../../src/server/managed/configured-agents.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { hears, opened, says, writeScript } from "../../agent/acp/script.ts";
import { createTestHost } from "../../agent/host.ts";
import { eventually } from "../../eventually.ts";
import { EVENT_STREAM, startServer } from "../../providers/replay-server.ts";
import { openManaged } from "./open-managed.ts";
import { promptOf, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agents-"));
});
afterEach(async () => {
  await managed?.close();
  managed = undefined;
  rmSync(folder, { recursive: true });
});

/** Sessions of agents that another process has open. */
const open_elsewhere = new Set<string>();
const configure = (config: unknown) => writeFileSync(join(folder, "config.json"), JSON.stringify(config));
const agents = (environment: Record<string, string> = {}, keys: [string, string][] = []) =>
  configuredAgents({
    config: readConfig(folder),
    keys: new Map(keys),
    environment: { PATH: process.env.PATH ?? "", ...environment },
    cwd: folder,
    playground: join(folder, "playground"),
    folder,
    isOpenElsewhere: (session_id) => Promise.resolve(open_elsewhere.has(session_id)),
  });
const entry = (of: ReturnType<typeof agents>, id: string) => of.find(id)?.entry;

/** Stops the daemon if it is running, and starts it. */
async function restart(): Promise<ManagedSessions> {
  await managed?.close();
  managed = await openManaged({ folder, agents: agents() });
  return managed;
}

async function begin(at: ManagedSessions, script: object): Promise<string> {
  const id = randomUUID();
  const file = join(folder, `${id}.json`);
  writeFileSync(file, JSON.stringify({ title: "Test", tokens_per_second: 0, ...script }));
  const given = { agent: "scripted", model: `file:${file}`, cwd: folder, prompt: promptOf("Go") };
  await at.start(id, given);
  return id;
}
const shown = async (at: ManagedSessions, id: string) => {
  const session = await at.open(id);
  return session ? words(session.transcript) : [];
};
const call = (name: string, input: object) => ({ parts: [{ tool_call: { name, arguments: input } }] });
const say = (text: string) => ({ parts: [{ text }] });

describe("the configured agents", () => {
  it("are all providers, which report what is missing, and configured ones", () => {
    configure({
      providers: {
        deepseek: { title: "Our DeepSeek", base_url: "https://proxy.example/v1", key_variable: "OUR_KEY" },
        mine: { wire: "chat-completions", base_url: "http://127.0.0.1:9/v1", models: ["small", "large"] },
      },
      agents: { opencode: { command: "opencode", args: ["acp"], title: "opencode" } },
    });
    const all = agents({ ANTHROPIC_API_KEY: "sk-1" }, [["openai", "sk-2"]]);
    expect(entry(all, "anthropic")?.unavailable).toBeUndefined();
    expect(entry(all, "anthropic")?.models.length).toBeGreaterThan(3);
    expect(entry(all, "anthropic")?.models[0]?.id).toBe("claude-sonnet-5");
    expect(entry(all, "openai")?.unavailable).toBeUndefined();
    expect(entry(all, "gemini")?.unavailable?.remedy).toContain("GEMINI_API_KEY");
    expect(entry(all, "deepseek")).toMatchObject({
      title: "Our DeepSeek",
      unavailable: { remedy: expect.stringContaining("OUR_KEY") },
    });
    expect(entry(all, "mine")).toMatchObject({ models: [{ id: "small" }, { id: "large" }], any_model: true });
    expect(entry(all, "mine")?.unavailable).toBeUndefined();
    expect(entry(all, "local")?.unavailable?.remedy).toContain("base_url");
    expect(entry(all, "opencode")).toMatchObject({ kind: "acp", title: "opencode" });
    expect(entry(all, "scripted")).toMatchObject({ scripted: true, any_model: true });
    expect(JSON.stringify(all.list())).not.toContain("sk-");
  });

  it("run nothing if the rules are invalid", () => {
    configure({ rules: [{ tool: "shell", decision: "perhaps" }] });
    expect(entry(agents(), "scripted")?.unavailable?.message).toContain("rules");
  });

  it("reject a fork whose script no longer exists before it begins, like a new session", async () => {
    const at = await restart();
    const id = await begin(at, { turns: [{ steps: [say("One.")] }] });
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    const before = (await at.open(id))?.transcript.parts.at(0)?.id ?? "";
    rmSync(join(folder, `${id}.json`));
    const session_id = randomUUID();
    const fork = at.fork(id, { session_id, before, prompt: promptOf("Again") });
    await expect(fork).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("cannot be read"),
    });
    expect(at.get(session_id)).toBeUndefined();
  });

  it.skipIf(process.platform === "win32")(
    "read scripts only from regular files, and do not block on a pipe",
    async () => {
      const pipe = join(folder, "pipe.json");
      execFileSync("mkfifo", [pipe]);
      const problem = await agents().find("scripted")?.problemOf?.(`file:${pipe}`);
      expect(problem && plainText(problem)).toBe(
        `The script ${pipe} cannot be read: it is not a regular file.`,
      );
    },
  );

  it("are rejected for a new session with a remedy", async () => {
    const at = await restart();
    const given = { agent: "anthropic", cwd: folder, prompt: promptOf("Go") };
    await expect(at.start(randomUUID(), given)).rejects.toMatchObject({
      code: "unavailable",
      remedy: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(at.list()).toEqual([]);
  });
});

describe("Verbatim's own loop in a session", () => {
  it("sends images from tools to a model, but only from the folders of sessions", async () => {
    const server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Seen." }, finish_reason: "stop" }] })}\n\n`,
      );
    });
    configure({ providers: { mine: { base_url: server.url, models: ["small"] } } });
    const png = Buffer.from("\x89PNG\r\n\x1a\nown", "latin1");
    const put = (path: string, bytes: Buffer): string => {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
      return file;
    };
    const outside = put("keys.png", Buffer.from("\x89PNG\r\n\x1a\noutside", "latin1"));
    symlinkSync(outside, `${put("files/a/shot.png", png)}.link.png`);
    const paths = [
      join(folder, "files/a/shot.png"),
      join(folder, "files/a/shot.png.link.png"),
      put("files/a/output.log", Buffer.from("no image")),
      outside,
      join(folder, "files/a/gone.png"),
    ];
    const created_at = "2026-01-01T00:00:00.000Z";
    const host = createTestHost({
      history: [
        { role: "user", id: randomUUID(), created_at, parts: [{ type: "text", text: "Look" }] },
        {
          role: "assistant",
          id: randomUUID(),
          created_at,
          stop_reason: "tool_use",
          parts: [{ type: "tool_call", call_id: "c", tool_name: "read", arguments_json: "{}" }],
        },
        {
          role: "tool",
          id: randomUUID(),
          created_at,
          call_id: "c",
          tool_name: "read",
          status: "success",
          output_text: "Images",
          parts: paths.map((file_path) => ({ type: "image_file", file_path })),
        },
      ],
    });
    const agent = await agents()
      .find("mine")
      ?.create({ agent: "mine", kind: "hosted", cwd: folder, depth: 0, created_at: 0 }, host);
    await agent?.run(
      { message_id: randomUUID(), parts: [{ type: "text", text: "Look" }] },
      new AbortController().signal,
    );
    host.remove();
    await server.close();
    const [body = ""] = server.received.map((request) => request.body);
    expect(body.match(/"url":"[^"]*"/g)).toEqual([`"url":"data:image/png;base64,${png.toString("base64")}"`]);
    for (const path of paths.slice(1)) expect(body).toContain(`[The image ${path} was not sent]`);
  });

  it("does what was allowed after a restart, and nothing before", async () => {
    const first = await restart();
    const command = "printf done > made.txt";
    const id = await begin(first, { steps: [call("shell", { command }), say("Made.")] });
    await eventually(() => expect(first.get(id)?.requests).toHaveLength(1));
    const second = await restart();
    expect(second.get(id)).toMatchObject({ status: "running", requests: [{ kind: "approval" }] });
    expect(() => readFileSync(join(folder, "made.txt"))).toThrow();
    const request_id = second.get(id)?.requests?.[0]?.request_id ?? "";
    const part = [...((await second.open(id))?.transcript.parts ?? [])].find(
      (one) => one?.type === "request",
    );
    const digest = part?.type === "request" ? (part.request.digest ?? "") : "";
    const option_ids = ["allow"];
    await second.answer(id, request_id, { digest, answer: { option_ids } });
    await eventually(() => expect(second.get(id)?.status).toBe("completed"));
    expect(readFileSync(join(folder, "made.txt"), "utf8")).toBe("done");
    expect((await shown(second, id)).slice(1, 3)).toEqual([
      "call: shell completed",
      "approval: answered allow",
    ]);
    expect((await shown(second, id)).at(-1)).toBe("text: Made.");
  });

  it("resumes a question three levels down after a restart, with an answer at each level", async () => {
    const first = await restart();
    const nested = (depth: number): string => {
      const file = join(folder, `level-${depth}.json`);
      const steps =
        depth === 3
          ? [call("ask", { question: "Which?", options: [{ label: "A" }, { label: "B" }] }), say("Asked.")]
          : [
              call("task", { task: "Deeper", prompt: `[[script:file:${nested(depth + 1)}]] Go deeper.` }),
              say(`Level ${depth} received it.`),
            ];
      writeFileSync(file, JSON.stringify({ title: `Level ${depth}`, tokens_per_second: 0, steps }));
      return file;
    };
    const id = randomUUID();
    const model = `file:${nested(0)}`;
    await first.start(id, { agent: "scripted", model, cwd: folder, prompt: promptOf("Go") });
    const asking = (at: ManagedSessions) => at.list().find(({ requests }) => requests !== undefined);
    await eventually(() => expect(asking(first)?.run?.depth).toBe(3));
    const second = await restart();
    const innermost = asking(second);
    expect(innermost?.run?.depth).toBe(3);
    expect(second.list().map(({ status }) => status)).toEqual(["running", "running", "running", "running"]);
    const request_id = innermost?.requests?.[0]?.request_id ?? "";
    const session = await second.open(innermost?.id ?? "");
    const part = [...(session?.transcript.parts ?? [])].find((one) => one?.type === "request");
    const options = part?.type === "request" ? part.request.options.map((option) => option.id) : [];
    await second.answer(innermost?.id ?? "", request_id, { answer: { option_ids: options.slice(1, 2) } });
    await eventually(() =>
      expect(second.list().map(({ status }) => status)).toEqual([
        "completed",
        "completed",
        "completed",
        "completed",
      ]),
    );
    expect(second.list()).toHaveLength(4);
    expect(await shown(second, id)).toEqual([
      "prompt: Go",
      "call: task completed",
      "result: success Level 1 received it.",
      "text: Level 0 received it.",
    ]);
  });

  it("keeps steered prompts and a changed model", async () => {
    const at = await restart();
    const id = await begin(at, { turns: [{ steps: [say("One.")] }, { steps: [say("Two.")] }] });
    await eventually(() => expect(at.get(id)?.status).toBe("completed"));
    const other = join(folder, "other.json");
    writeFileSync(
      other,
      JSON.stringify({ title: "Other", tokens_per_second: 0, steps: [say("Another model.")] }),
    );
    await at.setModel(id, `file:${other}`);
    const again = await restart();
    await again.send(id, promptOf("More"), "steer");
    await eventually(async () => expect((await shown(again, id)).at(-1)).toBe("text: Another model."));
    expect((await shown(again, id)).filter((line) => line.startsWith("model_switch"))).toHaveLength(1);
  });

  it("compacts on request, in a separate turn", async () => {
    const at = await restart();
    const id = await begin(at, { steps: [say("What was said.")] });
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    await Promise.all([at.compact(id), at.compact(id)]);
    await eventually(() => expect(at.get(id)?.control?.state).toBe("idle"));
    expect((await shown(at, id)).at(-1)).toBe("compaction: Conversation summarized to free context space");
    expect(at.get(id)).toMatchObject({ status: "completed", turns: 2 });
    await at.send(id, promptOf("On"), "queue");
    await eventually(() => expect(at.get(id)).toMatchObject({ turns: 3, status: "completed" }));
  });

  it("compacts once for repeated requests, also after a restart, and again after new messages", async () => {
    const first = await restart();
    const id = await begin(first, { steps: [say("What was said.")] });
    const idle = (at: ManagedSessions, turns: number) =>
      eventually(() => {
        expect(at.get(id)?.control?.state).toBe("idle");
        expect(at.get(id)).toMatchObject({ status: "completed", turns });
      });
    await idle(first, 1);
    await first.compact(id);
    await idle(first, 2);
    await first.compact(id);
    await idle(first, 2);
    const second = await restart();
    await second.compact(id);
    await idle(second, 2);
    await second.send(id, promptOf("On"), "queue");
    await idle(second, 3);
    await second.compact(id);
    await idle(second, 4);
  });
});

it("retries a failed tool server for the next session, and removes its notice", async () => {
  const server = join(import.meta.dirname, "../../agent/mcp-server.mjs");
  const args = ["-c", `test -f ready && exec "$0" "$1"`, process.execPath, server];
  configure({
    mcp_servers: { late: { command: "/bin/sh", args } },
    rules: [{ tool: "mcp__*", decision: "allow" }],
  });
  const configured = agents();
  managed = await openManaged({ folder, agents: configured });
  const late = () => configured.notices.filter(({ text }) => text.includes("exit code"));
  const add = { steps: [call("mcp__late__add", { a: 20, b: 22 }), say("Done.")] };
  try {
    const first = await begin(managed, add);
    await eventually(() => expect(managed?.get(first)?.status).toBe("completed"));
    expect(late()).toMatchObject([
      {
        text: expect.stringContaining("late cannot be used"),
        remedy: expect.stringMatching(/tried again when the next session starts/),
      },
    ]);
    writeFileSync(join(folder, "ready"), "");
    const second = await begin(managed, add);
    await eventually(() => expect(managed?.get(second)?.status).toBe("completed"));
    expect(await shown(managed, second)).toContain("result: success 42");
    expect(late()).toEqual([]);
  } finally {
    await configured.close();
  }
});

it("gives commands no variables with provider keys, even if the provider's entry is invalid", async () => {
  const providers = {
    mistaken: { wire: "telegraph", key_variable: "FIRST_SECRET" },
    "no name": { key_variable: "SECOND_SECRET" },
    misspelled: { key_varaible: "THIRD_SECRET" },
    deepseek: { key_variable: "FOURTH_SECRET" },
  };
  configure({ providers, rules: [{ tool: "shell", decision: "allow" }] });
  const names = ["FIRST_SECRET", "SECOND_SECRET", "THIRD_SECRET", "FOURTH_SECRET", "OTHER_SETTING"];
  const environment = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]));
  managed = await openManaged({ folder, agents: agents(environment) });
  const command = "env | grep -o 'value-of-.*'";
  const id = await begin(managed, { steps: [call("shell", { command }), say("Done.")] });
  await eventually(() => expect(managed?.get(id)?.status).toBe("completed"));
  expect(await shown(managed, id)).toContain("result: success value-of-OTHER_SETTING");
});

describe("an agent that speaks the Agent Client Protocol, in a session", () => {
  it("asks for permission, continues with the answer, and shows its output", async () => {
    const args = writeScript(folder, "acp", [
      ...opened,
      hears.prompt(2),
      says.text("May I?"),
      says.permission(0, { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } }),
      hears.answer(0),
      says.update("tool_call_update", {
        toolCallId: "c",
        status: "completed",
        rawOutput: { output: "a.txt" },
      }),
      says.text("Thank you."),
      says.result(2),
    ]);
    configure({ agents: { elsewhere: { command: process.execPath, args, title: "Elsewhere" } } });
    const at = await restart();
    const id = randomUUID();
    await at.start(id, { agent: "elsewhere", cwd: folder, prompt: promptOf("Look") });
    await eventually(() => expect(at.get(id)?.requests).toHaveLength(1));
    expect(at.get(id)?.control).toMatchObject({ state: "waiting", can_fork: false, can_steer: false });
    // A prompt steered into an agent that cannot be steered is queued until the turn ends.
    await at.send(id, promptOf("And?"), "steer");
    expect(at.get(id)?.control?.queued).toMatchObject([{ text: "And?" }]);
    const part = [...((await at.open(id))?.transcript.parts ?? [])].find((one) => one?.type === "request");
    const request = part?.type === "request" ? part.request : undefined;
    await at.answer(id, request?.request_id ?? "", {
      ...(request?.digest === undefined ? {} : { digest: request.digest }),
      answer: { option_ids: ["yes"] },
    });
    await eventually(async () => expect(await shown(at, id)).toContain("text: Thank you."));
    const told = await shown(at, id);
    expect(told.slice(0, 7)).toEqual([
      "prompt: Look",
      "note: Elsewhere 1.0 began its session agents-own-session",
      "text: May I?",
      "call: ls completed",
      "approval: answered yes",
      expect.stringContaining("result: success"),
      "text: Thank you.",
    ]);
    await expect(at.rewind(id, randomUUID())).rejects.toMatchObject({ code: "cannot" });
  });

  it("continues its session after a restart, unless another process has it open", async () => {
    const play = (...lines: Parameters<typeof writeScript>[2]) => {
      const args = writeScript(folder, "acp", lines);
      configure({ agents: { elsewhere: { command: process.execPath, args, title: "Elsewhere" } } });
      return restart();
    };
    const id = randomUUID();
    const first = await play(...opened, hears.prompt(2), says.text("One."), says.result(2));
    await first.start(id, { agent: "elsewhere", cwd: folder, prompt: promptOf("Go") });
    await eventually(() => expect(first.get(id)?.status).toBe("completed"));

    const second = await play(
      hears.initialize,
      says.hello({ loadSession: true }),
      hears.load,
      says.text("One."),
      says.loaded,
      hears.prompt(2),
      says.text("Two."),
      says.result(2),
    );
    open_elsewhere.add("agents-own-session");
    await second.send(id, promptOf("On"), "queue");
    await eventually(() => expect(second.get(id)?.status).toBe("failed"));
    open_elsewhere.clear();
    await second.send(id, promptOf("Again"), "queue");
    await eventually(() => expect(second.get(id)?.status).toBe("completed"));
    expect((await shown(second, id)).filter((line) => line.startsWith("text: "))).toEqual([
      "text: One.",
      "text: Two.",
    ]);
  });
});

it("rejects new and resumed sessions whose script cannot be played, with the reason", async () => {
  const at = await restart();
  const none = join(folder, "none.json");
  const broken = join(folder, "broken.json");
  writeFileSync(broken, "{");
  const start = (model: string) =>
    at.start(randomUUID(), { agent: "scripted", model, cwd: folder, prompt: promptOf("Go") });
  const refused = (message: string) => ({
    status: 400,
    code: "model",
    message: expect.stringContaining(`\`model\`: ${message}`),
  });
  const missing = refused(`The script ${none} cannot be read: ENOENT: no such file or directory.`);
  await expect(start(`file:${none}`)).rejects.toMatchObject(missing);
  await expect(start(`file:${broken}`)).rejects.toMatchObject(refused(`${broken} is not JSON`));
  await expect(start("nothing")).rejects.toMatchObject(refused('Unknown script "nothing". Available: '));
  expect(at.list()).toEqual([]);
  const id = await begin(at, { steps: [say("Done.")] });
  await expect(at.setModel(id, `file:${none}`)).rejects.toMatchObject(missing);
});

it("gives scripts their files in a separate folder, in their initial state", async () => {
  const { cwd = "" } = entry(agents(), "scripted") ?? {};
  mkdirSync(cwd);
  const begin_in = async (at: string) => {
    const host = createTestHost({ cwd: at });
    const config = {
      agent: "scripted",
      model: "discovery",
      cwd: at,
      kind: "hosted",
      depth: 0,
      created_at: 0,
    } as const;
    await agents().find("scripted")?.create(config, host);
    host.remove();
  };
  await begin_in(cwd);
  const [name = "", text] = Object.entries(scripts.get("discovery")?.files ?? {})[0] ?? [];
  expect(readFileSync(join(cwd, name), "utf8")).toBe(text);
  writeFileSync(join(cwd, name), "changed by an earlier session");
  await begin_in(cwd);
  expect(readFileSync(join(cwd, name), "utf8")).toBe(text);
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  await begin_in(elsewhere);
  expect(readdirSync(elsewhere)).toEqual([]);
});
