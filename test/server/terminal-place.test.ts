import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTerminalPlaces } from "../../src/server/processes/terminal-place.ts";
import { eventually } from "../eventually.ts";

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "places-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function start(env: Record<string, string>): number {
  child = spawn("sleep", ["60"], { stdio: "ignore", env: { PATH: process.env.PATH, ...env } });
  if (child.pid === undefined) throw new Error("sleep did not start");
  return child.pid;
}
const hasTmux = () => {
  try {
    execFileSync("tmux", ["-V"]);
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(!existsSync("/proc/self/environ"))("the terminal of a process", () => {
  it("has the name of its program", async () => {
    const pid = start({ TERM_PROGRAM: "vscode" });
    expect(await createTerminalPlaces().find(pid)).toEqual({ pid, program: "vscode" });
  });

  it("is unknown if the process has none, or its tmux does not answer", async () => {
    const pid = start({ TMUX: `${folder}/none,1,0`, TMUX_PANE: "%0" });
    expect(await createTerminalPlaces().find(pid)).toEqual({ pid });
  });

  it.skipIf(!hasTmux())("is its pane of tmux, also after that was moved (skipped without tmux)", async () => {
    const socket = join(folder, "tmux");
    const tmux = (...words: string[]) => execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words]);
    try {
      tmux("new-session", "-d", "-s", "harbour", `echo $$ > ${folder}/pid; exec sleep 60`);
      const pid = await eventually(() => {
        const text = readFileSync(join(folder, "pid"), "utf8");
        expect(text).toMatch(/^\d+\n$/);
        return Number(text);
      });
      let now = 0;
      const places = createTerminalPlaces(() => now);
      const before = await places.find(pid);
      expect(before).toEqual({ pid, tty: expect.stringMatching(/^pts\/\d+$/), tmux: "harbour:0.0" });
      tmux("rename-session", "-t", "harbour", "quay");
      now += 60_000;
      // The previous place is returned until the new one is known.
      expect(places.known(pid)).toEqual(before);
      await eventually(() => expect(places.known(pid)).toMatchObject({ tmux: "quay:0.0" }));
    } finally {
      tmux("kill-server");
    }
  });
});
