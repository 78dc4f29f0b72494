import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { eventually } from "../eventually.ts";

/** A terminal of tmux in which a program runs. */
export interface Terminal {
  /** Presses keys by tmux's names: `Enter`, `Escape`, `Down`, `2`. */
  press(...keys: string[]): void;
  /** Types a line, waits until the program shows it, and presses Enter. */
  submit(line: string): Promise<void>;
  /** What the terminal shows. */
  screen(): string;
  /** Waits until the terminal shows this. Fails with what it shows instead. */
  shows(pattern: RegExp): Promise<void>;
  close(): void;
}

/** Why terminals are not available here, or `undefined`. */
export const missingTmux = (): string | undefined =>
  spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";

/** Opens a terminal of 120 × 40 characters and runs a program in it, in a tmux server of its own. */
export function openTerminal(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Terminal {
  const server = `verbatim-${randomUUID()}`;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-L", server, ...args], { encoding: "utf8", env });
  const program = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // Set in the same call, to keep the screen of a program that ends at once.
  const keepScreen = ["set-option", "-g", "remain-on-exit", "on", ";"];
  const size = ["-x", "120", "-y", "40"];
  tmux("-f", "/dev/null", ...keepScreen, "new-session", "-d", "-s", "agent", ...size, "-c", cwd, program);
  const screen = () => tmux("capture-pane", "-p", "-t", "agent");
  const press = (...keys: string[]) => void tmux("send-keys", "-t", "agent", ...keys);
  const waitFor = (isShown: (screen: string) => boolean, what: string) =>
    eventually(() => {
      const shown = screen();
      if (!isShown(shown)) throw new Error(`The terminal does not show ${what}:\n${shown}`);
    }, 90_000);
  return {
    press,
    screen,
    async submit(line) {
      tmux("send-keys", "-t", "agent", "-l", line);
      await waitFor((shown) => shown.includes(line), line);
      press("Enter");
    },
    shows: (pattern) => waitFor((shown) => pattern.test(shown), String(pattern)),
    close: () => void spawnSync("tmux", ["-L", server, "kill-server"]),
  };
}
