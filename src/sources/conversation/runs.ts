import type { LinkFacts, SessionLinkFacts } from "../contract.ts";
import { first, inputOf, startsRuns } from "./tool-payload.ts";

type Start = SessionLinkFacts["calls"][number];

/** The calls of a session that start sub-agent runs, oldest first. */
export interface StartedRuns {
  runs: Start[];
}

/** Maximum number of linked calls that start runs. */
const MAX_RUNS = 500;
/** Prompts are compared by this many leading UTF-16 code units, to bound the state. */
const PROMPT = 400;

export const startedRuns = (): StartedRuns => ({ runs: [] });

/** The prompt of a run in its form for comparison. */
export const promptKey = (text: string): string => text.trim().slice(0, PROMPT);

/** Remembers a call if its tool starts runs. `at` in milliseconds. */
export function noteCall(
  state: StartedRuns,
  { id, name, input }: { id: string; name: string; input: unknown },
  at: number,
): void {
  if (!startsRuns(name)) return;
  if (state.runs.length >= MAX_RUNS || state.runs.some(({ tool_call_id }) => tool_call_id === id)) return;
  const prompt = promptIn(input);
  state.runs.push({ tool_call_id: id, at, ...(prompt !== undefined && { prompt }) });
}

/** Remembers the prompt of a noted call whose arguments were not complete. */
export function notePrompt({ runs }: StartedRuns, tool_call_id: string, input: unknown): void {
  const start = runs.find((run) => run.tool_call_id === tool_call_id);
  const prompt = promptIn(input);
  if (start !== undefined && prompt !== undefined) start.prompt ??= prompt;
}

function promptIn(input: unknown): string | undefined {
  const prompt = first(inputOf(input) ?? {}, "prompt", "task", "message");
  return prompt === undefined ? undefined : promptKey(prompt);
}

/** Remembers the agent's key of the run that a call started. */
export function nameRun(state: StartedRuns, tool_call_id: string, agent_key: string): void {
  const start = state.runs.find((run) => run.tool_call_id === tool_call_id);
  if (start !== undefined) start.agent_key = agent_key;
}

/** Replaces what is known of the runs that a call started, for a tool that may start several at once. */
export function setRuns(
  state: StartedRuns,
  tool_call_id: string,
  starts: readonly Omit<Start, "tool_call_id">[],
): void {
  state.runs = state.runs.filter((run) => run.tool_call_id !== tool_call_id);
  for (const start of starts.slice(0, MAX_RUNS - state.runs.length))
    state.runs.push({ tool_call_id, ...start });
}

/** A session whose record names the session that started it, if any. */
interface ChildSession extends StartedRuns {
  conversation: { session_id: string; at: number };
  parent?: string;
  /** The call that started it. */
  call?: string;
  /** The prompt that it was started with, as `promptKey` returns it. */
  task?: string;
}

export function linkFactsOf({
  conversation: { session_id, at },
  parent,
  call,
  task,
  runs,
}: ChildSession): LinkFacts {
  const run = parent !== undefined && {
    agent_key: session_id,
    parent_session_id: parent,
    ...(call !== undefined && { tool_call_id: call }),
    ...(task !== undefined && { prompt: task }),
    at,
  };
  return { sessions: [{ session_id, group: parent ?? session_id, calls: runs, ...(run && { run }) }] };
}
