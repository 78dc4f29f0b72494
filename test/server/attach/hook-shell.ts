import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { asArray, asObject, asText } from "../../../src/model/narrow.ts";

/** The exit code of a hook, and everything that it printed on both streams. */
export interface HookEnd {
  code: number | null;
  output: string;
}

/** The hook command for an event in an agent's settings file. */
export function commandIn(settings_file: string, event: string): string {
  const settings: unknown = JSON.parse(readFileSync(settings_file, "utf8"));
  const element = asObject(asArray(asObject(asObject(settings)?.hooks)?.[event]).at(-1));
  const command = asText(element?.bash) ?? asText(asObject(asArray(element?.hooks)[0])?.command);
  if (command === undefined) throw new Error(`There is no hook for ${event}.`);
  return command;
}

const AGENT = `
  const { spawn } = require("node:child_process");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { command, body } = JSON.parse(line);
    const shell = spawn("sh", ["-c", command], { stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (text) => { output += text; });
    shell.stdin.on("error", () => {});
    shell.stdin.end(JSON.stringify(body));
    shell.on("close", (code) => console.log(JSON.stringify({ code, output })));
  });
`;

/** A process in place of an agent. It runs hooks in a shell, with a body on standard input. */
export function startHookShell(options: readonly string[] = []): {
  child: ChildProcess;
  run(command: string, body: object): Promise<HookEnd>;
  kill(): Promise<void>;
} {
  const child = spawn(process.execPath, ["-e", AGENT, ...options], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  return {
    child,
    async run(command, body) {
      const ended = once(lines, "line");
      child.stdin.write(`${JSON.stringify({ command, body })}\n`);
      return JSON.parse(String(await ended));
    },
    async kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
