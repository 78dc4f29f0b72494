import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../../usage-error.ts";
import type { AgentAttachment } from "../agent-attachment.ts";
import { hookSocketPath, hookSocketProblem } from "../hook-socket.ts";
import { writeAtomic } from "../write-atomic.ts";

/** The plugin, next to this file in the sources and next to the bundle in the package. */
const PLUGIN = join(import.meta.dirname, "plugin.mjs");

/** Attaches to opencode with a plugin file, which is loaded by sessions that start afterwards. `config_dir`: opencode's own. */
export function openCodeAttachment({
  data_dir,
  config_dir,
}: {
  data_dir: string;
  config_dir: string;
}): AgentAttachment {
  const file = join(config_dir, "plugin", "verbatim.js");
  // Read once: an update may remove the package's files while the daemon runs.
  const text = readFileSync(PLUGIN, "utf8").replace(
    '"VERBATIM_SOCKET"',
    JSON.stringify(hookSocketPath(data_dir)),
  );
  return {
    describe() {
      const problem = hookSocketProblem(data_dir);
      const is_installed = existsSync(file);
      const lines = (is_installed ? readFileSync(file, "utf8") : text).trimEnd().split("\n");
      return {
        agent: "opencode",
        name: "opencode",
        by: "plugin",
        answers: "requests",
        in_open_sessions: false,
        file,
        is_installed,
        diff: lines.map((line) => `${is_installed ? "-" : "+"}${line}`).join("\n"),
        ...(problem !== undefined && { problem }),
      };
    },
    install() {
      const problem = hookSocketProblem(data_dir);
      if (problem !== undefined) throw new UsageError(problem);
      mkdirSync(dirname(file), { recursive: true });
      writeAtomic(file, text, 0o600);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
