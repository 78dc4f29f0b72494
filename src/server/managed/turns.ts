import { randomUUID } from "node:crypto";
import type { Agent, Prompt, TurnOutcome } from "../../agent/agent.ts";
import { titleOfError } from "../../model/text/coded-error.ts";
import { messageFields } from "../../model/text/titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { finalizingFrames } from "./finalize.ts";
import type { Recorder } from "./record/recorder.ts";
import type { Requests } from "./requests.ts";
import type { SessionAgent } from "./session-agent.ts";

/** Time that an agent has after a stop to end its turn before it is closed, in milliseconds. */
const STOP_LIMIT = 30_000;

export interface RunningTurn {
  readonly turn_id: string;
  readonly controller: AbortController;
  readonly done: Promise<TurnOutcome>;
  /** The agent has finished the turn: new prompts start the next one. */
  ending: boolean;
  /** A prompt was steered into the turn. */
  steered: boolean;
  /** Set if the turn is a compaction without a prompt. Prompts held before it stay held unless a new prompt comes. */
  readonly compaction?: { readonly held: readonly Prompt[] };
}

/** The turns of one managed session. One runs at a time. */
export interface Turns {
  readonly running: RunningTurn | undefined;
  /** Whether a turn runs, or its end is not on disk yet. */
  readonly working: boolean;
  /** Starts a turn with a prompt. */
  begin(prompt: Prompt, origin?: "agent"): void;
  /** Starts a turn with a queued prompt; without one, with the oldest that is not held. */
  beginQueued(next?: Prompt): void;
  /** Runs a turn whose start was emitted. */
  drive(
    turn_id: string,
    work: (one: Agent, signal: AbortSignal) => Promise<TurnOutcome>,
    compaction?: RunningTurn["compaction"],
  ): void;
  /** Gives a prompt to the running turn. */
  steer(prompt: Prompt): void;
  /** See `AgentHost`. */
  takeSteering(): Prompt[];
}

interface TurnsOptions {
  recorder: Recorder;
  requests: Requests;
  agent: SessionAgent;
  now: () => number;
  /** Whether the daemon is shutting down: a running turn stays as it is on disk. */
  isClosed(): boolean;
  /** Called when the row may have changed. */
  changed(): void;
  report(error: unknown): void;
}

/** Runs the turns of a session, and the prompts queued after them. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the running turn: its functions are short
export function createTurns(options: TurnsOptions): Turns {
  const { recorder, requests, agent, now, changed } = options;
  const session_id = recorder.id;
  let running: RunningTurn | undefined;
  /** The end of a turn was emitted but is not on disk yet. */
  let finalizing = false;
  let steering: Prompt[] = [];
  const endAgent = () => void agent.end();

  function begin(prompt: Prompt, origin?: "agent"): void {
    const turn_id = uuidFrom(prompt.message_id, "turn");
    const at = now();
    recorder.emit(
      { type: "turn.start", session_id, at, turn_id },
      {
        type: "user.message",
        session_id,
        at,
        message_id: prompt.message_id,
        parts: prompt.parts,
        ...(origin === undefined ? {} : { origin }),
      },
    );
    drive(turn_id, (one, signal) => one.run(prompt, signal));
  }

  function drive(
    turn_id: string,
    work: (one: Agent, signal: AbortSignal) => Promise<TurnOutcome>,
    compaction?: RunningTurn["compaction"],
  ): void {
    const controller = new AbortController();
    const { signal } = controller;
    const turn: RunningTurn = {
      turn_id,
      controller,
      ending: false,
      steered: false,
      ...(compaction && { compaction }),
      done: Promise.resolve()
        .then(() => runTurn(work, signal))
        .then((outcome) => endTurn(turn, outcome)),
    };
    turn.done.catch(options.report);
    running = turn;
    changed();
  }

  async function runTurn(
    work: (one: Agent, signal: AbortSignal) => Promise<TurnOutcome>,
    signal: AbortSignal,
  ): Promise<TurnOutcome> {
    try {
      // The prompt is on disk before the agent gets it.
      await recorder.stored();
      if (signal.aborted) return "interrupted";
      const one = await agent.ready();
      let outcome = await orStopped(work(one, signal), signal, endAgent);
      for (let prompt = steering.shift(); outcome === "completed" && prompt; prompt = steering.shift()) {
        const steered = prompt;
        outcome = await orStopped(one.run(steered, signal), signal, endAgent);
      }
      return outcome;
    } catch (error) {
      if (signal.aborted) return "interrupted";
      recorder.emit({
        type: "error",
        session_id,
        at: now(),
        part_id: randomUUID(),
        ...messageFields(titleOfError(error)),
        can_retry: true,
      });
      return "failed";
    }
  }

  async function endTurn(turn: RunningTurn, outcome: TurnOutcome): Promise<TurnOutcome> {
    turn.ending = true;
    await recorder.stored();
    if (options.isClosed()) return outcome;
    const at = now();
    recorder.emit(...finalizingFrames(recorder.buffer.transcript, { at, outcome }), {
      type: "turn.end",
      session_id,
      at,
      turn_id: turn.turn_id,
      status: outcome,
    });
    requests.abandon();
    steering = [];
    running = undefined;
    finalizing = true;
    // After a stop or a failure, queued prompts wait for the user.
    const { held } = turn.compaction ?? {};
    const isTarget = !held || turn.steered || recorder.state.queue.some((prompt) => !held.includes(prompt));
    if (outcome === "completed" && isTarget) beginQueued();
    await recorder.stored();
    finalizing = false;
    changed();
    return outcome;
  }

  /**
   * Starts the oldest queued prompt. Prompts held by a rewind are skipped, since they may refer to removed turns: the user starts
   * them.
   */
  function beginQueued(next = recorder.state.queue.find(({ held }) => held !== true)): void {
    if (!next) return;
    recorder.setState({ queue: recorder.state.queue.filter((prompt) => prompt !== next) });
    begin(next);
  }

  function steer(prompt: Prompt) {
    recorder.emit({
      type: "user.message",
      session_id,
      at: now(),
      message_id: prompt.message_id,
      parts: prompt.parts,
      queued: true,
    });
    steering.push(prompt);
    if (running) running.steered = true;
  }

  return {
    get running() {
      return running;
    },
    get working() {
      return running !== undefined || finalizing;
    },
    begin,
    beginQueued,
    drive,
    steer,
    takeSteering() {
      const taken = steering;
      steering = [];
      return taken;
    },
  };
}

/** The agent's outcome of the turn, or `interrupted` if it does not stop in time. */
async function orStopped(
  turn: Promise<TurnOutcome>,
  signal: AbortSignal,
  onOverdue: () => void,
): Promise<TurnOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const { promise: overdue, resolve } = Promise.withResolvers<TurnOutcome>();
  const limit = () => {
    timer = setTimeout(() => {
      onOverdue();
      resolve("interrupted");
    }, STOP_LIMIT);
  };
  if (signal.aborted) limit();
  else signal.addEventListener("abort", limit, { once: true });
  try {
    return await Promise.race([turn, overdue]);
  } finally {
    // Otherwise a later stop would start this timeout and close the agent during another turn.
    signal.removeEventListener("abort", limit);
    clearTimeout(timer);
  }
}
