import { readFileSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes the entry of a live process into Claude Code's registry, as 2.1.332 does. `folder`: `CLAUDE_CONFIG_DIR`, with a folder
 * `sessions`; `pid`: the process that stands for the agent.
 */
export async function registerClaude(
  folder: string,
  session_id: string,
  fields: object,
  pid: number | undefined = process.pid,
): Promise<void> {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const entry = {
    pid,
    sessionId: session_id,
    entrypoint: "cli",
    procStart: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
    pidDomain: `linux:0123456789abcdef0123456789abcdef:${readlinkSync("/proc/self/ns/pid")}`,
    updatedAt: Date.now(),
    ...fields,
  };
  await writeFile(join(folder, "sessions", `${pid}.json`), JSON.stringify(entry));
}
