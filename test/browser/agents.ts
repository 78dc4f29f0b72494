import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedData } from "../shared-data.ts";
import type { Home } from "./harness.ts";

const VERSIONS = ["@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.169.0"];

/** The real agents and a scripted model for them, or why they cannot be had. */
export type Agents = { claude: string; codex: string; modelServer: string } | { missing: string };

/**
 * Installs the real Claude Code and Codex (outside the project, kept between runs). They are no dependency of the
 * product: where the registry or the scripted model is out of reach the tests that want them say so.
 */
export function findAgents(): Agents {
  const modelServer = sharedData("agents", "model-server.mjs");
  if (modelServer === undefined) return { missing: "the scripted model is not on this machine" };
  const folder = join(tmpdir(), "verbatim-agents");
  const binaries = join(folder, "node_modules", ".bin");
  const found = { claude: join(binaries, "claude"), codex: join(binaries, "codex"), modelServer };
  if (!existsSync(found.claude) || !existsSync(found.codex)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const install = spawnSync(
      "npm",
      ["install", "--no-audit", "--no-fund", "--loglevel=error", ...VERSIONS],
      {
        cwd: folder,
        encoding: "utf8",
        timeout: 240_000,
      },
    );
    if (install.status !== 0)
      return { missing: `npm could not install them: ${install.stderr.trim().split("\n")[0] ?? ""}` };
  }
  const version = spawnSync(found.claude, ["--version"], { encoding: "utf8", timeout: 60_000 });
  if (version.status !== 0)
    return { missing: `Claude Code does not start here: ${version.stderr.trim().split("\n")[0] ?? ""}` };
  return found;
}

/** Starts the scripted model on a free port. */
export async function startModel(
  script: string,
  cwd: string,
  tokensPerSecond: number,
): Promise<{ port: number; stop(): void }> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  const model = spawn(process.execPath, [
    script,
    "--port",
    `${port}`,
    "--cwd",
    cwd,
    "--tokens-per-second",
    `${tokensPerSecond}`,
  ]);
  for (;;) {
    if (model.exitCode !== null) throw new Error(`The scripted model ended with ${model.exitCode}.`);
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (up) return { port, stop: () => model.kill() };
  }
}

/** Environment of the agents: a throw-away home, loopback only. */
export function agentEnvironment(home: Home, modelPort: number): NodeJS.ProcessEnv {
  writeFileSync(
    join(home.codex, "config.toml"),
    [
      'model = "gpt-5-codex"',
      'model_provider = "local"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      "[model_providers.local]",
      'name = "local"',
      `base_url = "http://127.0.0.1:${modelPort}/v1"`,
      'env_key = "LOCAL_KEY"',
      'wire_api = "responses"',
      "",
    ].join("\n"),
  );
  return {
    PATH: process.env.PATH,
    HOME: home.path,
    CLAUDE_CONFIG_DIR: home.claude,
    CODEX_HOME: home.codex,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${modelPort}`,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    LOCAL_KEY: "none",
  };
}
