import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { endGroup, startGroup } from "./processes.ts";

interface ServerProcessOptions {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Maximum size of a message, in bytes. A server that sends a larger one is killed. */
  message_limit: number;
}

/** A server that communicates over standard input and output. */
export interface ServerProcess extends Transport {
  /**
   * Describes how the server ended, with the end of its standard error. `otherwise`: returned while it is still running.
   */
  stderr_text(otherwise: string): string;
}

const STDERR_LIMIT = 2_000;

/**
 * Creates a transport to a server in its own process group. The SDK's own transport would only end the process that it started,
 * but most servers are child processes of `npx` or `uvx` and would keep running.
 */
export function createServerProcess(options: ServerProcessOptions): ServerProcess {
  const { command, args, env, cwd, message_limit } = options;
  const mark = randomUUID();
  const buffer = new ReadBuffer({ maxBufferSize: message_limit });
  let child: ChildProcess | undefined;
  let said = "";
  let end: string | undefined;
  let ending: Promise<void> | undefined;

  const transport: ServerProcess = {
    start: () =>
      new Promise((resolve, reject) => {
        const started = startGroup(command, args, { cwd, env, mark, stdio: ["pipe", "pipe", "pipe"] });
        child = started;
        started.once("spawn", () => resolve());
        started.once("error", (error) => {
          end = `It could not be started: ${error.message}`;
          reject(error);
          transport.onclose?.();
        });
        started.once("exit", (code, signal) => {
          end ??= signal === null ? `It ended with exit code ${code}.` : `It was terminated by ${signal}.`;
          void transport.close();
          transport.onclose?.();
        });
        // Ignore write errors, which only occur if the server has exited or is exiting.
        started.stdin?.on("error", () => {});
        started.stderr?.on("data", (chunk: Buffer) => {
          said = (said + chunk.toString()).slice(-STDERR_LIMIT);
        });
        started.stdout?.on("data", (chunk: Buffer) => receive(chunk));
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (child?.stdin?.writable !== true)
          reject(new Error(transport.stderr_text("It no longer reads messages.")));
        else if (child.stdin.write(serializeMessage(message))) resolve();
        else child.stdin.once("drain", resolve).once("close", resolve);
      }),
    close: () => {
      const pid = child?.pid;
      child?.stdin?.destroy();
      child?.stdout?.destroy();
      ending ??= pid === undefined ? Promise.resolve() : endGroup(pid, { mark });
      return ending;
    },
    stderr_text(otherwise) {
      const what = end ?? otherwise;
      const words = said.trim();
      if (words === "") return what;
      return `${what.replace(/\.?$/, ".")} It said: ${words}`;
    },
  };

  const receive = (chunk: Buffer): void => {
    try {
      buffer.append(chunk);
    } catch {
      end = `It sent a message of more than ${message_limit.toLocaleString("en")} bytes, and was killed.`;
      void transport.close();
      return;
    }
    for (;;) {
      let message: JSONRPCMessage | null;
      try {
        message = buffer.readMessage();
      } catch {
        // Skip lines that are not messages, because many servers write logs to standard output.
        continue;
      }
      if (message === null) return;
      transport.onmessage?.(message);
    }
  };
  return transport;
}
