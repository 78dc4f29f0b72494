import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAttachment } from "../agent-attachment.ts";

/** Attaching to Codex changes nothing of Codex: a file in the data folder says that its requests may be answered here. */
export function codexAttachment({ data_dir, socket }: { data_dir: string; socket: string }): AgentAttachment {
  const folder = join(data_dir, "attach");
  const file = join(folder, "codex.json");
  return {
    describe: () => ({
      agent: "codex",
      name: "Codex",
      by: "server",
      file: socket,
      is_installed: existsSync(file),
      diff: "",
    }),
    install() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(file, "{}\n", { mode: 0o600 });
    },
    remove: () => rmSync(file, { force: true }),
  };
}
