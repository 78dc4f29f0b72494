import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentAttachment } from "../agent-attachment.ts";
import { writeAtomic } from "../write-atomic.ts";

/** Attaches to Codex without changing its files: a file in the data folder enables answering its requests. */
export function codexAttachment({ data_dir, socket }: { data_dir: string; socket: string }): AgentAttachment {
  const folder = join(data_dir, "attach");
  const file = join(folder, "codex.json");
  return {
    describe: () => ({
      agent: "codex",
      name: "Codex",
      by: "server",
      answers: "requests",
      in_open_sessions: true,
      file: socket,
      is_installed: existsSync(file),
      diff: "",
    }),
    install() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeAtomic(file, "{}\n", 0o600);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
