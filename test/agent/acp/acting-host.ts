import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentHost } from "../../../src/agent/agent.ts";
import type { Frame } from "../../../src/model/frames/frame.ts";
import { frame as frameSchema } from "../../../src/model/frames/frame.ts";
import { createOrderChecker, type Violation } from "../../../src/model/frames/order.ts";
import type { HistoryEvent } from "../../../src/model/messages/history.ts";
import { createHistory } from "../../../src/model/messages/history-collector.ts";
import type { Answer, Request } from "../../../src/model/request.ts";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";

/** A session for an agent under test: it records emitted frames, and gives prepared answers. */
export interface ActingHost extends AgentHost {
  readonly frames: Frame[];
  readonly requests: Request[];
  readonly violations: Violation[];
  transcript(): Transcript;
  parts(): TranscriptPart[];
  /** Begins a turn, lets the agent act, and ends the turn, as the server does. */
  turn<Outcome>(
    text: string,
    run: (prompt: { message_id: string; parts: [{ type: "text"; text: string }] }) => Promise<Outcome>,
  ): Promise<Outcome>;
  remove(): void;
}

export const SESSION = "5e551011-0000-4000-8000-000000000001";

export function createHost(
  answer: (request: Request, signal: AbortSignal) => Promise<Answer | undefined>,
  earlier: readonly HistoryEvent[] = [],
): ActingHost {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-acp-"));
  const frames: Frame[] = [];
  const requests: Request[] = [];
  const violations: Violation[] = [];
  const history: HistoryEvent[] = [...earlier];
  const collector = createHistory(SESSION);
  const checker = createOrderChecker();
  let transcript = emptyTranscript(SESSION);
  let clock = 1_795_000_000_000;
  let turns = 0;
  const emit = (frame: Frame): void => {
    // Exactly what the protocol and the store accept.
    frameSchema.parse(frame);
    frames.push(frame);
    violations.push(...checker.check(frame));
    history.push(...collector.push(frame));
    transcript = accumulate(transcript, frame);
  };
  const now = (): number => {
    clock += 1;
    return clock;
  };
  const common = () => ({ session_id: SESSION, at: now() });
  return {
    session_id: SESSION,
    cwd: folder,
    depth: 0,
    files: folder,
    private_folder: join(folder, "data"),
    frames,
    requests,
    violations,
    now,
    claimAgentSession: () => true,
    emit,
    stored: () => Promise.resolve(),
    history: () => history,
    async ask(request, signal) {
      requests.push(request);
      emit({ type: "request.open", ...common(), request });
      const given = await answer(request, signal);
      const outcome = given !== undefined ? "answered" : signal.aborted ? "cancelled" : "expired";
      emit({
        type: "request.close",
        ...common(),
        request_id: request.request_id,
        outcome,
        ...(given === undefined ? {} : { answer: given }),
      });
      return given;
    },
    takeSteering: () => [],
    startRun: () => Promise.reject(new Error("An agent behind a protocol starts no runs of ours")),
    transcript: () => transcript,
    parts: () => Array.from(transcript.parts, (part) => part).filter((part) => part !== undefined),
    async turn(text, run) {
      turns += 1;
      const message_id = `00000000-0000-4000-8000-${String(turns).padStart(12, "0")}`;
      emit({ type: "turn.start", ...common(), turn_id: message_id });
      const parts: [{ type: "text"; text: string }] = [{ type: "text", text }];
      emit({ type: "user.message", ...common(), message_id, parts });
      const outcome = await run({ message_id, parts });
      emit({ type: "turn.end", ...common(), turn_id: message_id });
      return outcome;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
