import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** The versions with which reading and attaching were tested ([docs/attach.md](../../docs/attach.md)). */
const PACKAGES = [
  "@anthropic-ai/claude-code@2.1.332",
  "@openai/codex@0.169.0",
  "opencode-ai@1.18.33",
  "@qwen-code/qwen-code@0.15.10",
  "@github/copilot@1.0.102",
  "@earendil-works/pi-coding-agent@0.74.2",
  "cline@3.0.65",
  "@moonshot-ai/kimi-code@2.1.0",
  `@kilocode/cli-${process.platform}-${process.arch}@7.7.9`,
  `@xai-official/grok-${process.platform}-${process.arch}@1.0.41`,
];

/** Paths of the programs of the real agents. */
export interface InstalledAgents {
  claude: string;
  codex: string;
  opencode: string;
  qwen: string;
  copilot: string;
  pi: string;
  cline: string;
  kilo: string;
  grok: string;
  kimi: string;
}

/**
 * Installs the agents from npm into a folder under the system's temporary folder, where they stay for the next run. They are not
 * dependencies of the product. `missing`: why they cannot be installed here.
 */
export function installAgents(): InstalledAgents | { missing: string } {
  const folder = join(tmpdir(), "verbatim-real-agents");
  const modules = join(folder, "node_modules");
  const agents = {
    claude: join(modules, ".bin/claude"),
    codex: join(modules, ".bin/codex"),
    opencode: join(modules, `opencode-${process.platform}-${process.arch}`, "bin/opencode"),
    qwen: join(modules, ".bin/qwen"),
    copilot: join(modules, ".bin/copilot"),
    pi: join(modules, ".bin/pi"),
    kimi: join(modules, ".bin/kimi"),
    cline: join(modules, `@cline/cli-${process.platform}-${process.arch}`, "bin/cline"),
    kilo: join(modules, `@kilocode/cli-${process.platform}-${process.arch}`, "bin/kilo"),
    grok: join(modules, `@xai-official/grok-${process.platform}-${process.arch}`, "bin/grok"),
  };
  if (!Object.values(agents).every(existsSync)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    // `--force`: Claude Code names a newer Node than it needs; its program is native.
    const options = ["--ignore-scripts", "--force", "--no-audit", "--no-fund", "--loglevel=error"];
    const install = spawnSync("npm", ["install", ...options, ...PACKAGES], {
      cwd: folder,
      encoding: "utf8",
      timeout: 600_000,
    });
    if (install.status !== 0) return { missing: `npm could not install them: ${firstLine(install.stderr)}` };
    // Its install script installs the native program.
    const claude = join(modules, "@anthropic-ai/claude-code");
    spawnSync(process.execPath, ["install.cjs"], { cwd: claude, timeout: 60_000 });
    // Its launcher would unpack the program into the home folder.
    writeFileSync(agents.grok, brotliDecompressSync(readFileSync(`${agents.grok}.br`)), { mode: 0o755 });
  }
  for (const [name, program] of Object.entries(agents)) {
    const version = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 120_000 });
    if (version.status !== 0) return { missing: `${name} does not start here: ${firstLine(version.stderr)}` };
  }
  return agents;
}

const firstLine = (text: string | null): string => text?.trim().split("\n")[0] ?? "";
