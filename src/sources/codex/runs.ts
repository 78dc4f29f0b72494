import { isUuid } from "../../model/is-uuid.ts";
import { asObject, asString } from "../../model/narrow.ts";
import type { SessionLinkFacts } from "../contract.ts";
import { jsonBytes, keepWithin, keptName } from "./bounds.ts";
import type { Call } from "./call-table.ts";
import type { Calls } from "./calls.ts";
import { argument, taskOf } from "./tool-extra.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** The run of a sub-agent that a call started. */
interface Run {
  /** Id of the call in frames. */
  tool_call_id: string;
  /** Thread ids and paths by which later records name it. */
  keys: string[];
  name?: string;
  session_id?: string;
  /** Link facts, see `SessionLinkFacts`; absent: only events record the call. */
  spawned?: { agent_key?: string; prompt?: string; at: number };
}

/** What `Runs` keeps between two records. Plain JSON. */
export interface RunsState {
  /** Oldest first. */
  runs: Run[];
}

/** Maximum bytes of all runs. Prompts that are not needed are dropped first, then the oldest runs. */
const MAX_RUNS_BYTES = 28 * 1024;
/** Prompts are compared by this many leading UTF-16 code units. */
const MAX_PROMPT = 500;

/** The sub-agent runs that a thread's calls started, as named by each log. */
export class Runs {
  private readonly writer: TurnWriter;
  private readonly calls: Calls;
  private readonly state: RunsState;

  constructor(writer: TurnWriter, calls: Calls, state: RunsState) {
    this.writer = writer;
    this.calls = calls;
    this.state = state;
  }

  /** The calls that started runs, see `SessionLinkFacts`. */
  get spawned(): SessionLinkFacts["calls"] {
    return this.state.runs.flatMap(({ tool_call_id, spawned }) =>
      spawned === undefined ? [] : [{ tool_call_id, ...spawned }],
    );
  }

  /** Id of the call that started a run. */
  callOf(key: string | undefined): string | undefined {
    return key === undefined ? undefined : this.runOf(key)?.tool_call_id;
  }

  nameOf(key: string): string {
    return this.runOf(key)?.name ?? key;
  }

  private runOf(key: string): Run | undefined {
    return this.state.runs.findLast(({ keys }) => keys.includes(key));
  }

  private ofCall(call: Call): Run {
    const known = this.state.runs.findLast(({ tool_call_id }) => tool_call_id === call.id);
    if (known !== undefined) return known;
    const run: Run = { tool_call_id: call.id, keys: [] };
    this.state.runs.push(run);
    return run;
  }

  spawn(call: Call, at: number): void {
    const prompt = taskOf(this.calls.table.inputOf(call));
    this.ofCall(call).spawned = {
      at,
      ...(prompt === undefined ? {} : { prompt: prompt.slice(0, MAX_PROMPT) }),
    };
    this.bound();
  }

  /** Reads the result of `spawn_agent`: the new thread's id and nickname, or only the path of the task. */
  answered(call: Call, answer: unknown): void {
    const object = asObject(answer);
    const id = asString(object?.agent_id) ?? asString(object?.thread_id);
    const path = asString(object?.task_name) ?? asString(object?.agent_path);
    const name = asString(object?.nickname);
    if (id !== undefined || path !== undefined) this.link(call, id, path, name);
  }

  link(
    call: Call,
    thread: string | undefined,
    path: string | undefined,
    nickname: string | undefined,
    status?: string,
  ): void {
    const before = call.facts.run ?? {};
    const key = thread ?? before.session_id ?? path;
    const name = nickname ?? before.name ?? path?.split("/").at(-1);
    const task = taskOf(this.calls.table.inputOf(call));
    const session_id = thread !== undefined && isUuid(thread) ? thread : before.session_id;
    const facts = {
      ...before,
      ...(key === undefined ? {} : { agent_key: key }),
      ...(session_id === undefined ? {} : { session_id }),
      ...(name === undefined ? {} : { name }),
      ...(task === undefined ? {} : { task }),
      ...(status === undefined ? {} : { status }),
    };
    this.calls.enrich(call, { run: facts });
    const run = this.ofCall(call);
    for (const each of [thread, path, key]) {
      if (each === undefined || run.keys.includes(each)) continue;
      const other = this.runOf(each);
      if (other !== undefined) other.keys = other.keys.filter((taken) => taken !== each);
      run.keys.push(each);
    }
    if (name !== undefined) run.name = keptName(name);
    if (session_id !== undefined) run.session_id = session_id;
    if (run.spawned !== undefined && key !== undefined) run.spawned.agent_key = key;
    this.bound();
    if (session_id !== undefined && session_id !== before.session_id) {
      this.calls.linkRun(call, {
        session_id,
        ...(name === undefined ? {} : { name }),
        ...(task === undefined ? {} : { task }),
      });
    }
  }

  private bound(): void {
    const { runs } = this.state;
    let bytes = jsonBytes(runs);
    for (const { spawned } of runs) {
      if (bytes <= MAX_RUNS_BYTES) return;
      // The run is found by its thread.
      if (spawned?.prompt === undefined || !isUuid(spawned.agent_key ?? "")) continue;
      bytes -= jsonBytes(spawned.prompt);
      delete spawned.prompt;
    }
    if (bytes > MAX_RUNS_BYTES) keepWithin(runs, MAX_RUNS_BYTES, jsonBytes);
  }

  /** Links a later call to a known run, so that its card can name and open it. */
  name(call: Call): void {
    const input = this.calls.table.inputOf(call);
    const target = argument(input, "target") ?? argument(input, "id");
    const run = target === undefined ? undefined : this.runOf(target);
    if (target === undefined || run === undefined) return;
    const { name, session_id } = run;
    this.calls.enrich(call, {
      run: {
        agent_key: target,
        ...(name === undefined ? {} : { name }),
        ...(session_id === undefined ? {} : { session_id }),
      },
    });
  }

  ended(key: string | undefined, status: string): void {
    const tool_call_id = this.callOf(key);
    if (tool_call_id === undefined) return;
    const { session_id, now } = this.writer;
    this.writer.push({
      type: "task.finish",
      session_id,
      at: now.at,
      tool_call_id,
      status: status === "completed" ? "completed" : status === "errored" ? "failed" : "interrupted",
    });
  }
}
