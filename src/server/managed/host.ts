import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, AgentHost, Prompt, RunOptions, RunReport, TurnOutcome } from "../../agent/agent.ts";
import { messageOf } from "../../model/narrow.ts";
import { promptLine } from "../../model/parts/content.ts";
import type { OpenRequest, SessionControl } from "../../model/session.ts";
import type { Turn } from "../../model/transcript/transcript.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { Refused } from "../sessions/refused.ts";
import type { AgentKind } from "./agents.ts";
import { finalizingFrames } from "./finalize.ts";
import type { Recorder } from "./record/recorder.ts";
import { createRequests, type Requests } from "./requests.ts";
import type { SessionState } from "./session-config.ts";

/** Time that an agent has after a stop to end its turn before it is closed, in milliseconds. */
const STOP_LIMIT = 30_000;
/** Time that an agent has to close, in milliseconds. */
const CLOSE_LIMIT = 5_000;
/** Maximum number of withdrawn prompts that a session remembers. */
const MAX_WITHDRAWN = 200;

/** Runs one managed session: its turns, its queue of prompts, and its agent. */
export interface Host {
  readonly control: SessionControl;
  readonly requests: readonly OpenRequest[];
  readonly working: boolean;
  /** Whether the session has an agent, which may have processes. */
  readonly has_agent: boolean;
  /** Starts a turn with the oldest queued prompt, or queues the prompt. Sending a prompt twice has no effect. */
  send(prompt: Prompt, when: "queue" | "steer", origin?: "agent"): void;
  /** A queued prompt. */
  waiting(message_id: string): Prompt;
  /** `withdrawal_id`: chosen by the sender. Only the first withdrawal of a prompt succeeds. */
  withdraw(message_id: string, withdrawal_id?: string): void;
  /** Starts a held prompt. If a turn is running, the prompt is queued to start after it. */
  beginHeld(message_id: string): void;
  /**
   * Interrupts the running turn, or does nothing if there is none. With `turn_id`: returns `false` if another turn is running.
   */
  stop(turn_id?: string): boolean;
  /** Lets the agent compact its context. Does nothing if no prompt came since the last compaction. */
  compact(): void;
  setModel(model: string): void;
  answer: Requests["answer"];
  /** Resumes a turn that was interrupted by the end of the daemon. */
  resume(): void;
  /** Resolves with the outcome of the running turn, or `undefined` if there is none. */
  ended(): Promise<TurnOutcome | undefined>;
  /** The daemon is shutting down: further frames and requests of the agent are ignored, and its turn stays as it is on disk. */
  rejectPrompts(): void;
  /** Ignores further frames and closes the agent. */
  close(): Promise<void>;
}

interface HostOptions {
  recorder: Recorder;
  /** `undefined`: its agent is no longer configured. */
  kind: () => AgentKind | undefined;
  /** The folder for the session's files. */
  files: string;
  /** The daemon's data folder, which the agent's file tools must not access. */
  private_folder: string;
  now: () => number;
  answer_within?: number;
  startRun(options: RunOptions, signal: AbortSignal): Promise<RunReport>;
  /** Whether the agent of another session has this session of an external agent open. */
  isAgentSessionOpen(id: string): boolean;
  /** Called when the row may have changed. */
  changed(): void;
  report(error: unknown): void;
}

