import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedData } from "../../shared-data.ts";

const VERSION = "opencode-ai@1.18.33";

/** The real opencode and a scripted model for it, or why they cannot be had. */
export type OpenCode = { command: string; modelServer: string } | { missing: string };

/** Installs opencode (outside the project, kept between runs). It is no dependency of the product. */
export function findOpenCode(): OpenCode {
  const modelServer = sharedData("agents", "model-server.mjs");
  if (modelServer === undefined) return { missing: "the scripted model is not on this machine" };
  const folder = join(tmpdir(), "verbatim-opencode");
  const installed = programIn(folder);
  if (installed !== undefined) return { command: installed, modelServer };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const install = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", VERSION], {
    cwd: folder,
    encoding: "utf8",
    timeout: 240_000,
  });
  if (install.status !== 0) {
    return { missing: `npm could not install it: ${install.stderr.trim().split("\n")[0] ?? ""}` };
  }
  const command = programIn(folder);
  return command === undefined ? { missing: "it has no program for this machine" } : { command, modelServer };
}

/** Its install script would choose the program; what is there chooses as well. */
function programIn(folder: string): string | undefined {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return undefined;
  const names = readdirSync(modules).filter((name) =>
    name.startsWith(`opencode-${process.platform}-${process.arch}`),
  );
  for (const name of names.toSorted()) {
    const program = join(modules, name, "bin", "opencode");
    if (existsSync(program) && spawnSync(program, ["--version"], { timeout: 60_000 }).status === 0)
      return program;
  }
  return undefined;
}

/** Its environment: a throw-away home, loopback only, asking before it runs a command. */
export function openCodeEnvironment(home: string, modelPort: number): Record<string, string | undefined> {
  const config = join(home, "opencode.json");
  writeFileSync(
    config,
    JSON.stringify({
      model: "local/m",
      small_model: "local/m",
      permission: { bash: "ask" },
      autoupdate: false,
      provider: {
        local: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `http://127.0.0.1:${modelPort}/v1`, apiKey: "x" },
          models: { m: { tool_call: true } },
        },
      },
    }),
  );
  return {
    PATH: process.env.PATH,
    HOME: home,
    OPENCODE_CONFIG: config,
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  };
}
