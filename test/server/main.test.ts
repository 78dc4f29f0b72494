import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { CLIENT_HEADER, sessionsReply, statusReply } from "../../src/protocol.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { expectNoSecrets } from "../secrets.ts";
import { mountable, mountSmall } from "./small-disk.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "verbatim-main-"));
const running = new Set<ChildProcess>();
const printed: { output: string; data: string }[] = [];
afterAll(async () => {
  await Promise.all([...running].map((process) => stop(process, "SIGKILL")));
  for (const { output, data } of printed) expectNoSecrets(output, data);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

let homes = 0;
/** An empty home folder. */
function newHome() {
  const path = join(folder, `home ${homes++}`);
  mkdirSync(join(path, ".claude/projects/-work"), { recursive: true });
  return { path, data: join(path, "data") };
}
type Home = ReturnType<typeof newHome>;

interface Run {
  process: ChildProcess;
  out: () => string;
  err: () => string;
  ended: Promise<number | null>;
}

function start(home: Home, args: string[], program = DAEMON_SCRIPT, node: string[] = []): Run {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ...node, program, ...args],
    {
      env: {
        ...bareEnvironment,
        HOME: home.path,
        USERPROFILE: home.path,
        XDG_DATA_HOME: join(home.path, "share"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  running.add(child);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      running.delete(child);
      printed.push({ output: out + err, data: home.data });
      resolve(code);
    });
  });
  return { process: child, out: () => out, err: () => err, ended };
}

async function finish(home: Home, args: string[]) {
  const run = start(home, args);
  const code = await run.ended;
  return { code, out: run.out(), err: run.err() };
}

/** Waits for the address that a daemon prints. */
async function addressOf(run: Run): Promise<string> {
  await expect.poll(() => run.out().includes("\n") || run.process.exitCode !== null).toBe(true);
  const [address = ""] = run.out().split("\n");
  if (!URL.canParse(address)) throw new Error(`No address: ${run.out()}${run.err()}`);
  return address;
}

function stop(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    process.once("exit", () => resolve());
    process.kill(signal);
  });
}

async function enter(link: string) {
  const reply = await fetch(link, { redirect: "manual" });
  const [cookie = ""] = (reply.headers.getSetCookie()[0] ?? "").split(";");
  return { status: reply.status, cookie, origin: new URL(link).origin };
}

