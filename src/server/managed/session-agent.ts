import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, AgentHost, RunOptions, RunReport } from "../../agent/agent.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { CodedError } from "../../model/text/coded-error.ts";
import type { AgentKind } from "./agents.ts";
import type { Recorder } from "./record/recorder.ts";

/** Time that an agent has to close, in milliseconds. */
const CLOSE_LIMIT = 5_000;

/** The agent of a session, created on first use. */
export interface SessionAgent {
  /** `undefined`: there is no agent. An existing agent may have processes. */
  readonly current: Promise<Agent> | undefined;
  ready(): Promise<Agent>;
  /** Closes the agent, and ignores its further frames and calls. */
  end(): Promise<void>;
}

export interface SessionAgentOptions {
  recorder: Recorder;
  /** `undefined`: its agent is no longer configured. */
  kind: () => AgentKind | undefined;
  /** The folder for the session's files. */
  files: string;
  /** The daemon's data folder, which the agent's file tools must not access. */
  private_folder: string;
  now: () => number;
  startRun(options: RunOptions, signal: AbortSignal): Promise<RunReport>;
  /** Whether the agent of another session has this session of an external agent open. */
  isAgentSessionOpen(id: string): boolean;
  report(error: unknown): void;
  ask: AgentHost["ask"];
  takeSteering: AgentHost["takeSteering"];
  /** Whether frames and requests of the agent are ignored because the daemon is shutting down. */
  isClosed(): boolean;
}

/** Creates and closes the agent of a session. */
export function createSessionAgent(options: SessionAgentOptions): SessionAgent {
  const { recorder, now } = options;
  let agent: Promise<Agent> | undefined;
  /** Identifies the current agent. Frames and calls of closed agents are ignored. */
  let agent_generation = {};

  function agentHost(of: object): AgentHost {
    const { cwd, depth } = recorder.config;
    const is_alive = () => of === agent_generation && !options.isClosed();
    const gone = () => Promise.reject(new CodedError(agentTitle("session_agent_closed")));
    return {
      session_id: recorder.id,
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
      ask: (request, signal) => (is_alive() ? options.ask(request, signal) : Promise.resolve(undefined)),
      takeSteering: options.takeSteering,
      startRun: (run, signal) => (is_alive() ? options.startRun(run, signal) : gone()),
    };
  }

  function ready(): Promise<Agent> {
    if (agent) return agent;
    const kind = options.kind();
    if (!kind) {
      return Promise.reject(
        new CodedError(agentTitle("agent_not_configured", { agent: recorder.config.agent })),
      );
    }
    const made = Promise.resolve().then(() => kind.create(recorder.config, agentHost(agent_generation)));
    agent = made;
    made.catch(() => {
      if (agent === made) agent = undefined;
    });
    return made;
  }

  async function end(): Promise<void> {
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

  return {
    get current() {
      return agent;
    },
    ready,
    end,
  };
}
