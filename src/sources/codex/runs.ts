import { isUuid } from "../../model/is-uuid.ts";
import { asObject, asString } from "../../model/narrow.ts";
import type { Call, Calls } from "./calls.ts";
import { argument, taskOf } from "./tool-extra.ts";
import type { TurnWriter } from "./turns.ts";

/** The sub-agent runs that a thread's calls started, as named by each log. */
export class Runs {
  private readonly writer: TurnWriter;
  private readonly calls: Calls;
  /** Their link facts, see `SessionLinkFacts`. */
  readonly spawned: { tool_call_id: string; agent_key?: string; prompt?: string; at: number }[] = [];
  /** Calls by thread id and by path. */
  private readonly byKey = new Map<string, Call>();
  private readonly names = new Map<string, string>();

  constructor(writer: TurnWriter, calls: Calls) {
    this.writer = writer;
    this.calls = calls;
  }

  /** The call that started a run. */
  callOf(key: string | undefined): Call | undefined {
    return key === undefined ? undefined : this.byKey.get(key);
  }

  nameOf(key: string): string {
    return this.names.get(key) ?? key;
  }

  spawn(call: Call, at: number): void {
    const prompt = taskOf(call.input);
    this.spawned.push({ tool_call_id: call.id, at, ...(prompt === undefined ? {} : { prompt }) });
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
    const task = taskOf(call.input);
    const session_id = thread !== undefined && isUuid(thread) ? thread : before.session_id;
    const run = {
      ...before,
      ...(key === undefined ? {} : { agent_key: key }),
      ...(session_id === undefined ? {} : { session_id }),
      ...(name === undefined ? {} : { name }),
      ...(task === undefined ? {} : { task }),
      ...(status === undefined ? {} : { status }),
    };
    this.calls.enrich(call, { run });
    for (const each of [thread, path, key]) {
      if (each === undefined) continue;
      this.byKey.set(each, call);
      if (name !== undefined) this.names.set(each, name);
    }
    const fact = this.spawned.find(({ tool_call_id }) => tool_call_id === call.id);
    if (fact !== undefined && key !== undefined) fact.agent_key = key;
    if (session_id !== undefined && session_id !== before.session_id) {
      this.calls.linkRun(call, {
        session_id,
        ...(name === undefined ? {} : { name }),
        ...(task === undefined ? {} : { task }),
      });
    }
  }

  /** Links a later call to a known run, so that its card can name and open it. */
  name(call: Call): void {
    const target = argument(call.input, "target") ?? argument(call.input, "id");
    const spawned = target === undefined ? undefined : this.byKey.get(target);
    const run = spawned?.facts.run;
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
    const call = key === undefined ? undefined : this.byKey.get(key);
    if (call === undefined) return;
    const { session_id, now } = this.writer;
    this.writer.push({
      type: "task.finish",
      session_id,
      at: now.at,
      tool_call_id: call.id,
      status: status === "completed" ? "completed" : status === "errored" ? "failed" : "interrupted",
    });
  }
}