describe("the command", { timeout: 60_000 }, () => {
  it("documents every flag, and prints its version", async () => {
    const home = newHome();
    const help = await finish(home, ["--help"]);
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const flag of [
      "port",
      "data-dir",
      "no-samples",
      "password-file",
      "cert",
      "key",
      "accounting",
      "wire",
    ])
      expect(help.out).toContain(`\n  --${flag} `);
    for (const line of help.out.split("\n").slice(7)) expect(line.length).toBeLessThanOrEqual(100);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(await finish(home, ["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
    expect(readdirSync(home.path)).toEqual([".claude"]);
  });

  it("describes an invalid flag in one line, and writes nothing", async () => {
    const home = newHome();
    const text =
      "Unknown option --prot. Put arguments that start with a dash after `--`. `--help` lists all options.";
    expect(await finish(home, ["--prot", "4"])).toEqual({ code: 2, out: "", err: `${text}\n` });
    expect(readdirSync(home.path)).toEqual([".claude"]);
  });

  it.each<[string[], string]>([
    [["--port", "http"], "--port http"],
    [["--port", "65536"], "--port 65536"],
    [["show"], "show FILE"],
    [["no-such-folder"], "no-such-folder: no such command, file or folder"],
    [["no\u001b]0;owned\u0007-\u009b2J\u202e"], "no\\u001b]0;owned\\u0007-\\u009b2J\\u202e: no such"],
    [["--host", "0.0.0.0"], "--password-file"],
    [["--link"], "No daemon uses"],
    [["LOOP"], "cannot be read"],
    [["--cert", "PASSWORD", "--key", "PASSWORD"], "--cert"],
    [
      ["--port", "0", "--host", "192.0.2.1", "--password-file", "PASSWORD", "--origin", "https://v.example"],
      "--host 192.0.2.1",
    ],
    [["--data-dir", "PASSWORD"], "--data-dir"],
    [["token", "--data-dir", "PASSWORD"], "--data-dir"],
    [["run", "Go", "--data-dir", "PASSWORD"], "--data-dir"],
    [["--data-dir", "PASSWORD/below"], "--data-dir"],
    [["token", "--data-dir", "PASSWORD/below"], "--data-dir"],
    [["--data-dir", process.platform === "win32" ? "SHORT" : "/proc/verbatim"], "--data-dir"],
  ])("rejects %j with one line that includes a remedy", async (args, said) => {
    const home = newHome();
    const files = { PASSWORD: "correct horse battery\n", SHORT: "short\n" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(home.path, name), text);
    symlinkSync("LOOP", join(home.path, "LOOP"));
    const isPath = (arg: string) => /^[A-Z]+(?:\/|$)/.test(arg);
    const { code, out, err } = await finish(
      home,
      args.map((arg) => (isPath(arg) ? join(home.path, arg) : arg)),
    );
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(said);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("prints only its address, signs the page in, and ends on a signal", async () => {
    const home = newHome();
    const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 2 });
    writeFileSync(join(home.path, `.claude/projects/-work/${session_id}.jsonl`), `${lines.join("\n")}\n`);
    const run = start(home, ["--port", "0", "--data-dir", home.data]);
    const { cookie, origin } = await enter(await addressOf(run));
    await expect
      .poll(async () => {
        const reply = await fetch(`${origin}/api/sessions`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
        return sessionsReply.parse(await reply.json()).sessions.map(({ id }) => id);
      })
      .toEqual([session_id]);
    run.process.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(run.out().trim().split("\n")).toHaveLength(1);
    expect(run.err()).toBe("");
  });

  it("shuts down properly if it gets the signal while starting, with all stores closed", async () => {
    const home = newHome();
    const run = start(home, ["--port", "0", "--data-dir", home.data, "--no-samples"]);
    await expect.poll(() => existsSync(join(home.data, "verbatim.db")), { interval: 1 }).toBe(true);
    run.process.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(readdirSync(home.data).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
  });

  it("keeps an open page signed in over a restart, and prints a new link on request", async () => {
    const home = newHome();
    const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
    const first = start(home, args);
    const { cookie, origin } = await enter(await addressOf(first));
    const { port } = new URL(origin);

    const link = await finish(home, ["--link", "--data-dir", home.data]);
    expect(link).toMatchObject({ code: 0, err: "" });
    expect((await enter(link.out.trim())).status).toBe(303);
    await stop(first.process, "SIGKILL");

    const second = start(home, ["--port", port, "--data-dir", home.data, "--no-samples"]);
    await addressOf(second);
    const reply = await fetch(`${origin}/api/status`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
    expect(reply.status).toBe(200);
    const again = await finish(home, ["--link", "--data-dir", home.data]);
    expect((await enter(again.out.trim())).status).toBe(303);

    const taken = await finish(newHome(), [
      "--port",
      port,
      "--data-dir",
      join(home.path, "other"),
      "--no-samples",
    ]);
    expect(taken).toMatchObject({ code: 2, out: "" });
    expect(taken.err).toContain(`Port ${port} is in use`);
    await stop(second.process, "SIGINT");
  });

  it("exits with one line and without a store if its secrets cannot be stored", async () => {
    const home = newHome();
    mkdirSync(join(home.data, "access.json"), { recursive: true });
    const { code, out, err } = await finish(home, ["--port", "0", "--data-dir", home.data, "--no-samples"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`The data folder ${home.data} cannot be used`);
    expect(err).toContain("--data-dir");
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(readdirSync(home.data)).toEqual(["access.json"]);
  });

  it("runs without the samples if they cannot be written, and says so", async () => {
    const home = newHome();
    mkdirSync(home.data);
    writeFileSync(join(home.data, "samples"), "No folder.");
    const run = start(home, ["--port", "0", "--data-dir", home.data, "--samples"]);
    await addressOf(run);
    await expect.poll(run.err).toContain("The sample sessions cannot be shown");
    await stop(run.process, "SIGTERM");
    expect(run.err().trim().split("\n")).toHaveLength(1);
  });

  it("runs without a browser if its start page cannot be written, and says so", async () => {
    const home = newHome();
    mkdirSync(join(home.data, "open.html"), { recursive: true });
    const run = start(home, ["--port", "0", "--data-dir", home.data, "--no-samples", "--open"]);
    await addressOf(run);
    await expect.poll(run.err).toContain("No browser could be opened");
    run.process.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it.skipIf(!mountable)(
    "restarts by itself after its disk was full (skipped without a small file system)",
    async () => {
      const home = newHome();
      const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 2 });
      const file = join(home.path, `.claude/projects/-work/${session_id}.jsonl`);
      writeFileSync(file, `${lines.join("\n")}\n`);
      expect(mountSmall(home.data, 4 * 1024 * 1024)).toBe(true);
      try {
        const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
        const before = start(home, args);
        await addressOf(before);
        await stop(before.process, "SIGTERM");
        const ballast = join(home.data, "ballast");
        expect(() => writeFileSync(ballast, new Uint8Array(8 * 1024 * 1024))).toThrow("ENOSPC");

        const run = start(home, args);
        const { cookie, origin } = await enter(await addressOf(run));
        const headers = { cookie, [CLIENT_HEADER]: "1" };
        const notices = async () => {
          const reply = await fetch(`${origin}/api/status`, { headers });
          return statusReply.parse(await reply.json()).notices.map(({ text }) => text);
        };
        const row = async () => {
          const reply = await fetch(`${origin}/api/sessions`, { headers });
          return sessionsReply.parse(await reply.json()).sessions.find(({ id }) => id === session_id);
        };
        expect((await notices()).join()).toContain("cannot be");
        expect(run.err()).toContain("Verbatim retries automatically");
        await expect.poll(row).toMatchObject({ parts: expect.any(Number) });

        rmSync(ballast);
        // The signed-in page stays signed in at the same address.
        await expect.poll(() => notices().catch(() => ["away"])).toEqual([]);
        await expect.poll(row).toMatchObject({ parts: expect.any(Number) });
        rmSync(file);
        await expect.poll(row).toMatchObject({ archived: true });
        await stop(run.process, "SIGTERM");
        expect(run.err()).toContain("The data folder can be used again");
      } finally {
        spawnSync("umount", [home.data]);
      }
    },
  );

  it.skipIf(!mountable)(
    "signs an open page in again if its data folder is now read-only (skipped if none can be mounted)",
    async () => {
      const home = newHome();
      expect(mountSmall(home.data, 4 * 1024 * 1024)).toBe(true);
      try {
        const args = ["--data-dir", home.data, "--no-samples"];
        const before = start(home, ["--port", "0", ...args]);
        const { cookie, origin } = await enter(await addressOf(before));
        await stop(before.process, "SIGTERM");
        expect(spawnSync("mount", ["-o", "remount,ro", home.data]).status).toBe(0);
        const run = start(home, ["--port", new URL(origin).port, ...args]);
        await addressOf(run);
        const reply = await fetch(`${origin}/api/status`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
        expect(reply.status).toBe(200);
        await expect.poll(run.err).toContain("cannot be used");
        await stop(run.process, "SIGTERM");
      } finally {
        spawnSync("umount", [home.data]);
      }
    },
  );

  it("prints notices in the terminal: another daemon on the store, a damaged store", async () => {
    const home = newHome();
    const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
    const first = start(home, args);
    await addressOf(first);
    const second = start(home, args);
    await addressOf(second);
    await expect.poll(second.err).toContain("already uses the data folder");
    await stop(second.process, "SIGTERM");
    await stop(first.process, "SIGTERM");

    writeFileSync(join(home.data, "verbatim.db"), "This was a database once.");
    const third = start(home, args);
    await addressOf(third);
    await expect.poll(third.err).toContain("It was moved to");
    await stop(third.process, "SIGTERM");
  });

  it("reports given paths without sessions, with control characters escaped", async () => {
    const home = newHome();
    const file = join(home.path, "notes\u001b[2J.md");
    writeFileSync(file, "# Notes\n");
    const run = start(home, [file, "--port", "0", "--data-dir", home.data]);
    await addressOf(run);
    await expect.poll(run.err).toContain("it contains no session that Verbatim can read");
    expect(run.err()).not.toContain("\u001b");
    await stop(run.process, "SIGTERM");
    expect(run.err().trim().split("\n")).toHaveLength(1);
  });

  it("takes over when the daemon that it shares its data folder with ends", async () => {
    const home = newHome();
    const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
    const first = start(home, args);
    await addressOf(first);
    const second = start(home, args);
    const { cookie, origin } = await enter(await addressOf(second));
    const notices = async () => {
      const reply = await fetch(`${origin}/api/status`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
      return statusReply.parse(await reply.json()).notices.map(({ text }) => text);
    };
    expect((await notices()).join()).toContain(`process ${first.process.pid}`);

    await stop(first.process, "SIGTERM");
    // It prints a new link, and the signed-in page stays signed in at the same address.
    await expect.poll(() => second.out().trim().split("\n").length).toBe(2);
    expect(await notices()).toEqual([]);
    const link = await finish(home, ["--link", "--data-dir", home.data]);
    expect(link).toMatchObject({ code: 0, err: "" });
    expect(new URL(link.out.trim()).origin).toBe(origin);
    await stop(second.process, "SIGTERM");
  });

  it("leaves both stores to the first daemon, even while that is still opening the first one", async () => {
    const home = newHome();
    mkdirSync(home.data);
    const lock = (name: string) => {
      const database = new DatabaseSync(join(home.data, name), { timeout: 0 });
      database.exec("BEGIN EXCLUSIVE");
      return database;
    };
    const history = lock("history-lock.db");
    const run = start(home, ["--port", "0", "--data-dir", home.data, "--no-samples"]);
    await addressOf(run);
    await expect.poll(() => run.err().match(/already uses the data folder/g)).toHaveLength(2);
    const archive = lock("lock.db");
    archive.close();
    history.close();
    await expect.poll(() => run.out().trim().split("\n").length).toBe(2);
    expect(() => lock("lock.db")).toThrow("locked");
    await stop(run.process, "SIGTERM");
  });

  it.skipIf(process.platform === "win32")(
    "does not replace the control socket of a daemon that is temporarily unresponsive",
    async () => {
      const home = newHome();
      mkdirSync(home.data);
      // The lock of a suspended daemon, as after Ctrl-Z.
      const lock = new DatabaseSync(join(home.data, "history-lock.db"));
      lock.exec("BEGIN EXCLUSIVE");
      const connections: Socket[] = [];
      const control = createServer((socket) => connections.push(socket));
      await new Promise<void>((resolve) => control.listen(join(home.data, "daemon.sock"), resolve));
      try {
        const args = ["--data-dir", home.data];
        const run = start(home, ["--port", "0", "--no-samples", ...args]);
        await addressOf(run);
        await stop(run.process, "SIGTERM");
        for (const socket of connections.splice(0)) socket.destroy();
        const link = start(home, ["--link", ...args]);
        await expect.poll(() => connections.length).toBe(1);
        connections[0]?.end("http://127.0.0.1/launch?token=mine\nhttp://127.0.0.1:1\n");
        expect(await link.ended).toBe(0);
        expect(link.out()).toContain("token=mine");
      } finally {
        control.close();
        lock.close();
      }
    },
  );

  it("creates links if the path of the data folder is too long for a socket", async () => {
    const home = newHome();
    const data = join(home.data, "long ".repeat(30).trim());
    const run = start(home, ["--port", "0", "--data-dir", data, "--no-samples"]);
    const { origin } = await enter(await addressOf(run));
    const link = await finish(home, ["--link", "--data-dir", data]);
    expect(link).toMatchObject({ code: process.platform === "linux" ? 0 : 2 });
    if (link.code === 0) expect(await enter(link.out.trim())).toMatchObject({ status: 303, origin });
    await stop(run.process, "SIGTERM");
    expect(readdirSync(data)).not.toContain("daemon.sock");
    expect((await finish(home, ["--link", "--data-dir", data])).err).toContain("No daemon uses");
  });

  it("takes over even if the files that it was started with are gone, retrying until it can", async () => {
    const home = newHome();
    const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
    const first = start(home, args);
    await addressOf(first);
    const password = join(home.path, "password");
    writeFileSync(password, "correct horse battery\n");
    const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 2 });
    const file = join(home.path, `${session_id}.jsonl`);
    writeFileSync(file, `${lines.join("\n")}\n`);
    const second = start(home, [...args, "--password-file", password, file]);
    await addressOf(second);
    rmSync(password);
    rmSync(file);
    const access = join(home.data, "access.json");
    renameSync(access, `${access}.away`);
    mkdirSync(access);
    await stop(first.process, "SIGTERM");
    await expect.poll(second.err).toContain("will try again. The data folder");
    rmSync(access, { recursive: true });
    renameSync(`${access}.away`, access);
    await expect.poll(() => second.out().trim().split("\n").length).toBe(2);
    await expect.poll(second.err).toContain(`${file}: the path does not exist`);
    await stop(second.process, "SIGTERM");
  });

  it("takes over with the page and version that it was started with", async () => {
    const home = newHome();
    const installed = join(home.path, "installed");
    const page = join(installed, "dist/web/index.html");
    cpSync(join(root, "src"), join(installed, "src"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(installed, "node_modules"), "junction");
    writeFileSync(join(installed, "package.json"), JSON.stringify({ type: "module", version: "1.2.3" }));
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, "<!doctype html>The page.");
    const args = ["--port", "0", "--data-dir", home.data, "--no-samples"];
    const first = start(home, args);
    await addressOf(first);
    const second = start(home, args, join(installed, "src/server/cli/main.ts"));
    const { cookie, origin } = await enter(await addressOf(second));
    const text = async (path: string) =>
      await (await fetch(origin + path, { headers: { cookie, [CLIENT_HEADER]: "1" } })).text();
    rmSync(dirname(page), { recursive: true });
    rmSync(join(installed, "package.json"));
    await stop(first.process, "SIGTERM");
    await expect.poll(() => second.out().trim().split("\n").length).toBe(2);
    expect(await text("/")).toContain("The page.");
    expect(await text("/api/status")).toContain('"1.2.3"');
    await stop(second.process, "SIGTERM");
  });

  it("opens many long sessions in little memory by evicting those without viewers", async () => {
    const home = newHome();
    const ids = Array.from({ length: 14 }, (_, seed) => {
      const { session_id, lines } = generateClaudeSession({ parts: 40, turns: 1, seed });
      const last = JSON.parse(lines.at(-1) ?? "{}");
      const path = join(home.path, ".claude/projects/-work", `${session_id}.jsonl`);
      const long = Array.from({ length: 200 }, (_, at) => {
        const content = [{ type: "text", text: `${at} `.repeat(34_000).slice(0, 100_000) }];
        return JSON.stringify({
          ...last,
          uuid: `long-${at}`,
          message: { ...last.message, id: `long-${at}`, content },
        });
      });
      writeFileSync(path, `${[...lines, ...long].join("\n")}\n`);
      return session_id;
    });
    // All of them at once take 280 MB; one after the other less than 140, and more if the garbage collector has to wait for a
    // core.
    const run = start(home, ["--data-dir", home.data, "--port", "0", "--no-samples"], DAEMON_SCRIPT, [
      "--max-old-space-size=230",
    ]);
    const { cookie, origin } = await enter(await addressOf(run));
    const ask = (path: string) => fetch(origin + path, { headers: { cookie, [CLIENT_HEADER]: "1" } });
    await expect
      .poll(async () => statusReply.parse(await (await ask("/api/status")).json()).index.done, {
        timeout: 150_000,
      })
      .toBe(true);
    for (const id of ids) expect((await ask(`/api/sessions/${id}`)).status).toBe(200);
    expect(run.process.exitCode).toBeNull();
    await stop(run.process, "SIGTERM");
  }, 180_000);

  it("listens on loopback only", async () => {
    const home = newHome();
    const run = start(home, ["--port", "0", "--data-dir", home.data, "--no-samples"]);
    const { port } = new URL(await addressOf(run));
    // Another program can still bind the port on another address, unlike if the daemon listened on all.
    const other = createServer();
    await new Promise<void>((resolve, reject) => {
      other.on("error", reject).listen({ host: "127.0.0.2", port: Number(port) }, resolve);
    });
    other.close();
    await stop(run.process, "SIGTERM");
  });

  it("shows samples if there are no sessions", async () => {
    const home = newHome();
    const run = start(home, ["--port", "0", "--data-dir", home.data]);
    const { cookie, origin } = await enter(await addressOf(run));
    await expect
      .poll(async () => {
        const reply = await fetch(`${origin}/api/sessions`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
        return sessionsReply.parse(await reply.json()).sessions.filter(({ sample }) => sample).length;
      })
      .toBeGreaterThan(3);
    await stop(run.process, "SIGTERM");
  });

  it("writes only data to standard output when showing a file, and handles a closed pipe", async () => {
    const home = newHome();
    const { lines } = generateClaudeSession({ parts: 3_000, turns: 3 });
    const file = join(home.path, "session.jsonl");
    writeFileSync(file, `${lines.join("\n")}\n`);
    const whole = await finish(home, ["show", file, "--json"]);
    expect(whole).toMatchObject({ code: 0, err: "" });
    for (const line of whole.out.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");

    const left = start(home, ["show", file, "--json"]);
    await expect.poll(() => left.out().length > 0).toBe(true);
    left.process.stdout?.destroy();
    expect(await left.ended).toBe(0);
    expect(left.err()).toBe("");

    const missing = await finish(home, ["show", "gone\u001b]0;owned\u0007\u009b2J.jsonl"]);
    expect(missing.err).toBe("gone\\u001b]0;owned\\u0007\\u009b2J.jsonl: no such file.\n");

    const none = await finish(home, ["show", DAEMON_SCRIPT]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain("not a session");
    expect(readdirSync(home.path).sort()).toEqual([".claude", "session.jsonl"]);
  });
});
