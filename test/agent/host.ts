import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentHost, RunOptions, RunReport } from "../../src/agent/agent.ts";
import type { Tool, ToolOutput } from "../../src/agent/tool.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { HistoryEvent } from "../../src/model/messages/history.ts";
import type { Answer, Request } from "../../src/model/request.ts";

/** A session for tests of tools: a separate folder, and the emitted frames and requests. */
export interface TestHost extends AgentHost {
  readonly frames: Frame[];
  readonly asked: Request[];
  /** Removes its folders. */
  remove(): void;
}

export interface TestHostOptions {
  /** Absent: a new empty folder, removed with the host. */
  cwd?: string;
  depth?: number;
  answer?: (request: Request, signal: AbortSignal) => Promise<Answer | undefined> | Answer | undefined;
  startRun?: (options: RunOptions, signal: AbortSignal) => Promise<RunReport>;
  history?: readonly HistoryEvent[];
}

export function createTestHost(options: TestHostOptions = {}): TestHost {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-test-")));
  const cwd = options.cwd ?? join(base, "project");
  const files = join(base, "files");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(files);
  const frames: Frame[] = [];
  const asked: Request[] = [];
  return {
    session_id: "0b0e4bb8-5a36-4c39-9f0e-1f1a60a4c001",
    cwd,
    depth: options.depth ?? 0,
    files,
    private_folder: join(base, "data"),
    frames,
    asked,
    now: () => Date.now(),
    claimAgentSession: () => true,
    emit: (frame) => void frames.push(frame),
    stored: async () => {},
    history: () => options.history ?? [],
    async ask(request, signal) {
      asked.push(request);
      return await options.answer?.(request, signal);
    },
    takeSteering: () => [],
    async startRun(run, signal) {
      if (options.startRun === undefined) throw new Error("This host starts no runs.");
      return await options.startRun(run, signal);
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

export interface CallOptions {
  signal?: AbortSignal;
  message_id?: string;
  call_id?: string;
  onProgress?: (text: string) => void;
}

/** Prepares and runs one call, as the loop does once it is allowed. */
export async function call(
  tool: Tool,
  host: AgentHost,
  input: Readonly<Record<string, unknown>>,
  {
    signal = new AbortController().signal,
    message_id = "0b0e4bb8-5a36-4c39-9f0e-1f1a60a4c0a1",
    call_id = "call_1",
    onProgress = () => {},
  }: CallOptions = {},
): Promise<ToolOutput> {
  return await tool.prepare(input, host).run({ host, message_id, call_id, signal, progress: onProgress });
}
