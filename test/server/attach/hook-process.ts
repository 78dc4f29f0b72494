import { spawn } from "node:child_process";
import { join } from "node:path";
import { hookSocketPath } from "../../../src/server/attach/hook-socket.ts";

const HOOK = join(import.meta.dirname, "../../../src/server/attach/agent-hook.mjs");

/** A hook process, started as Claude Code does. `ended` resolves to its output after it exits, always with 0. */
export interface HookProcess {
  ended: Promise<{ code: number | null; output: string }>;
  kill(): void;
}

export function startHook(data_dir: string, body: object, env: Record<string, string> = {}): HookProcess {
  const child = spawn(process.execPath, [HOOK, hookSocketPath(data_dir)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(body));
  return {
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, output }))),
    kill: () => child.kill("SIGTERM"),
  };
}

/** The body of a PermissionRequest hook of Claude Code 2.1.332. */
export const permissionRequest = (session_id: string, fields: object): object => ({
  session_id,
  transcript_path: `/home/ada/.claude/projects/-w-tide/${session_id}.jsonl`,
  cwd: "/w/tide",
  permission_mode: "default",
  hook_event_name: "PermissionRequest",
  ...fields,
});

export const bash = (command: string): object => ({
  tool_name: "Bash",
  tool_input: { command, description: `Run ${command}` },
  permission_suggestions: [
    {
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "touch:*" }],
      behavior: "allow",
      destination: "session",
    },
    { type: "setMode", mode: "acceptEdits", destination: "session" },
    { type: "unknownToUs" },
  ],
});
