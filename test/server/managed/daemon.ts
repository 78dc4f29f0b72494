import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { accumulate, restoreTranscript } from "../../../src/model/transcript/accumulate.ts";
import type { Transcript } from "../../../src/model/transcript/transcript-state.ts";
import { outputChannel, serverMessage } from "../../../src/protocol.ts";
import { DAEMON_SCRIPT } from "../../daemon-script.ts";
import { bareEnvironment } from "../../environment.ts";
import { expectNoSecrets } from "../../secrets.ts";

/** A real daemon in a child process, used through its API. */
export interface Daemon {
  process: ChildProcess;
  origin: string;
  /** The bearer token of the API. */
  headers: Record<string, string>;
  /** Its output so far. */
  output(): string;
  post(path: string, body: unknown): Promise<{ status: number; body: unknown }>;
  get(path: string): Promise<unknown>;
  /** Subscribes to a session as a page does. */
  follow(session_id: string): Promise<Follower>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface Follower {
  readonly transcript: Transcript | undefined;
  /** Messages received on the socket so far. */
  readonly received: number;
}

/** Starts a daemon whose home and data folders are in `folder`. `port` 0: any free port. `env`: more variables. */
export async function startDaemon(
  folder: string,
  { port = 0, env = {} }: { port?: number; env?: Record<string, string> } = {},
): Promise<Daemon> {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const args = [
    "--disable-warning=ExperimentalWarning",
    DAEMON_SCRIPT,
    "--port",
    String(port),
    "--no-samples",
  ];
  const child = spawn(process.execPath, [...args, "--data-dir", data], {
    env: { ...bareEnvironment, HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk) => {
    output += chunk;
    process.stderr.write(chunk);
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const link = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      output += chunk;
      if (output.includes("\n")) resolve(/http:\S+/.exec(output)?.[0] ?? "");
    });
    void ended.then(() => reject(new Error(`The daemon ended before it could be reached: ${output}`)));
  });
  const origin = new URL(link).origin;
  const access: unknown = JSON.parse(readFileSync(join(data, "access.json"), "utf8"));
  if (typeof access !== "object" || access === null || !("api_token" in access)) throw new Error("no token");
  const headers = { authorization: `Bearer ${access.api_token}`, "content-type": "application/json" };

  return {
    process: child,
    origin,
    headers,
    output: () => output,
    async post(path, body) {
      const reply = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: reply.status, body: await reply.json() };
    },
    get: async (path) => await (await fetch(origin + path, { headers })).json(),
    async follow(session_id) {
      const socket = new WebSocket(`${origin.replace("http", "ws")}/api/live`, { headers });
      let transcript: Transcript | undefined;
      let received = 0;
      socket.on("error", () => {});
      socket.on("message", (data) => {
        const message = serverMessage.parse(JSON.parse(data.toString()));
        received += 1;
        if (message.type === "snapshot" && message.page) {
          transcript = restoreTranscript({ session_id, ...message.page });
        } else if (message.type === "frames" && transcript) {
          transcript = message.frames.map(({ frame }) => frame).reduce(accumulate, transcript);
        }
      });
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
      socket.send(JSON.stringify({ type: "subscribe", channel: outputChannel(session_id) }));
      return {
        get transcript() {
          return transcript;
        },
        get received() {
          return received;
        },
      };
    },
    async kill(signal) {
      child.kill(signal);
      await ended;
      expectNoSecrets(output, data);
    },
  };
}
