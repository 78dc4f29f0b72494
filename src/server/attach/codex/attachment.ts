import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { textFields } from "../../../model/text/display-text.ts";
import { UsageError } from "../../usage-error.ts";
import type { AgentAttachment } from "../agent-attachment.ts";
import { hasAttachmentFile } from "../attachment-file.ts";
import { writeAtomic } from "../write-atomic.ts";

/** Attaches to Codex without changing its files: a file in the data folder enables answering its requests. */
export function codexAttachment({ data_dir, socket }: { data_dir: string; socket: string }): AgentAttachment {
  const folder = join(data_dir, "attach");
  const file = join(folder, "codex.json");
  const isInstalled = (): boolean => hasAttachmentFile(file);
  return {
    isInstalled,
    describe() {
      const base = {
        agent: "codex",
        name: "Codex",
        by: "server" as const,
        answers: "requests" as const,
        in_open_sessions: true,
        file: socket,
        diff: "",
      };
      try {
        return { ...base, is_installed: isInstalled() };
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        return { ...base, is_installed: false, ...textFields("problem", error.title) };
      }
    },
    install() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeAtomic(file, "{}\n", 0o600);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
