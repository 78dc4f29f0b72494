import type { AssistantMessage } from "../model/messages/message.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { messageOf } from "../model/narrow.ts";
import type { Answer } from "../model/request.ts";
import type { AgentHost } from "./agent.ts";
import { approvalOf, digestOf, verdictOf } from "./approval.ts";
import { inputOf } from "./call-input.ts";
import { decide, type PermissionRule } from "./permissions.ts";
import { createProgress } from "./progress.ts";
import { type PreparedCall, type Tool, ToolInputError, type ToolOutput } from "./tool.ts";
import type { CallEnd, TurnEmitter } from "./turn-emitter.ts";

interface CallRunnerOptions {
  host: AgentHost;
  emitter: TurnEmitter;
  tools: readonly Tool[];
  /** Evaluated for each call. Rules that the user adds by "always allow" are appended. */
  rules: PermissionRule[];
  /** Grace period for a stopped tool, in milliseconds. Then the call ends without waiting for the tool. */
  stop_within_ms: number;
}

export interface CallRunner {
  /**
   * Runs the calls of one message and emits each result when its call ends. Resolves when no call is running. After an abort,
   * some calls may have no result: the caller must end them with what `stopped` returns. Rejects only if the session itself fails
   * because frames cannot be stored.
   */
  run(calls: readonly ToolCallPart[], from: CallSource, signal: AbortSignal): Promise<void>;
  /** The output of a stopped call so far; `undefined`: the call did not run. */
  stopped(call_id: string): ToolOutput | undefined;
}

/** The message of the calls, and the ids of those that are complete and valid. */
interface CallSource {
  executable: ReadonlySet<string>;
  message: AssistantMessage;
}

/** A call that is prepared to run once it is permitted. */
interface Plan {
  readonly message_id: string;
  readonly call: ToolCallPart;
  readonly tool: Tool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly prepared: PreparedCall;
  /** Resolves with the end of the call if it must not run. */
  readonly permission: Promise<CallEnd | undefined>;
}

const CHANGED_SINCE_APPROVAL =
  "Not run: what this call would do has changed since it was allowed. Check again, and repeat the call if it is still right.";

interface Runner extends Omit<CallRunnerOptions, "tools"> {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly stopped: Map<string, ToolOutput>;
  /** Callbacks that re-evaluate open approvals after a rule was added that may decide them. */
  readonly waiting: Set<() => void>;
}

/** Creates the runner of a session's calls. */
export function createCallRunner(options: CallRunnerOptions): CallRunner {
  const runner: Runner = {
    ...options,
    tools: new Map(options.tools.map((tool) => [tool.definition.name, tool])),
    stopped: new Map(),
    waiting: new Set(),
  };
  return {
    run: (calls, from, signal) => run(runner, calls, from, signal),
    stopped: (call_id) => runner.stopped.get(call_id),
  };
}

