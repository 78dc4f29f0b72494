import { type ChildProcess, execFile, spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectNoSecrets } from "./secrets.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");
/** The Node that runs this test comes first, so that `npx` starts the package with it. */
const path = [join(process.execPath, ".."), process.env.PATH].join(delimiter);

let scratch: string;
let tarball: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "verbatim-package-"));
  const home = join(scratch, "home");
  await mkdir(home);
  environment = {
    ...process.env,
    // Vitest's `test` would create a development build of the package and in dist/.
    NODE_ENV: undefined,
    PATH: path,
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    CODEX_HOME: join(home, ".codex"),
    npm_config_cache: join(scratch, "npm"),
    npm_config_update_notifier: "false",
  };
  // `npm test` has just built what `prepack` would build.
  const scripts = process.env.VERBATIM_TEST_DAEMON === "built" ? ["--ignore-scripts"] : [];
  const options = ["pack", "--silent", ...scripts, "--pack-destination", scratch];
  await run("npm", options, { cwd: root, env: environment });
  const [found] = (await readdir(scratch)).filter((name) => name.endsWith(".tgz"));
  tarball = join(scratch, found ?? "");
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

it("packs the session store for the Claude Agent SDK without dependencies, ready to import", async () => {
  const folder = await emptyFolder("session-store");
  await run("npm", ["pack", "--silent", "--pack-destination", folder, "./dist/claude-session-store"], {
    cwd: root,
    env: environment,
  });
  const archive = (await readdir(folder)).find((name) => name.includes("session-store")) ?? "";
  await run("npm", ["install", "--silent", "--offline", "--prefix", folder, `./${archive}`], {
    cwd: folder,
    env: environment,
  });
  const script = `import { VerbatimSessionStore } from "verbatim-claude-session-store";
    const store = new VerbatimSessionStore({ url: "http://127.0.0.1:1", token: "t" });
    console.log(typeof store.append, typeof store.load, typeof store.listSessions, typeof store.listSubkeys);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
  expect(stdout.trim()).toBe("function function function function");
});

describe("the packed package, in an empty folder", () => {
  it("explains itself without a warning", async () => {
    const { stdout, stderr } = await run("npx", ["--yes", `./${basename(tarball)}`, "--help"], {
      cwd: await emptyFolder("help"),
      env: environment,
    });
    expect(stdout).toContain("--port");
    expect(stdout).toContain("--data-dir");
    expect(stderr).toBe("");
  });

  it("includes the licences of everything that is bundled", async () => {
    const { stdout } = await run("tar", [
      "xzOf",
      tarball,
      "package/dist/web/licenses.md",
      "package/dist/server/licenses.md",
    ]);
    for (const name of ["react", "hono", "zod", "shiki", "ws"]) expect(stdout).toContain(`## ${name} `);
  });

  it("contains the production build of the page", async () => {
    const folder = await emptyFolder("page");
    await run("tar", ["xzf", tarball, "package/dist/web/assets"], { cwd: folder });
    const assets = join(folder, "package/dist/web/assets");
    const scripts = (await readdir(assets)).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(scripts.map((name) => readFile(join(assets, name), "utf8")));
    expect(texts.some((text) => text.includes("createRoot"))).toBe(true);
    expect(texts.filter((text) => text.includes("Download the React DevTools"))).toEqual([]);
    // The daemon validates its messages (zod), and the browser knows character names, so the page has neither.
    expect(texts.filter((text) => /ZodError|_zod|CounterClockwiseContourIntegral/.test(text))).toEqual([]);
  });

  it("serves its page and its samples", async () => {
    const folder = await emptyFolder("serve");
    const data = join(folder, "data");
    const daemon = spawn(
      "npx",
      ["--yes", `./${basename(tarball)}`, "--port", "0", "--data-dir", data, "--samples"],
      {
        cwd: folder,
        env: environment,
        detached: true,
      },
    );
    const output: string[] = [];
    for (const stream of [daemon.stdout, daemon.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
    try {
      const address = await printedAddress(daemon, () => output.join(""));
      const entry = await fetch(address, { redirect: "manual" });
      const cookie = entry.headers
        .getSetCookie()
        .map((line) => line.split(";")[0])
        .join("; ");
      expect(cookie).not.toBe("");
      const { origin } = new URL(address);
      const page = await fetch(`${origin}/`, { headers: { cookie } });
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('<div id="root">');
      await expect
        .poll(
          async () => {
            const reply = await fetch(`${origin}/api/sessions`, {
              headers: { cookie, "x-verbatim-client": "1" },
            });
            const { sessions } = (await reply.json()) as { sessions: { sample?: boolean }[] };
            return sessions.filter((session) => session.sample).length;
          },
          { timeout: 60_000 },
        )
        .toBeGreaterThan(5);
    } finally {
      if (daemon.pid !== undefined && daemon.exitCode === null) process.kill(-daemon.pid, "SIGTERM");
      await new Promise((resolve) =>
        daemon.exitCode === null ? daemon.once("close", resolve) : resolve(null),
      );
      expectNoSecrets(output.join(""), data);
    }
  });
});

/** A folder with nothing but the tarball. (npx takes an absolute path for a command, and tries to run the tarball.) */
async function emptyFolder(name: string): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder);
  await copyFile(tarball, join(folder, basename(tarball)));
  return folder;
}

function printedAddress(daemon: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = () => {
      const [address] = /http:\/\/\S+/.exec(output()) ?? [];
      if (address !== undefined && output().endsWith("\n")) resolve(address);
    };
    daemon.stdout?.on("data", read);
    daemon.stderr?.on("data", read);
    daemon.once("exit", (code) => reject(new Error(`The daemon ended with ${code}:\n${output()}`)));
  });
}
