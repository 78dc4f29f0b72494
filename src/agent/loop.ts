import { randomUUID } from "node:crypto";
import type { AssistantMessage, Message } from "../model/messages/message.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { messageOf } from "../model/narrow.ts";
import { tokensOf } from "../model/tokens.ts";
import { ERROR } from "../model/transcript/fold/fold.ts";
import { partId } from "../model/uuid.ts";
import type { Failure, ModelCall, ModelReply, Provider } from "../providers/provider.ts";
import type { Agent, AgentHost, TurnOutcome } from "./agent.ts";
import { rulesAddedIn } from "./approval.ts";
import { createCallRunner } from "./calls.ts";
import { promptsInWords, summarise } from "./compaction.ts";
import { callIdsOf, contextOf, contextTokens } from "./context.ts";
import { openCalls } from "./open-calls.ts";
import type { PermissionRule } from "./permissions.ts";
import { failureOf, withRetries } from "./retry.ts";
import { readInstructions, systemPrompt } from "./system-prompt.ts";
import type { Tool } from "./tool.ts";
import { createTurnEmitter } from "./turn-emitter.ts";

/** Above this share of the model's context, the conversation is summarised before the next call. */
const FULL = 0.85;
const STEP_LIMIT = 200;
/** Longer than the time after which a process group is killed. A run has less, so that its parent sees it end. */
const STOP_WITHIN_MS = 20_000;
const STOP_SOONER_BY_DEPTH_MS = 1_500;

export interface LoopOptions {
  host: AgentHost;
  provider: Provider;
  /** The model's id for the provider. */
  model: string;
  tools: readonly Tool[];
  /** The session's own list, which contains the configured rules. Rules that the user adds in the session are appended. */
  rules?: PermissionRule[];
  /** The size of a model's context in tokens; `undefined`: unknown. */
  contextLimit?: (model: string) => number | undefined;
  /** Maximum number of model calls per turn. */
  step_limit?: number;
  /** Time for a stopped tool to end, in milliseconds. */
  stop_within_ms?: number;
}

