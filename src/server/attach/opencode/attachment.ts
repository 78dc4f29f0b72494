import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { textFields } from "../../../model/text/display-text.ts";
import { UsageError } from "../../usage-error.ts";
import type { AgentAttachment } from "../agent-attachment.ts";
import { hasAttachmentFile, readAttachmentFile } from "../attachment-file.ts";
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
    isInstalled: () => hasAttachmentFile(file),
    describe() {
      const problem = hookSocketProblem(data_dir);
      const base = {
        agent: "opencode",
        name: "opencode",
        by: "plugin" as const,
        answers: "requests" as const,
        in_open_sessions: false,
        file,
      };
      let installed: string | undefined;
      try {
        installed = readAttachmentFile(file);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        return { ...base, is_installed: false, diff: "", ...textFields("problem", error.title) };
      }
      const is_installed = installed !== undefined;
      const lines = (installed ?? text).trimEnd().split("\n");
      return {
        ...base,
        is_installed,
        diff: lines.map((line) => `${is_installed ? "-" : "+"}${line}`).join("\n"),
        ...(problem !== undefined && textFields("problem", problem)),
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