async function run(
  runner: Runner,
  calls: readonly ToolCallPart[],
  from: CallSource,
  signal: AbortSignal,
): Promise<void> {
  runner.stopped.clear();
  const running: Promise<void>[] = [];
  let before: Promise<unknown> = Promise.resolve();
  const begin = (call: ToolCallPart): void => {
    const plan = planOf(runner, call, from, signal);
    if ("status" in plan) {
      runner.emitter.endCall(call, plan);
      return;
    }
    // A call that is not parallel waits for all earlier calls, and later ones wait for it, because a call may depend on an
    // earlier one.
    const turn = plan.tool.parallel ? before : Promise.all([before, ...running]);
    const done = turn.then(() => perform(runner, plan, signal));
    running.push(done);
    if (!plan.tool.parallel) before = done;
  };
  try {
    for (const call of calls) begin(call);
  } catch (error) {
    running.push(Promise.reject(error));
  }
  // Wait for all calls, so that none is running when this rejects.
  const ends = await Promise.allSettled(running);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Prepares a call. If it must not run, returns its end instead. */
function planOf(runner: Runner, call: ToolCallPart, from: CallSource, signal: AbortSignal): Plan | CallEnd {
  const refused = (output_text: string): CallEnd => ({ status: "error", output_text });
  const { tool_name } = call;
  const message_id = from.message.id;
  if (!from.executable.has(call.call_id)) return refused(whyNotExecutable(call, from.message));
  const tool = runner.tools.get(tool_name);
  if (tool === undefined) {
    return refused(
      `Not run: unknown tool ${tool_name}. Available tools: ${[...runner.tools.keys()].join(", ")}`,
    );
  }
  const input = inputOf(call);
  if (typeof input === "string") return refused(`Not run: ${input}`);
  let prepared: PreparedCall;
  try {
    prepared = tool.prepare(input, runner.host);
  } catch (error) {
    return refused(
      `Not run: ${error instanceof ToolInputError ? "" : "the tool failed: "}${messageOf(error)}`,
    );
  }
  const { target } = prepared;
  const { decision, rule } = decide(runner.rules, { tool_name, target }, tool.default_decision);
  switch (decision) {
    case "allow":
      return { message_id, call, tool, input, prepared, permission: Promise.resolve(undefined) };
    case "deny":
      return refused(
        `Not run: a rule does not allow this (${rule?.tool ?? tool_name} ${rule?.exact ?? rule?.pattern ?? ""}`.trimEnd() +
          "). The operator set this rule: do not try the same in another way.",
      );
    case "ask":
      return {
        message_id,
        call,
        tool,
        input,
        prepared,
        permission: ask(runner, call, message_id, prepared, tool, signal),
      };
    default:
      return decision satisfies never;
  }
}

/** Asks the user for permission. Resolves with the end of the call if it is not permitted. */
async function ask(
  runner: Runner,
  call: ToolCallPart,
  message_id: string,
  prepared: PreparedCall,
  tool: Tool,
  signal: AbortSignal,
): Promise<CallEnd | undefined> {
  const { host } = runner;
  const ruled = { tool_name: call.tool_name, target: prepared.target };
  const cancellation = new AbortController();
  const isAllowed = () => decide(runner.rules, ruled, tool.default_decision).decision === "allow";
  const checkAgain = () => {
    if (isAllowed()) cancellation.abort();
  };
  runner.waiting.add(checkAgain);
  const request = approvalOf(host.session_id, message_id, call, prepared);
  let answer: Answer | undefined;
  try {
    answer = await host.ask(request, AbortSignal.any([signal, cancellation.signal]));
  } catch (error) {
    return { status: "error", output_text: `Not run: the user could not be asked (${messageOf(error)}).` };
  } finally {
    runner.waiting.delete(checkAgain);
  }
  if (answer === undefined) {
    if (cancellation.signal.aborted) return undefined;
    return { status: "error", output_text: "Not run: the approval request was not answered in time." };
  }
  const verdict = verdictOf(answer, ruled);
  if (!verdict.allowed) {
    const { says } = verdict;
    return {
      // Agents use the same status in their own records if the user stops a call before it begins.
      status: "aborted",
      output_text: `The user denied this call; it was not run.${says === undefined ? "" : ` The user said:\n${says}`}`,
    };
  }
  if (verdict.rule !== undefined) {
    runner.rules.push(verdict.rule);
    for (const look of [...runner.waiting]) look();
  }
  return undefined;
}

async function perform(runner: Runner, plan: Plan, signal: AbortSignal): Promise<void> {
  const { emitter } = runner;
  const { call } = plan;
  const denial = await plan.permission;
  if (signal.aborted) return;
  if (denial !== undefined) {
    emitter.endCall(call, denial);
    return;
  }
  await runner.host.stored();
  if (signal.aborted) return;
  const prepared = prepareAgain(runner, plan);
  if (prepared === undefined) {
    emitter.endCall(call, { status: "error", output_text: CHANGED_SINCE_APPROVAL });
    return;
  }
  const { status = "success", ...output } = await execute(runner, plan, prepared, signal);
  // A call that succeeds in spite of an abort counts as successful.
  if (signal.aborted && status !== "success") runner.stopped.set(call.call_id, output);
  else emitter.endCall(call, { status, ...output });
}

/** Prepares the call again, because files may have changed since. `undefined`: it would not run exactly what was approved. */
function prepareAgain(runner: Runner, { tool, input, prepared }: Plan): PreparedCall | undefined {
  try {
    const now = tool.prepare(input, runner.host);
    const isSame = digestOf(now.subject) === digestOf(prepared.subject) && now.target === prepared.target;
    return isSame ? now : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a call until it ends or, after an abort, until the grace period expires. Never rejects. */
async function execute(
  runner: Runner,
  plan: Plan,
  prepared: PreparedCall,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { message_id, call, tool } = plan;
  const limit_ms = tool.time_limit_ms;
  const limit = new AbortController();
  const timer = limit_ms > 0 ? setTimeout(() => limit.abort(), limit_ms) : undefined;
  const either = AbortSignal.any([signal, limit.signal]);
  const progress = createProgress(runner.emitter, call.call_id);
  const grace_timer = createGraceTimer(either, runner.stop_within_ms);
  const work = async (): Promise<ToolOutput> => {
    try {
      const show = (text: string): void => progress.push(text);
      return await prepared.run({
        host: runner.host,
        message_id,
        call_id: call.call_id,
        signal: either,
        progress: show,
      });
    } catch (error) {
      return { status: "error", output_text: `The tool failed: ${messageOf(error)}` };
    }
  };
  const output: ToolOutput = (await Promise.race([work(), grace_timer.isOver])) ?? {
    status: "error",
    output_text: `The tool did not stop within ${runner.stop_within_ms / 1_000} s. It may still be running.`,
  };
  clearTimeout(timer);
  grace_timer.end();
  progress.close();
  if (!limit.signal.aborted || signal.aborted) return output;
  const { output_text } = output;
  return {
    ...output,
    status: "error",
    output_text: `Timed out after ${limit_ms} ms${output_text === "" ? "" : `\n${output_text}`}`,
  };
}

/** Starts a timer when the signal is aborted. `isOver` resolves with `undefined` when it expires. */
function createGraceTimer(
  signal: AbortSignal,
  limit_ms: number,
): { isOver: Promise<undefined>; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const begin = (): void => {
    timer = setTimeout(() => resolve(undefined), limit_ms);
  };
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  return {
    isOver: promise,
    end() {
      signal.removeEventListener("abort", begin);
      clearTimeout(timer);
    },
  };
}

/** Why a call cannot be executed, as a message for the model, so that it can try again. */
function whyNotExecutable(call: ToolCallPart, message: AssistantMessage): string {
  if (message.stop_reason === "length") {
    return "Not run: the answer reached its output limit, so this call may be incomplete. Try again with a shorter one.";
  }
  const input = inputOf(call);
  if (typeof input === "string") return `Not run: ${input}`;
  return "Not run: the answer ended before this call was complete. Try again.";
}