interface RunningTurn {
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

export function createHost(options: HostOptions): Host {
  const { recorder, now, changed } = options;
  const session_id = recorder.id;
  const requests = createRequests({
    recorder,
    now,
    changed,
    ...(options.answer_within === undefined ? {} : { answer_within: options.answer_within }),
  });
  let agent: Promise<Agent> | undefined;
  /** Identifies the current agent. Frames and calls of closed agents are ignored. */
  let agent_generation = {};
  let running: RunningTurn | undefined;
  /** The end of a turn was emitted but is not on disk yet. */
  let finalizing = false;
  let steering: Prompt[] = [];
  let closed = false;

  // --- The agent --------------------------------------------------------------------------------------------------

  function agentHost(of: object): AgentHost {
    const { cwd, depth } = recorder.config;
    const is_alive = () => of === agent_generation && !closed;
    const gone = () => Promise.reject(new Error("The session's agent was closed."));
    return {
      session_id,
      cwd,
      depth,
      get files() {
        // Parent folders are not created: if the data folder was moved away, a new one would prevent moving it back.
        for (const path of [dirname(options.files), options.files])
          if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
        return options.files;
      },
      private_folder: options.private_folder,
      now,
      claimAgentSession(id) {
        if (!is_alive() || options.isAgentSessionOpen(id)) return false;
        if (recorder.config.agent_session !== id) recorder.setConfig({ agent_session: id });
        return true;
      },
      emit(frame) {
        if (is_alive()) recorder.emit(frame);
      },
      // A closed agent must not do anything irreversible.
      stored: () => (is_alive() ? recorder.stored() : gone()),
      history: recorder.history,
      ask: (request, signal) => (is_alive() ? requests.ask(request, signal) : Promise.resolve(undefined)),
      takeSteering() {
        const taken = steering;
        steering = [];
        return taken;
      },
      startRun: (run, signal) => (is_alive() ? options.startRun(run, signal) : gone()),
    };
  }

  function agentReady(): Promise<Agent> {
    if (agent) return agent;
    const kind = options.kind();
    if (!kind) {
      return Promise.reject(
        new Error(`The agent ${JSON.stringify(recorder.config.agent)} is no longer configured.`),
      );
    }
    const made = Promise.resolve().then(() => kind.create(recorder.config, agentHost(agent_generation)));
    agent = made;
    made.catch(() => {
      if (agent === made) agent = undefined;
    });
    return made;
  }

  async function endAgent(): Promise<void> {
    const ended = agent;
    agent = undefined;
    agent_generation = {};
    if (!ended) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_LIMIT);
    });
    await Promise.race([ended.then((one) => one.close()).catch(options.report), limit]);
    clearTimeout(timer);
  }

  // --- A turn -----------------------------------------------------------------------------------------------------

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
      const one = await agentReady();
      let outcome = await orStopped(work(one, signal), signal);
      for (let prompt = steering.shift(); outcome === "completed" && prompt; prompt = steering.shift()) {
        const steered = prompt;
        outcome = await orStopped(one.run(steered, signal), signal);
      }
      return outcome;
    } catch (error) {
      if (signal.aborted) return "interrupted";
      const message = messageOf(error);
      recorder.emit({
        type: "error",
        session_id,
        at: now(),
        part_id: randomUUID(),
        message,
        can_retry: true,
      });
      return "failed";
    }
  }

  /** The agent's outcome of the turn, or `interrupted` if it does not stop in time. */
  async function orStopped(turn: Promise<TurnOutcome>, signal: AbortSignal): Promise<TurnOutcome> {
    let timer: NodeJS.Timeout | undefined;
    const { promise: overdue, resolve } = Promise.withResolvers<TurnOutcome>();
    const limit = () => {
      timer = setTimeout(() => {
        void endAgent();
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

  async function endTurn(turn: RunningTurn, outcome: TurnOutcome): Promise<TurnOutcome> {
    turn.ending = true;
    await recorder.stored();
    if (closed) return outcome;
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

  // --- User actions ------------------------------------------------------------------------------------------------

  function open(): AgentKind {
    const kind = options.kind();
    if (kind) return kind;
    throw new Refused(
      409,
      "closed",
      `The agent ${JSON.stringify(recorder.config.agent)} of this session is no longer configured.`,
      "Add it to config.json in the data folder, then restart Verbatim.",
    );
  }

  function isKnown(message_id: string): boolean {
    const { queue, withdrawn } = recorder.state;
    return (
      recorder.prompts.has(message_id) ||
      withdrawn.includes(message_id) ||
      queue.some((prompt) => prompt.message_id === message_id)
    );
  }

  function waiting(message_id: string): Prompt {
    const found = recorder.state.queue.find((prompt) => prompt.message_id === message_id);
    if (found === undefined) throw new Refused(404, "no_prompt", "No such prompt is queued.");
    return found;
  }

  function isCurrent(turn_id: string): boolean {
    const { turns } = recorder.buffer.transcript;
    // Turns that the agent itself reports within the running one are stopped with it.
    for (let index = turns.length - 1; index >= 0; index -= 1) {
      const id = turns.at(index)?.id;
      if (id === turn_id) return running !== undefined;
      if (id === running?.turn_id) return false;
    }
    return false;
  }

  /** Whether the turn has a prompt, also a steered one. */
  function isPrompted({ first_part, part_count }: Turn): boolean {
    const { parts } = recorder.buffer.transcript;
    for (let index = first_part; index < first_part + part_count; index += 1)
      if (parts.at(index)?.type === "prompt") return true;
    return false;
  }

  /** Whether no prompt came since the last compaction. The end of the compaction may not be on disk yet. */
  function isCompacted(): boolean {
    const { turns } = recorder.buffer.transcript;
    for (let index = turns.length - 1; index >= 0; index -= 1) {
      const turn = turns.at(index);
      if (turn?.retracted !== undefined) continue;
      if (!turn || isPrompted(turn)) return false;
      return turn.status === "completed" || turn.status === "running";
    }
    return false;
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

  function rejectPrompts() {
    closed = true;
    requests.close();
  }

  return {
    get control() {
      const activity = !running && !finalizing ? "idle" : requests.open.length > 0 ? "waiting" : "working";
      return controlOf(options.kind(), recorder.state, activity);
    },
    get requests() {
      return requests.open;
    },
    get working() {
      return running !== undefined || finalizing;
    },
    get has_agent() {
      return agent !== undefined;
    },
    send(prompt, when, origin) {
      const kind = open();
      if (isKnown(prompt.message_id)) return;
      const { queue } = recorder.state;
      if (!running && queue.every(({ held }) => held)) begin(prompt, origin);
      else if (when === "steer" && kind.can_steer && running?.ending === false) steer(prompt);
      else {
        recorder.setState({ queue: [...queue, prompt] });
        if (!running) beginQueued();
      }
      changed();
    },
    waiting,
    withdraw(message_id, withdrawal_id) {
      const { queue, withdrawn, withdrawals = [] } = recorder.state;
      if (withdrawn.includes(message_id)) {
        if (withdrawal_id === undefined || withdrawals.includes(withdrawal_id)) return;
        throw new Refused(404, "no_prompt", "This prompt was already withdrawn.");
      }
      if (recorder.prompts.has(message_id)) {
        throw new Refused(409, "begun", "The agent already has this prompt.", "Stop the agent instead.");
      }
      const kept = queue.filter((prompt) => prompt.message_id !== message_id);
      if (kept.length === queue.length) throw new Refused(404, "no_prompt", "No such prompt is queued.");
      recorder.setState({
        queue: kept,
        withdrawn: [...withdrawn, message_id].slice(-MAX_WITHDRAWN),
        ...(withdrawal_id && { withdrawals: [...withdrawals, withdrawal_id].slice(-MAX_WITHDRAWN) }),
      });
      changed();
    },
    beginHeld(message_id) {
      open();
      if (recorder.prompts.has(message_id)) return;
      const prompt = waiting(message_id);
      if (!running) {
        beginQueued(prompt);
        return;
      }
      const meant = { message_id, parts: prompt.parts };
      recorder.setState({ queue: recorder.state.queue.map((each) => (each === prompt ? meant : each)) });
      changed();
    },
    stop(turn_id) {
      if (turn_id !== undefined && !isCurrent(turn_id)) return false;
      running?.controller.abort();
      return true;
    },
    compact() {
      const kind = open();
      if (!kind.can_compact) throw new Refused(409, "cannot", "This agent cannot compact its context.");
      if (running?.compaction) return;
      if (running) throw new Refused(409, "busy", "The agent is running.", "Wait until its turn ends.");
      if (isCompacted()) return;
      const turn_id = randomUUID();
      recorder.emit({ type: "turn.start", session_id, at: now(), turn_id });
      const work = async (one: Agent, signal: AbortSignal) => {
        if (!one.compact) throw new Error("This agent cannot compact its context.");
        return await one.compact(signal);
      };
      drive(turn_id, work, { held: recorder.state.queue });
    },
    setModel(model) {
      const kind = open();
      if (!kind.can_switch_model) throw new Refused(409, "cannot", "This agent's model cannot be changed.");
      if (recorder.config.model === model) return;
      recorder.setConfig({ model });
      // The error is reported by the turn that created the agent.
      if (agent) void agent.then((one) => one.setModel?.(model)).catch(() => {});
      const at = now();
      // Other kinds of agents report the change themselves.
      if (kind.entry.kind === "provider") {
        recorder.emit({ type: "session.update", session_id, at, patch: { model } });
        const marker = { type: "marker", kind: "model_switch", title: `Model: ${model}` } as const;
        if (!agent) recorder.emit({ ...marker, session_id, at, part_id: randomUUID(), data: { to: model } });
      }
      changed();
    },
    answer: requests.answer,
    resume() {
      const turns = recorder.buffer.transcript.turns;
      const turn_id = turns.at(turns.length - 1)?.id ?? randomUUID();
      drive(turn_id, async (one, signal) => {
        if (!one.resume) throw new Error("This agent cannot resume an interrupted turn.");
        return await one.resume(signal);
      });
    },
    async ended() {
      return await running?.done;
    },
    rejectPrompts,
    async close() {
      rejectPrompts();
      running?.controller.abort();
      await endAgent();
    },
  };
}

/** What the user can do with a session of this kind. */
export function controlOf(
  kind: AgentKind | undefined,
  state: SessionState,
  activity: "idle" | "working" | "waiting",
): SessionControl {
  return {
    state: kind ? activity : "closed",
    can_steer: kind?.can_steer === true,
    can_fork: kind?.from_history === true,
    can_compact: kind?.can_compact === true,
    can_switch_model: kind?.can_switch_model === true,
    takes_images: kind?.entry.takes_images === true,
    queued: state.queue.map(({ message_id, parts, held }) => ({
      message_id,
      text: promptLine(parts) ?? "",
      ...(held && { held }),
    })),
  };
}
