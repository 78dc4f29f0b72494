import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { CLIENT_HEADER, sessionReply, sessionsReply } from "../../src/protocol.ts";
import { loadAccess } from "../../src/server/auth/access.ts";
import { runPrompt } from "../../src/server/cli/run-prompt.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { eventually } from "../eventually.ts";
import { startDaemon } from "./managed/daemon.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-run-"));
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => new Promise((ended) => child.once("close", ended))));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

let homes = 0;
/** An empty home folder with a working folder. */
function newHome() {
  const path = join(folder, `home${homes++}`);
  const work = join(path, "work");
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, "a.txt"), "hello world\n");
  return { path, work };
}

function start({ path, work }: { path: string; work: string }, args: string[], environment = {}) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT, ...args], {
    cwd: work,
    env: {
      ...bareEnvironment,
      HOME: path,
      USERPROFILE: path,
      XDG_DATA_HOME: join(path, "share"),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.err += chunk;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { child, said, ended };
}

const scripted = (model: string) => ["--provider", "scripted", "--model", model];

/** Runs calls that a user at a terminal has to allow; by default two calls of one message. */
async function sitDown(
  { path, work }: { path: string; work: string },
  commands = ["touch one", "touch two"],
  /** Delay of an answer, in milliseconds. */
  clock = { pace: 1_000 },
) {
  const daemon = await startDaemon(path);
  running.add(daemon.process);
  daemon.process.once("close", () => running.delete(daemon.process));
  const shell = (command: string) => ({ tool_call: { name: "shell", arguments: { command } } });
  const script = {
    title: "Two",
    tokens_per_second: 0,
    steps: [{ parts: commands.map(shell) }, { parts: [{ text: "Done." }] }],
  };
  writeFileSync(join(path, "script.json"), JSON.stringify(script));
  const said = { out: "", err: "" };
  const typed = new PassThrough();
  const screen = new PassThrough().on("data", (chunk) => {
    said.err += chunk;
  });
  const terminal = createInterface({ input: typed, output: screen });
  let time = 0;
  const ended = runPrompt({
    origin: daemon.origin,
    token: loadAccess(join(path, "data")).api_token,
    link: daemon.origin,
    prompt: "Go",
    agent: "scripted",
    model: `file:${join(path, "script.json")}`,
    cwd: work,
    wanted_cwd: work,
    as: "text",
    write: async (text) => {
      said.out += text;
    },
    warn(text) {
      said.err += `${text}\n`;
    },
    ask: (question, signal) => terminal.question(question, { signal }),
    now: () => {
      time += clock.pace;
      return time;
    },
    stop: new AbortController().signal,
  }).finally(() => terminal.close());
  return { daemon, typed, said, ended };
}

const prompts = ({ err }: { err: string }) => err.match(/^> /gm) ?? [];

/** Signs in with a launch link as a browser does. */
async function enter(link: string) {
  const { origin } = new URL(link);
  const entered = await fetch(link.replace(/&next=.*/, ""), { redirect: "manual" });
  const [cookie = ""] = (entered.headers.getSetCookie()[0] ?? "").split(";");
  const headers = { cookie, [CLIENT_HEADER]: "1", "sec-fetch-site": "same-origin", origin };
  return {
    get: async (path: string): Promise<unknown> => await (await fetch(origin + path, { headers })).json(),
    post: async (path: string, body: unknown) =>
      await fetch(origin + path, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

/** Answers the request of the session in this output of `run` with its first option. Returns the request's title. */
async function answerFirst({ get, post }: Awaited<ReturnType<typeof enter>>, err: string): Promise<string> {
  const [, id] = /\/session\/([0-9a-f-]+)/.exec(err) ?? [];
  const { page } = sessionReply.parse(await get(`/api/sessions/${id}`));
  const [asked] = page.parts.flatMap(({ part }) => (part.type === "request" ? [part.request] : []));
  const answered = await post(`/api/sessions/${id}/requests/${asked?.request_id}`, {
    answer: { option_ids: [asked?.options[0]?.id] },
  });
  expect(answered.status).toBe(200);
  return asked?.title ?? "";
}

describe("run", () => {
  it("prints the turn in order, and exits with 0 if it completes", async () => {
    const { said, ended } = start(newHome(), ["run", "Say hello", ...scripted("hello")]);
    expect(await ended).toBe(0);
    expect(said.out).toContain("> Say hello");
    expect(said.out.indexOf("thinking │")).toBeLessThan(said.out.indexOf("Hello! I am a script"));
    expect(said.err).toContain("/launch?token=");
    expect(said.err).not.toContain("Other sessions");
  });

  it("prints the session's frames with --json, which fold to the daemon's session", async () => {
    const home = newHome();
    const daemon = start(home, ["--port", "0", "--no-samples"]);
    await eventually(() => expect(daemon.said.out).toContain("\n"));
    const { said, ended } = start(home, ["run", "Say hello", ...scripted("hello"), "--json"]);
    expect(await ended).toBe(0);
    const frames = said.out
      .trim()
      .split("\n")
      .map((line) => frame.parse(JSON.parse(line)));
    const session_id = frames[0]?.session_id ?? "";
    const folded = frames.reduce(accumulate, emptyTranscript(session_id));

    const { get } = await enter(daemon.said.out.trim());
    // The list publishes changes with a delay.
    await eventually(async () => {
      const { sessions } = sessionsReply.parse(await get("/api/sessions"));
      expect(sessions.map(({ id }) => id)).toEqual([session_id]);
    });
    const { page } = sessionReply.parse(await get(`/api/sessions/${session_id}`));
    expect([...folded.parts]).toEqual(page.parts.map(({ part }) => part));
    expect(page.parts.map(({ part }) => part.type)).toContain("thinking");
  });

  it("waits for an answer from a browser, and continues", async () => {
    const home = newHome();
    const daemon = start(home, ["--port", "0", "--no-samples"]);
    await eventually(() => expect(daemon.said.out).toContain("\n"));
    const { said, ended } = start(home, ["run", "Go", ...scripted("question")]);
    await eventually(() => expect(said.err).toContain("aiting for an answer"));
    const title = await answerFirst(await enter(daemon.said.out.trim()), said.err);
    expect(await ended).toBe(0);
    expect(said.out).toContain(title);
  });

  it("keeps its temporary daemon until other sessions are done, and ends it on a signal", async () => {
    const home = newHome();
    const linkIn = ({ err }: { err: string }) => /http:\S+/.exec(err)?.[0] ?? "";
    const waits = "aiting for an answer";
    const asking = ["run", "Go", ...scripted("question")];
    const first = start(home, asking);
    await eventually(() => expect(first.said.err).toContain(waits));
    const second = start(home, asking);
    await eventually(() => expect(second.said.err).toContain(waits));
    const browser = await enter(linkIn(first.said));
    await answerFirst(browser, first.said.err);
    await eventually(() =>
      expect(first.said.err).toContain("Other sessions are still running in this daemon"),
    );
    await answerFirst(browser, second.said.err);
    expect(await second.ended).toBe(0);
    expect(await first.ended).toBe(0);

    const third = start(home, asking);
    await eventually(() => expect(third.said.err).toContain(waits));
    const endless = start(home, ["run", "Go on", ...scripted("endless")]);
    await eventually(() => expect(endless.said.out.length).toBeGreaterThan(200));
    await answerFirst(await enter(linkIn(third.said)), third.said.err);
    await eventually(() =>
      expect(third.said.err).toContain("Other sessions are still running in this daemon"),
    );
    third.child.kill("SIGINT");
    expect(await third.ended).toBe(0);
    endless.child.kill("SIGKILL");
    await endless.ended;
  });

  it("leaves an earlier daemon's turns to the next daemon, and reports at once if it cannot start", async () => {
    const home = newHome();
    const daemon = await startDaemon(home.path);
    running.add(daemon.process);
    daemon.process.once("close", () => running.delete(daemon.process));
    const asking = { agent: "scripted", model: "question", cwd: home.work };
    const prompt = { message_id: crypto.randomUUID(), text: "Go" };
    await daemon.post("/api/sessions", { session_id: crypto.randomUUID(), ...asking, prompt });
    const states = async () =>
      sessionsReply.parse(await daemon.get("/api/sessions")).sessions.map(({ control }) => control?.state);
    await eventually(async () => expect(await states()).toEqual(["waiting"]));
    await daemon.kill("SIGTERM");

    const data = ["--data-dir", join(home.path, "data")];
    const told = start(home, ["run", "Say hello", ...scripted("hello"), ...data]);
    expect(await told.ended).toBe(0);
    expect(told.said.err).not.toContain("Other sessions");
    const unknown = start(home, ["run", "Go", "--provider", "unlisted", ...data]);
    expect(await unknown.ended).toBe(2);
    expect(unknown.said.err.trim()).toMatch(/^Unknown agent or provider unlisted.*$/);
  });

  it("reaches the running daemon at its listening address, even if browsers use another one", async () => {
    const home = newHome();
    const daemon = start(home, ["--port", "0", "--no-samples", "--origin", "http://localhost:9"]);
    await eventually(() => expect(daemon.said.out).toMatch(/^http:\/\/localhost:9\/launch\?token=\S+\n$/));
    const { said, ended } = start(home, ["run", "Say hello", ...scripted("hello")]);
    expect(await ended).toBe(0);
    expect(said.out).not.toBe("");
    expect(said.err).toContain("http://localhost:9/launch?");
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toBe(0);
  });

  it("asks in the terminal for two calls of one message, one after the other", async () => {
    const home = newHome();
    const { daemon, typed, said, ended } = await sitDown(home);
    await eventually(() => expect(prompts(said)).toHaveLength(1));
    expect(said.err).toContain("touch one");
    expect(said.err).not.toContain("touch two");
    typed.write("1\n");
    await eventually(() => expect(prompts(said)).toHaveLength(2));
    expect(said.err).toContain("touch two");
    typed.write("1\n");
    expect(await ended).toBe(0);
    expect(existsSync(join(home.work, "one"))).toBe(true);
    expect(existsSync(join(home.work, "two"))).toBe(true);
    await daemon.kill("SIGTERM");
  });

  it("ignores an answer that was typed before the approval could be read", async () => {
    const home = newHome();
    const clock = { pace: 100 };
    const { daemon, typed, said, ended } = await sitDown(home, ["touch one"], clock);
    await eventually(() => expect(prompts(said)).toHaveLength(1));
    typed.write("1\n1\n");
    await eventually(() => expect(prompts(said)).toHaveLength(2));
    expect(said.err).toContain("That was typed before the question could be read.");
    expect(existsSync(join(home.work, "one"))).toBe(false);
    clock.pace = 1_000;
    typed.write("3\n");
    expect(await ended).toBe(0);
    expect(existsSync(join(home.work, "one"))).toBe(false);
    await daemon.kill("SIGTERM");
  });

  it("shows everything to be allowed above the choices, including hidden characters", async () => {
    const empty = "\n".repeat(60);
    const { daemon, typed, said, ended } = await sitDown(newHome(), [
      "true # p\u0430th\u200b \u{e0041}\u00a0ok",
      `true${empty}touch  two  ${" ".repeat(200)}# \n${empty}true`,
    ]);
    await eventually(() => expect(prompts(said)).toHaveLength(1));
    const looks = "   │ true # p⟨а⟨U+0430⟩⟩th⟨U+200B⟩ ⟨U+E0041⟩⟨U+00A0⟩ok\n";
    expect(said.out).toContain(looks);
    expect(said.err).toMatch(/│ true #.*\n1 line, 18 characters\n1 .*2 .*\n> /);
    expect(said.err).toContain(looks);
    typed.write("1\n");
    await eventually(() => expect(prompts(said)).toHaveLength(2));
    for (const text of [said.out, said.err])
      expect(text).toContain(
        "   │ true\n   … 59 blank lines\n   │ touch  two⟨202 spaces⟩#⟨1 space⟩\n   … 60 blank lines\n   │ true\n",
      );
    expect(said.err).toMatch(/│ true\n122 lines, 343 characters\n1 .*2 .*\n> /);
    typed.write("1\n");
    expect(await ended).toBe(0);
    await daemon.kill("SIGTERM");
  });

  it("withdraws a question that was answered in a browser", async () => {
    const home = newHome();
    const { daemon, typed, said, ended } = await sitDown(home);
    await eventually(() => expect(prompts(said)).toHaveLength(1));
    const { session_id, first } = await eventually(async () => {
      const [row] = sessionsReply.parse(await daemon.get("/api/sessions")).sessions;
      const { page } = sessionReply.parse(await daemon.get(`/api/sessions/${row?.id}`));
      const [first] = page.parts.flatMap(({ part }) => (part.type === "request" ? [part.request] : []));
      expect(first).toBeDefined();
      return { session_id: row?.id, first };
    });
    const denial = first?.options.find(({ kind }) => kind === "reject_once")?.id;
    await daemon.post(`/api/sessions/${session_id}/requests/${first?.request_id}`, {
      digest: first?.digest,
      answer: { option_ids: [denial] },
    });
    await eventually(() => expect(prompts(said)).toHaveLength(2));
    typed.write("1\n");
    expect(await ended).toBe(0);
    expect(existsSync(join(home.work, "one"))).toBe(false);
    expect(existsSync(join(home.work, "two"))).toBe(true);
    await daemon.kill("SIGTERM");
  });

  it("stops the turn on a signal, keeps its parts, and sets its exit code", async () => {
    const { child, said, ended } = start(newHome(), ["run", "Go", ...scripted("endless")]);
    await eventually(() => expect(said.out.length).toBeGreaterThan(200));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(said.out).toContain("interrupt");
  });

  it.skipIf(process.platform === "win32")(
    "prints the notices that the page would show: configuration errors and failures during the run",
    async () => {
      const home = newHome();
      const data = join(home.path, "data");
      mkdirSync(data);
      const config = {
        providers: { mine: { wire: "telegraph" } },
        mcp_servers: { late: { command: "false" } },
      };
      writeFileSync(join(data, "config.json"), JSON.stringify(config));
      writeFileSync(join(data, "keys.json"), "{}", { mode: 0o644 });
      const { said, ended } = start(home, ["run", "Hi", ...scripted("hello"), "--json", "--data-dir", data]);
      expect(await ended).toBe(0);
      for (const line of said.out.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("session_id");
      for (const text of ["providers.mine.wire", "keys.json can be read by other users", "MCP server late"]) {
        expect(said.err.split(text)).toHaveLength(2);
      }
    },
  );

  it("reports what is missing if it cannot start", async () => {
    const home = newHome();
    // Agents that are installed on this machine would be found on its PATH.
    const none = start(home, ["run", "Go"], { PATH: home.path });
    expect(await none.ended).toBe(2);
    expect(none.said.err).toContain("ANTHROPIC_API_KEY");
    const unknown = start(home, ["run", "Go", "--provider", "unlisted"]);
    expect(await unknown.ended).toBe(2);
    expect(unknown.said.err).toContain("Unknown agent or provider unlisted");
    const unwritten = start(home, ["run", "Go", ...scripted(`file:${join(home.path, "none.json")}`)]);
    expect(await unwritten.ended).toBe(2);
    expect(unwritten.said.err).toContain("none.json cannot be read");
    const empty = start(home, ["run", ...scripted("hello")]);
    expect(await empty.ended).toBe(2);
    const nowhere = start(home, ["run", "Go", ...scripted("hello"), "--cwd", join(home.path, "none")]);
    expect(await nowhere.ended).toBe(2);
    expect(nowhere.said.err).toContain("none");
  });
});