/** Verbatim's own agent: calls the model and runs the tools that it calls, until it yields. */
export function createLoopAgent(options: LoopOptions): Agent {
  const { host, provider, tools, step_limit = STEP_LIMIT } = options;
  const emitter = createTurnEmitter(host);
  // Sorted, because providers cache what does not change.
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
  let { model } = options;
  const closing = new AbortController();
  let working: Promise<unknown> = Promise.resolve();
  let latest: { length: number; messages: readonly Message[] } | undefined;

  // --- Turn ---------------------------------------------------------------------------------------------------------------

  /** Alternates model calls and tool calls until the model yields. After an abort the result is meaningless. */
  const work = async (signal: AbortSignal): Promise<TurnOutcome> => {
    let canCompact = true;
    for (let step = 1; step <= step_limit; step += 1) {
      if (canCompact && isNearlyFull()) canCompact = (await compactContext(signal)) === undefined;
      await showInstructions();
      if (signal.aborted) return "interrupted";
      const reply = await callModel(signal);
      if (signal.aborted) return "interrupted";
      const { message } = reply;
      const failure = failureOf(reply);
      if (failure !== undefined || message === undefined) return fail(failure, message);
      emitUsage(reply);
      const calls = callsOf(message);
      await runner.run(calls, { executable: new Set(reply.executable_calls), message }, signal);
      if (signal.aborted) return "interrupted";
      const shouldContinue = calls.length > 0 || message.stop_reason_raw === "pause_turn";
      if (!shouldContinue && host.takeSteering().length === 0) {
        if (message.stop_reason === "length") {
          const title = "The model stopped at its output limit";
          emitter.say({ type: "marker", part_id: randomUUID(), kind: "note", title });
        }
        return "completed";
      }
    }
    return fail({
      class: "unknown",
      message: `The turn reached its limit of ${step_limit} steps`,
      remedy: "Send a prompt to continue.",
      can_retry: false,
    });
  };

  /** Calls the model until it answers, or until retrying would not help. */
  const callModel = async (signal: AbortSignal): Promise<ModelReply> => {
    const attempt = (): Promise<ModelReply> => {
      // These prompts are in the history and therefore in the context of this call.
      host.takeSteering();
      const call: ModelCall = {
        session_id: host.session_id,
        message_id: randomUUID(),
        model,
        messages: context(),
        tools: definitions,
        taken_call_ids: callIdsOf(host.history()),
      };
      return provider.stream(call, { signal, emit: emitter.emit, now: () => host.now() });
    };
    const persist = (): Promise<ModelReply> =>
      withRetries(
        attempt,
        failureOf,
        ({ reply, failure, retry_notice }) => {
          withdraw(reply, failure);
          retryMarker(retry_notice, failure);
        },
        signal,
      );
    const reply = await persist();
    if (signal.aborted || reply.failure?.class !== "context_overflow") return reply;
    const blocksPrompt = await compactContext(signal);
    if (signal.aborted || blocksPrompt !== undefined) return reply;
    withdraw(reply, reply.failure);
    await showInstructions();
    return persist();
  };

  // --- Context and markers ------------------------------------------------------------------------------------------------

  /** The cached context is valid as long as the history has the same length, since it is append-only. */
  const context = (): readonly Message[] => {
    const history = host.history();
    if (latest?.length !== history.length) {
      latest = { length: history.length, messages: contextOf(history, system()) };
    }
    return latest.messages;
  };
  const system = () => {
    const first = host.history().find((event) => "role" in event);
    const began_at = Date.parse(first?.created_at ?? "");
    return systemPrompt({
      session_id: host.session_id,
      cwd: host.cwd,
      platform: process.platform,
      began_at: Number.isNaN(began_at) ? host.now() : began_at,
      tools,
    });
  };

  /** Adds the folder's instruction files, if the context does not have their current content. */
  const showInstructions = async (): Promise<void> => {
    const files = await readInstructions(host.cwd);
    if (files.length === 0) return;
    const known = new Set(
      context().flatMap((message) =>
        message.role === "developer"
          ? message.parts.map((part) => (part.type === "text" ? part.text : ""))
          : [],
      ),
    );
    for (const { title, text } of files) {
      if (known.has(text)) continue;
      emitter.say({
        type: "developer.message",
        message_id: randomUUID(),
        title,
        parts: [{ type: "text", text }],
      });
    }
  };

  const emitUsage = ({ message, context_tokens }: ModelReply): void => {
    const tokens = context_tokens ?? (message?.usage === undefined ? undefined : tokensOf(message.usage));
    if (tokens !== undefined) emitContext(tokens);
  };
  const emitContext = (tokens: number): void => {
    const limit = options.contextLimit?.(model);
    emitter.say({ type: "context.usage", tokens, ...(limit === undefined ? {} : { limit }) });
  };

  /** Retracts the output of a failed attempt: its calls did not run, and the next attempt starts again. */
  const withdraw = ({ message }: ModelReply, failure: Failure): void => {
    endOpenCalls({
      status: "error",
      output_text: "Not run: the model's answer failed before it was complete.",
    });
    if (message === undefined) return;
    emitter.say({ type: "message.retract", message_id: message.id, reason: failure.message });
  };

  const retryMarker = (title: string, failure?: Failure): void => {
    const notified = failure === undefined ? {} : { text: failure.message, data: detailsOf(failure) };
    emitter.say({ type: "marker", part_id: randomUUID(), kind: "retry", title, ...notified });
  };

  /** Ends a failed turn: its message keeps its parts, and the user is told what to do. */
  const fail = (failure: Failure | undefined, message?: AssistantMessage): TurnOutcome => {
    endOpenCalls({ status: "error", output_text: "Not run: the turn failed." });
    const notified = failure ?? { class: "unknown", message: "The turn failed", can_retry: false };
    emitter.say({
      type: "error",
      // If the end of the message has reported the error already, both share one marker.
      part_id: message === undefined ? randomUUID() : partId(message.id, ERROR),
      message: notified.message,
      can_retry: notified.can_retry,
      data: detailsOf(notified),
    });
    return "failed";
  };

  const endOpenCalls = (end: { status: "error" | "aborted"; output_text: string }): void => {
    for (const call of emitter.openCalls()) emitter.endCall(call, end);
  };

  /** Ends a turn that a person stopped. */
  const interrupt = (signal: AbortSignal): TurnOutcome => {
    const reason = typeof signal.reason === "string" ? { reason: signal.reason } : {};
    emitter.say({ type: "interrupt", part_id: randomUUID(), ...reason });
    for (const call of emitter.openCalls()) {
      const { status: _, ...output } = runner.stopped(call.call_id) ?? { output_text: "Not run" };
      const output_text = `${output.output_text}\nInterrupted`.trimStart();
      emitter.endCall(call, { ...output, status: "aborted", output_text });
    }
    return "interrupted";
  };

  // --- Compaction ---------------------------------------------------------------------------------------------------------

  const isNearlyFull = (): boolean => {
    const limit = options.contextLimit?.(model);
    if (limit === undefined) return false;
    const messages = context();
    return isWorthSummarising(messages) && contextTokens(messages) > limit * FULL;
  };

  /** Compacts the context. Resolves with the failure, if any. `words`: text that is appended unchanged. */
  const compactContext = async (signal: AbortSignal, words = promptsInWords(host.history())) => {
    const messages = context();
    const last = messages.at(-1);
    const limit = options.contextLimit?.(model);
    if (!isWorthSummarising(messages) || last === undefined)
      return { message: "There is nothing to summarise" };
    const tokens_before = contextTokens(messages);
    const part_id = randomUUID();
    const mark = (title: string, rest: { text?: string; data?: unknown } = {}): void =>
      emitter.say({ type: "marker", part_id, kind: "compaction", title, ...rest });
    mark("Summarising the conversation to free context space");
    const summary = await summarise({
      provider,
      model,
      host,
      messages,
      signal,
      onFailedTry: (retry_notice) => retryMarker(retry_notice),
      ...(limit === undefined ? {} : { limit }),
    });
    if (signal.aborted) {
      mark("The summary was stopped");
      return { message: "Stopped" };
    }
    if ("failure" in summary) {
      mark("The conversation could not be summarised", { data: { message: summary.failure.message } });
      return summary.failure;
    }
    const asked = words === "" ? "" : `\n\nThe user's last prompt, word for word:\n\n${words}`;
    const { usage } = summary;
    const text = summary.text + asked;
    const data = {
      tokens_before,
      last_message_id: last.id,
      model,
      ...(usage === undefined ? {} : { usage }),
    };
    mark("Conversation summarised to free context space", { text, data });
    emitContext(contextTokens(context()));
    return undefined;
  };

  // --- Agent --------------------------------------------------------------------------------------------------------------

  /** Makes sure that the turn ends properly, with nothing open, and with an interrupt or an error that explains why. */
  const guarded = (given: AbortSignal, run: (signal: AbortSignal) => Promise<TurnOutcome>) => {
    const signal = AbortSignal.any([given, closing.signal]);
    const turn = async (): Promise<TurnOutcome> => {
      try {
        const outcome = signal.aborted ? "interrupted" : await run(signal);
        return signal.aborted ? interrupt(signal) : outcome;
      } catch (error) {
        if (signal.aborted) return interrupt(signal);
        return fail({ class: "unknown", message: messageOf(error), can_retry: false });
      }
    };
    const outcome = turn();
    working = outcome;
    return outcome;
  };

  return {
    run: (_prompt, signal) => guarded(signal, work),
    resume: (signal) =>
      guarded(signal, async (either) => {
        const left = openCalls(context());
        for (const call of left?.calls ?? []) emitter.adopt(call);
        if (left !== undefined) await runner.run(left.calls, left, either);
        return either.aborted ? "interrupted" : work(either);
      }),
    compact: (signal) =>
      guarded(signal, async (either) => {
        const failure = await compactContext(either, "");
        if (failure === undefined || either.aborted) return "completed";
        return fail({ class: "unknown", can_retry: false, ...failure });
      }),
    setModel(next) {
      if (next === model) return;
      const data = { from: model, to: next };
      emitter.say({
        type: "marker",
        part_id: randomUUID(),
        kind: "model_switch",
        title: `Model: ${next}`,
        data,
      });
      model = next;
    },
    async close() {
      closing.abort("The session was closed");
      await working;
    },
  };
}

function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool_call");
}

/** Whether a summary would be shorter: not for a single prompt or an existing summary. */
function isWorthSummarising(messages: readonly Message[]): boolean {
  return messages.some(({ role }) => role === "assistant");
}

/** The details that are shown on demand with a failure. */
function detailsOf({ class: kind, remedy, status, request_id }: Failure): Record<string, unknown> {
  return {
    class: kind,
    ...(remedy === undefined ? {} : { remedy }),
    ...(status === undefined ? {} : { status }),
    ...(request_id === undefined ? {} : { request_id }),
  };
}
