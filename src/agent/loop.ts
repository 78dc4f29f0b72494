import { randomUUID } from "node:crypto";
import type { AssistantMessage } from "../model/messages/message.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { agentTitle } from "../model/text/agent-titles.ts";
import { titleOfError } from "../model/text/coded-error.ts";
import { textFields } from "../model/text/display-text.ts";
import { titleFields } from "../model/text/titles.ts";
import type { ModelCall, ModelReply } from "../providers/provider.ts";
import type { Agent, TurnOutcome } from "./agent.ts";
import { rulesAddedIn } from "./approval.ts";
import { createCallRunner } from "./calls.ts";
import { callIdsOf } from "./context.ts";
import { compactContext, context, emitUsage, isNearlyFull, showInstructions } from "./loop-context.ts";
import { fail, interrupt, retryMarker, withdraw } from "./loop-ends.ts";
import type { Loop, LoopOptions } from "./loop-state.ts";
import { openCalls } from "./open-calls.ts";
import { failureOf, unknownFailure, withRetries } from "./retry.ts";
import { createTurnEmitter } from "./turn-emitter.ts";

export type { LoopOptions } from "./loop-state.ts";

const STEP_LIMIT = 200;
/**
 * Grace period for stopped tools. Must be longer than that of a process group. Runs have less, so that they end before their
 * parents.
 */
const STOP_WITHIN_MS = 20_000;
const STOP_SOONER_BY_DEPTH_MS = 1_500;

/** Creates Verbatim's own agent, which calls the model and runs the tools that it requests until the model yields. */
export function createLoopAgent(options: LoopOptions): Agent {
  const loop = createLoop(options);
  const { emitter, runner } = loop;
  const closing = new AbortController();
  let working: Promise<unknown> = Promise.resolve();

  /** Ensures that an aborted or failed turn ends without open parts, and with an interrupt or an error that explains why. */
  const guarded = (given: AbortSignal, run: (signal: AbortSignal) => Promise<TurnOutcome>) => {
    const signal = AbortSignal.any([given, closing.signal]);
    const turn = async (): Promise<TurnOutcome> => {
      try {
        const outcome = signal.aborted ? "interrupted" : await run(signal);
        return signal.aborted ? interrupt(loop, signal) : outcome;
      } catch (error) {
        if (signal.aborted) return interrupt(loop, signal);
        return fail(loop, unknownFailure(titleOfError(error)));
      }
    };
    const outcome = turn();
    working = outcome;
    return outcome;
  };

  return {
    run: (_prompt, signal) => guarded(signal, (either) => work(loop, either)),
    resume: (signal) =>
      guarded(signal, async (either) => {
        const left = openCalls(context(loop));
        for (const call of left?.calls ?? []) emitter.adopt(call);
        if (left !== undefined) await runner.run(left.calls, left, either);
        return either.aborted ? "interrupted" : work(loop, either);
      }),
    compact: (signal) =>
      guarded(signal, async (either) => {
        const failure = await compactContext(loop, either, "");
        if (failure === undefined || either.aborted) return "completed";
        return fail(loop, { class: "unknown", can_retry: false, ...failure });
      }),
    setModel(next) {
      if (next === loop.model) return;
      const data = { from: loop.model, to: next };
      emitter.say({
        type: "marker",
        part_id: randomUUID(),
        kind: "model_switch",
        ...titleFields(agentTitle("model_is", { model: next })),
        data,
      });
      loop.model = next;
    },
    async close() {
      closing.abort("The session was closed");
      await working;
    },
  };
}

function createLoop(options: LoopOptions): Loop {
  const { host, provider, tools, contextLimit, step_limit = STEP_LIMIT } = options;
  const emitter = createTurnEmitter(host);
  // Sorted so that requests have a stable prefix, which providers cache.
  const definitions = tools
    .map(({ definition }) => definition)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const { rules = [] } = options;
  rules.push(...rulesAddedIn(host.history(), tools, host));
  const runner = createCallRunner({
    host,
    emitter,
    tools,
    rules,
    stop_within_ms: options.stop_within_ms ?? STOP_WITHIN_MS - host.depth * STOP_SOONER_BY_DEPTH_MS,
  });
  return {
    host,
    provider,
    tools,
    ...(contextLimit === undefined ? {} : { contextLimit }),
    emitter,
    runner,
    definitions,
    step_limit,
    model: options.model,
    latest: undefined,
  };
}

/** Alternates between model calls and tool calls until the model yields. After an abort, the result is meaningless. */
async function work(loop: Loop, signal: AbortSignal): Promise<TurnOutcome> {
  let canCompact = true;
  for (let step = 1; step <= loop.step_limit; step += 1) {
    if (canCompact && isNearlyFull(loop)) canCompact = (await compactContext(loop, signal)) === undefined;
    await showInstructions(loop);
    if (signal.aborted) return "interrupted";
    const reply = await callModel(loop, signal);
    if (signal.aborted) return "interrupted";
    const { message } = reply;
    const failure = failureOf(reply);
    if (failure !== undefined || message === undefined) return fail(loop, failure, message);
    emitUsage(loop, reply);
    const calls = callsOf(message);
    await loop.runner.run(calls, { executable: new Set(reply.executable_calls), message }, signal);
    if (signal.aborted) return "interrupted";
    const shouldContinue = calls.length > 0 || message.stop_reason_raw === "pause_turn";
    if (!shouldContinue && loop.host.takeSteering().length === 0) {
      if (message.stop_reason === "length") {
        const title = titleFields(agentTitle("output_limit_reached"));
        loop.emitter.say({ type: "marker", part_id: randomUUID(), kind: "note", ...title });
      }
      return "completed";
    }
  }
  return fail(loop, {
    ...unknownFailure(agentTitle("step_limit_reached", { steps: loop.step_limit })),
    ...textFields("remedy", agentTitle("send_prompt_to_continue")),
  });
}

/** Calls the model until it answers, or until retrying would not help. */
async function callModel(loop: Loop, signal: AbortSignal): Promise<ModelReply> {
  const { host } = loop;
  const attempt = (): Promise<ModelReply> => {
    // Mark the prompts as taken: they are in the history and therefore in the context of this call.
    host.takeSteering();
    const call: ModelCall = {
      session_id: host.session_id,
      message_id: randomUUID(),
      model: loop.model,
      messages: context(loop),
      tools: loop.definitions,
      taken_call_ids: callIdsOf(host.history()),
    };
    return loop.provider.stream(call, { signal, emit: loop.emitter.emit, now: () => host.now() });
  };
  const persist = (): Promise<ModelReply> =>
    withRetries(
      attempt,
      failureOf,
      ({ reply, failure, retry_notice }) => {
        withdraw(loop, reply, failure);
        retryMarker(loop, retry_notice, failure);
      },
      signal,
    );
  const reply = await persist();
  if (signal.aborted || reply.failure?.class !== "context_overflow") return reply;
  const blocksPrompt = await compactContext(loop, signal);
  if (signal.aborted || blocksPrompt !== undefined) return reply;
  withdraw(loop, reply, reply.failure);
  await showInstructions(loop);
  return persist();
}

function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool_call");
}
