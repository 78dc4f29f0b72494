import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Agent, AgentHost, Prompt, RunOptions, RunReport, TurnOutcome } from "../../src/agent/agent.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { createOrderChecker, type Violation } from "../../src/model/frames/order.ts";
import type { HistoryEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import { textOf } from "../../src/model/parts/content.ts";
import type { Answer, Request } from "../../src/model/request.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";

export interface PlainSession extends AgentHost {
  readonly frames: Frame[];
  readonly violations: Violation[];
  readonly transcript: Transcript;
  readonly parts: TranscriptPart[];
  /** Called with every frame after it was accepted. */
  onFrame: (frame: Frame, index: number) => void;
  /** A person's immediate answer; `undefined`: none yet. */
  answer: (request: Request) => Answer | undefined;
  /** Answers a request that waits. */
  reply(request_id: string, answer: Answer): void;
  /** Creates the agent of a run, given its session. */
  startAgent: (run: PlainSession, options: RunOptions) => Agent;
  readonly runs: PlainSession[];
  /** The implementation of `stored`. */
  store: () => Promise<void>;
  /** Runs a whole turn, as a session does. */
  turn(agent: Agent, text: string, signal?: AbortSignal): Promise<TurnOutcome>;
  /** Ends a turn that was driven in another way (`resume`, `compact`). */
  end(outcome: TurnOutcome): void;
  steer(text: string): void;
}

/** The folder of all sessions of the current test file. */
let base: string | undefined;

/** For the top of a test file: gives its plain sessions a folder, and removes it after the last test. */
export function keepPlainSessions(): void {
  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), "verbatim-agent-"));
  });
  afterAll(() => {
    rmSync(baseFolder(), { recursive: true, force: true, maxRetries: 5 });
    base = undefined;
  });
}

function baseFolder(): string {
  if (base === undefined) throw new Error("The test file does not call keepPlainSessions.");
  return base;
}

/**
 * A session in memory that records everything, checks the order of frames, and gives prepared answers. Its test file calls
 * `keepPlainSessions`.
 */
export function createPlainSession(
  given: { session_id?: string; depth?: number; history?: readonly HistoryEvent[] } = {},
): PlainSession {
  const session_id = given.session_id ?? randomUUID();
  const collector = createHistory(session_id);
  const events: HistoryEvent[] = [...(given.history ?? [])];
  const checker = createOrderChecker();
  const frames: Frame[] = [];
  const violations: Violation[] = [];
  const steering: Prompt[] = [];
  const waiting = new Map<string, (answer: Answer | undefined) => void>();
  let transcript = emptyTranscript(session_id);
  let clock = Date.UTC(2026, 0, 2);
  const now = () => {
    clock += 1;
    return clock;
  };

  const session: PlainSession = {
    session_id,
    cwd: mkdtempSync(join(baseFolder(), "work-")),
    depth: given.depth ?? 0,
    files: mkdtempSync(join(baseFolder(), "files-")),
    private_folder: join(baseFolder(), "data"),
    claimAgentSession: () => true,
    frames,
    violations,
    runs: [],
    get transcript() {
      return transcript;
    },
    get parts() {
      return [...transcript.parts].filter((part) => part !== undefined);
    },
    onFrame: () => {},
    answer: () => undefined,
    startAgent: () => {
      throw new Error("no run was expected");
    },
    now,
    emit(frame) {
      if (frame.session_id !== session_id) throw new Error("a frame of another session");
      frames.push(frame);
      violations.push(...checker.check(frame));
      events.push(...collector.push(frame));
      transcript = accumulate(transcript, frame);
      session.onFrame(frame, frames.length - 1);
    },
    store: async () => {},
    stored: () => session.store(),
    history: () => events,
    async ask(request, signal) {
      if (signal.aborted) return undefined;
      const { request_id } = request;
      const isOpen = events.some(
        (event) => !("role" in event) && event.type === "request" && event.request.request_id === request_id,
      );
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      waiting.set(request_id, resolve);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      if (!isOpen) session.emit({ session_id, at: now(), type: "request.open", request });
      const said = session.answer(request);
      if (said !== undefined) resolve(said);
      const answer = await promise;
      waiting.delete(request_id);
      const outcome =
        answer === undefined ? { outcome: "cancelled" as const } : { outcome: "answered" as const, answer };
      session.emit({ session_id, at: now(), type: "request.close", request_id, ...outcome });
      return answer;
    },
    reply(request_id, answer) {
      waiting.get(request_id)?.(answer);
    },
    takeSteering: () => steering.splice(0),
    async startRun({ tool_call_id, prompt, ...options }, signal): Promise<RunReport> {
      const run = createPlainSession({ depth: session.depth + 1 });
      session.runs.push(run);
      const sub_agent = { session_id: run.session_id };
      session.emit({ session_id, at: now(), type: "task.start", tool_call_id, sub_agent });
      const agent = session.startAgent(run, { tool_call_id, prompt, ...options });
      const outcome = await run.turn(agent, prompt, signal);
      const text = run.parts.filter((part) => part.type === "text").at(-1)?.text ?? "";
      return { session_id: run.session_id, outcome, text, tool_calls: 0, duration_ms: 0 };
    },
    async turn(agent, text, signal = new AbortController().signal) {
      const prompt: Prompt = { message_id: randomUUID(), parts: [{ type: "text", text }] };
      session.emit({ session_id, at: now(), type: "turn.start", turn_id: randomUUID() });
      session.emit({ session_id, at: now(), type: "user.message", ...prompt });
      const outcome = await agent.run(prompt, signal);
      session.end(outcome);
      return outcome;
    },
    end(outcome) {
      session.emit({ session_id, at: now(), type: "turn.end", status: outcome });
    },
    steer(text) {
      const prompt: Prompt = { message_id: randomUUID(), parts: [{ type: "text", text }] };
      steering.push(prompt);
      session.emit({ session_id, at: now(), type: "user.message", ...prompt, queued: true });
    },
  };
  return session;
}

/** A transcript as lines that can be read: `text Hello`, `result c1 success done`. */
export function story(parts: readonly TranscriptPart[]): string[] {
  return parts.flatMap((part) => {
    const withdrawn = part.retracted === undefined ? "" : "(withdrawn) ";
    switch (part.type) {
      case "thinking":
        return [`${withdrawn}thinking ${part.thinking}`];
      case "text":
        return [`${withdrawn}text ${part.text}`];
      case "tool_call": {
        const { tool_call_id, tool_name, arguments_json, state } = part;
        return [`${withdrawn}call ${tool_call_id} ${tool_name} ${arguments_json} ${state.status}`];
      }
      case "tool_result":
        return [`result ${part.tool_call_id} ${part.status} ${part.output_text}`];
      case "prompt":
        return [`${part.queued ? "queued " : ""}prompt ${textOf(part.parts)}`];
      case "step_start":
        return [];
      case "step_finish":
        return [`${withdrawn}step ${part.reason}`];
      case "marker":
        return [`${withdrawn}${part.kind}: ${part.title}`];
      case "request":
        return [
          `${part.request.kind} ${part.request.title}: ${part.answer?.option_ids.join() ?? part.outcome ?? "open"}`,
        ];
      default:
        return [part.type];
    }
  });
}
