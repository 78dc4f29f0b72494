import { existsSync } from "node:fs";
import { messageOf } from "../../model/narrow.ts";
import type { Notice } from "../../store/contract.ts";
import { createAnswerLog } from "./answer-log.ts";
import { type ClaudeCodeAttachment, claudeCodeAttachment } from "./claude-code/attachment.ts";
import { readPermissionRequest } from "./claude-code/permission-request.ts";
import { createHeldRequests, type HeldRequests, type TerminalProcess } from "./held-requests.ts";
import { type HookSocket, hookSocketProblem, openHookSocket } from "./hook-socket.ts";

/** What connects this daemon to agents that run in terminals. */
export interface Attach {
  readonly held: HeldRequests;
  readonly claude_code: ClaudeCodeAttachment;
  readonly notices: readonly Notice[];
  /** Begins to listen for hooks. Only for the daemon that holds the data folder. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

export function createAttach(options: {
  data_dir: string;
  /** Claude Code's own folder. */
  config_dir: string;
  /** The agents' registers, by session. */
  readProcesses(): Promise<ReadonlyMap<string, TerminalProcess>>;
  isWatched(session_id: string): boolean;
  report(error: unknown): void;
}): Attach {
  const { data_dir, report } = options;
  const claude_code = claudeCodeAttachment(options);
  const held = createHeldRequests({ ...options, log: createAnswerLog(data_dir), now: Date.now });
  const notices: Notice[] = [];
  let socket: HookSocket | undefined;
  return {
    held,
    claude_code,
    notices,
    async listen() {
      if (!existsSync(data_dir) || hookSocketProblem(data_dir) !== undefined) return;
      try {
        socket = await openHookSocket(data_dir, (body, connection) => {
          const asked = readPermissionRequest(body);
          if (asked === undefined) return connection.release();
          held.hold(asked, connection).catch((error: unknown) => {
            connection.release();
            report(error);
          });
        });
        // The hook's program is that of this version.
        if (claude_code.describe().is_installed) claude_code.install();
      } catch (error) {
        notices.push({
          level: "warning",
          text: `Agents in terminals cannot be answered here: ${messageOf(error)}.`,
          remedy: "Make room in the data folder and check its permissions, then restart.",
        });
      }
    },
    async close() {
      held.close();
      await socket?.close();
    },
  };
}
