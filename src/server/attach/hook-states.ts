import { rmSync, writeFileSync } from "node:fs";
import { messageOf } from "../../model/narrow.ts";
import { isProcess } from "../processes/live-process.ts";
import { createTerminalPlaces } from "../processes/terminal-place.ts";
import type { AgentState } from "./agent-state.ts";
import { waitingFlag } from "./hook-attachment.ts";
import type { HookReport } from "./hook-event.ts";
import { hookedAgents } from "./hooked-agents.ts";

/** Interval at which the processes of the reported sessions are checked, in milliseconds. */
const CHECK_MS = 1_000;

/** The states of sessions as reported by their hooks, while their processes run. */
export interface HookStates {
  get(session_id: string): AgentState | undefined;
  /** `pid`: the agent's process. A report without one is ignored, because the end of the process could not be noticed. */
  report(agent: string, pid: number | undefined, report: HookReport): void;
  close(): void;
}

export function createHookStates(options: {
  data_dir: string;
  now: () => number;
  /** Called with the agent's session id when its state changes. */
  onChange(session_id: string): void;
  report(error: unknown): void;
}): HookStates {
  const { data_dir, now, onChange } = options;
  const states = new Map<string, { agent: string; pid: number; state: AgentState }>();
  const has_flag = new Map<string, boolean>();
  const places = createTerminalPlaces(now);
  let timer: NodeJS.Timeout | undefined;

  // An earlier daemon may have left flags behind.
  for (const { agent } of hookedAgents) rmSync(waitingFlag(data_dir, agent), { force: true });

  function updateFlag(agent: string) {
    const waits = [...states.values()].some((each) => each.agent === agent && each.state.waiting);
    if (waits === (has_flag.get(agent) ?? false)) return;
    try {
      if (waits) writeFileSync(waitingFlag(data_dir, agent), "", { mode: 0o600 });
      else rmSync(waitingFlag(data_dir, agent), { force: true });
      has_flag.set(agent, waits);
    } catch (error) {
      // Without the flag a session counts as waiting until its next record.
      options.report(new Error(`The flag of waiting sessions could not be changed: ${messageOf(error)}`));
    }
  }

  function set(session_id: string, agent: string, pid: number, state: AgentState | undefined) {
    if (state === undefined) states.delete(session_id);
    else states.set(session_id, { agent, pid, state });
    updateFlag(agent);
    onChange(session_id);
    if (states.size > 0) timer ??= setInterval(() => void check(), CHECK_MS).unref();
    else stop();
  }
  function stop() {
    clearInterval(timer);
    timer = undefined;
  }

  async function addTerminal(session_id: string, pid: number, state: AgentState) {
    const terminal = await places.find(pid);
    const entry = states.get(session_id);
    if (entry?.state !== state) return;
    entry.state = { ...state, terminal };
    onChange(session_id);
  }

  async function check() {
    for (const [session_id, { agent, pid, state }] of states) {
      if (await isProcess(pid, undefined, state.since)) continue;
      if (states.get(session_id)?.pid === pid) set(session_id, agent, pid, undefined);
    }
  }

  return {
    get: (session_id) => states.get(session_id)?.state,
    report(agent, pid, report) {
      if (pid === undefined) return;
      const { session_id } = report;
      const before = states.get(session_id)?.state;
      if (report.state === "ended" && before === undefined) return;
      if (report.state === "resumed" && before?.waiting === undefined) return;
      const state = stateOf(report, now());
      set(session_id, agent, pid, state);
      if (state?.waiting) void addTerminal(session_id, pid, state).catch(options.report);
    },
    close() {
      stop();
      for (const { agent } of hookedAgents) rmSync(waitingFlag(data_dir, agent), { force: true });
    },
  };
}

function stateOf(report: HookReport, since: number): AgentState | undefined {
  const base = { by: "hook", since } as const;
  switch (report.state) {
    case "idle":
      return { ...base, busy: false };
    case "busy":
    case "resumed":
      return { ...base, busy: true };
    case "waiting":
      return { ...base, busy: true, waiting: { for: report.for ?? "input needed" } };
    case "ended":
      return undefined;
    default:
      return report.state satisfies never;
  }
}
