import { randomUUID } from "node:crypto";
import type { Agent, Prompt, TurnOutcome } from "../../agent/agent.ts";
import { promptLine } from "../../model/parts/content.ts";
import type { OpenRequest, SessionControl } from "../../model/session.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { CodedError } from "../../model/text/coded-error.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { SessionState } from "../../store/history/session-config.ts";
import { Refused } from "../sessions/refused.ts";
import type { AgentKind } from "./agents.ts";
import { isKnownPrompt, queuedPrompt, withdrawPrompt } from "./prompt-queue.ts";
import { createRequests, type Requests } from "./requests.ts";
import { createSessionAgent, type SessionAgentOptions } from "./session-agent.ts";
import { isCompacted, isCurrentTurn } from "./turn-facts.ts";
import { createTurns } from "./turns.ts";

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

interface HostOptions extends Omit<SessionAgentOptions, "ask" | "takeSteering" | "isClosed"> {
  answer_within?: number;
  /** Called when the row may have changed. */
  changed(): void;
}

/** Creates the host of a session. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one short method per action of the user
export function createHost(options: HostOptions): Host {
  const { recorder, now, changed } = options;
  const session_id = recorder.id;
  const requests = createRequests({
    recorder,
    now,
    changed,
    ...(options.answer_within === undefined ? {} : { answer_within: options.answer_within }),
  });
  let closed = false;
  const isClosed = () => closed;
  const agent = createSessionAgent({
    ...options,
    ask: requests.ask,
    takeSteering: () => turns.takeSteering(),
    isClosed,
  });
  const turns = createTurns({ ...options, requests, agent, isClosed });

  function open(): AgentKind {
    const kind = options.kind();
    if (kind) return kind;
    throw new Refused(
      409,
      "closed",
      daemonText("agent_not_configured", { agent: recorder.config.agent }),
      daemonText("add_to_config"),
    );
  }

  function rejectPrompts() {
    closed = true;
    requests.close();
  }

  return {
    get control() {
      const activity = !turns.working ? "idle" : requests.open.length > 0 ? "waiting" : "working";
      return controlOf(options.kind(), recorder.state, activity);
    },
    get requests() {
      return requests.open;
    },
    get working() {
      return turns.working;
    },
    get has_agent() {
      return agent.current !== undefined;
    },
    send(prompt, when, origin) {
      const kind = open();
      if (isKnownPrompt(recorder, prompt.message_id)) return;
      const { queue } = recorder.state;
      if (!turns.running && queue.every(({ held }) => held)) turns.begin(prompt, origin);
      else if (when === "steer" && kind.can_steer && turns.running?.ending === false) turns.steer(prompt);
      else {
        recorder.setState({ queue: [...queue, prompt] });
        if (!turns.running) turns.beginQueued();
      }
      changed();
    },
    waiting: (message_id) => queuedPrompt(recorder, message_id),
    withdraw(message_id, withdrawal_id) {
      if (withdrawPrompt(recorder, message_id, withdrawal_id)) changed();
    },
    beginHeld(message_id) {
      open();
      if (recorder.prompts.has(message_id)) return;
      const prompt = queuedPrompt(recorder, message_id);
      if (!turns.running) {
        turns.beginQueued(prompt);
        return;
      }
      const released = { message_id, parts: prompt.parts };
      recorder.setState({ queue: recorder.state.queue.map((each) => (each === prompt ? released : each)) });
      changed();
    },
    stop(turn_id) {
      if (
        turn_id !== undefined &&
        !isCurrentTurn(recorder.buffer.transcript, turn_id, turns.running?.turn_id)
      )
        return false;
      turns.running?.controller.abort();
      return true;
    },
    compact() {
      const kind = open();
      if (!kind.can_compact) throw new Refused(409, "cannot", daemonText("cannot_compact"));
      if (turns.running?.compaction) return;
      if (turns.running)
        throw new Refused(409, "busy", daemonText("agent_running"), daemonText("wait_for_turn"));
      if (isCompacted(recorder.buffer.transcript)) return;
      const turn_id = randomUUID();
      recorder.emit({ type: "turn.start", session_id, at: now(), turn_id });
      const work = async (one: Agent, signal: AbortSignal) => {
        if (!one.compact) throw new CodedError(agentTitle("agent_cannot_compact"));
        return await one.compact(signal);
      };
      turns.drive(turn_id, work, { held: recorder.state.queue });
    },
    setModel(model) {
      const kind = open();
      if (!kind.can_switch_model) throw new Refused(409, "cannot", daemonText("cannot_switch_model"));
      if (recorder.config.model === model) return;
      recorder.setConfig({ model });
      // The error is reported by the turn that created the agent.
      void agent.current?.then((one) => one.setModel?.(model)).catch(() => {});
      const at = now();
      // Other kinds of agents report the change themselves.
      if (kind.entry.kind === "provider") {
        recorder.emit({ type: "session.update", session_id, at, patch: { model } });
        const title = titleFields(agentTitle("model_is", { model }));
        const marker = { type: "marker", kind: "model_switch", ...title } as const;
        if (!agent.current)
          recorder.emit({ ...marker, session_id, at, part_id: randomUUID(), data: { to: model } });
      }
      changed();
    },
    answer: requests.answer,
    resume() {
      const { turns: known } = recorder.buffer.transcript;
      const turn_id = known.at(known.length - 1)?.id ?? randomUUID();
      turns.drive(turn_id, async (one, signal) => {
        if (!one.resume) throw new CodedError(agentTitle("agent_cannot_resume"));
        return await one.resume(signal);
      });
    },
    async ended() {
      return await turns.running?.done;
    },
    rejectPrompts,
    async close() {
      rejectPrompts();
      turns.running?.controller.abort();
      await agent.end();
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
