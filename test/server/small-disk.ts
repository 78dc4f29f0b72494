import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Mounts a file system of this size in bytes. Returns whether that succeeded. */
export function mountSmall(at: string, bytes: number): boolean {
  mkdirSync(at, { recursive: true });
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", at]).status === 0;
}

/** Whether such a file system can be mounted. It usually needs root on Linux. */
export const mountable = (() => {
  if (process.platform !== "linux") return false;
  const at = mkdtempSync(join(tmpdir(), "mount-"));
  const mounted = mountSmall(at, 65_536);
  if (mounted) spawnSync("umount", [at]);
  rmSync(at, { recursive: true });
  return mounted;
})();
