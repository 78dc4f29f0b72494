import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { eventually } from "../eventually.ts";

/** A terminal of tmux in which a program runs. */
export interface Terminal {
  /** Presses keys by the names that tmux has for them: `Enter`, `Escape`, `Down`, `2`. */
  press(...keys: string[]): void;
  /** What the terminal shows. */
  screen(): string;
  /** Waits until the terminal shows this. Fails with what it shows instead. */
  shows(pattern: RegExp): Promise<void>;
  close(): void;
}

/** Why terminals cannot be had here, or `undefined`. */
export const missingTmux = (): string | undefined =>
  spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";

/** Opens a terminal of 120 × 40 characters and runs a program in it, in a tmux server of its own. */
export function openTerminal(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Terminal {
  const server = `verbatim-${randomUUID()}`;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-L", server, ...args], { encoding: "utf8", env });
  const program = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  tmux("-f", "/dev/null", "new-session", "-d", "-s", "agent", "-x", "120", "-y", "40", "-c", cwd, program);
  tmux("set-option", "-g", "remain-on-exit", "on");
  const screen = () => tmux("capture-pane", "-p", "-t", "agent");
  return {
    press: (...keys) => void tmux("send-keys", "-t", "agent", ...keys),
    screen,
    async shows(pattern) {
      await eventually(() => {
        const shown = screen();
        if (!pattern.test(shown)) throw new Error(`The terminal does not show ${pattern}:\n${shown}`);
      }, 30_000);
    },
    close: () => void spawnSync("tmux", ["-L", server, "kill-server"]),
  };
}
