import { readdirSync, readFileSync } from "node:fs";

/**
 * Ends the processes that an agent left running in its configuration folder: a Codex terminal leaves a server, and a process that
 * updates it. Finds them by `CODEX_HOME` in their environment, which only Linux provides.
 */
export function endLeftoverProcesses(codexHome: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (environmentOf(pid).includes(`CODEX_HOME=${codexHome}`)) endProcess(Number(pid));
  }
}

/** Empty for a process that has ended or belongs to another user. */
function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function endProcess(pid: number): void {
  try {
    // SIGTERM lets Codex's server wait for a turn that never ends.
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
