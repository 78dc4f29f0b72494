import { causeOf, messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { describe } from "../failures.ts";
import { createMessageWriter, type MessageWriter } from "../message-writer.ts";
import type { Failure, FailureClass, ModelCall, ModelReply, Provider, StreamOptions } from "../provider.ts";
import { stopWith } from "../stream-decoder.ts";
import { placeInScript, type ScriptPlace } from "./place.ts";
import { parseScript, type Script, ScriptError, type ScriptPart, type ScriptStep } from "./script.ts";
import { scripts as shipped } from "./scripts/index.ts";

interface ScriptedOptions {
  /** Additional scripts, which override built-in ones with the same name. */
  scripts?: Readonly<Record<string, Script>>;
  /** Reads the file of a model id such as `file:/home/me/script.json`. Absent: such models are not supported. */
  readFile?(path: string): Promise<string>;
  /** Overrides the speed of all scripts; 0: as fast as possible. */
  tokens_per_second?: number;
}

const DEFAULT_RATE = 60;
/** Number of tokens after which the provider yields to other work at maximum speed. */
const BURST = 64;

/** Creates a provider that plays scripts and needs neither model, network nor key. The session's model is the script's name. */
export function createScriptedProvider(
  options: ScriptedOptions = {},
): Provider & { load(name: string): Promise<Script> } {
  const own = new Map(Object.entries(options.scripts ?? {}));
  /** Number of failed attempts by session and position, because the history does not contain attempts without output. */
  const failures = new Map<string, number>();

  const load = async (name: string): Promise<Script> => {
    const known = own.get(name) ?? shipped.get(name);
    if (known !== undefined) return known;
    const path = name.startsWith("file:") ? name.slice("file:".length) : undefined;
    if (path === undefined || options.readFile === undefined) {
      const names = [...shipped.keys(), ...own.keys()].join(", ");
      throw new ScriptError(daemonText("script_unknown", { script: name, known: names }));
    }
    let text: string;
    try {
      text = await options.readFile(path);
    } catch (error) {
      throw new ScriptError(daemonText("script_unreadable", { path, error: causeOf(error) }));
    }
    return parseScript(path, text);
  };

  return {
    id: "scripted",
    title: "Script (no model)",
    /** Rejects with the reason if the script cannot be played. */
    load,
    async stream(call, stream) {
      const place = placeInScript(call.messages, call.model);
      let script: Script;
      try {
        script = await load(place.name);
      } catch (error) {
        const message = messageOf(error);
        const failure: Failure = { class: "not_found", message, can_retry: false };
        return { failure, executable_calls: [] };
      }
      if (stream.signal.aborted) return { executable_calls: [] };
      return await play({
        script,
        call,
        place,
        stream,
        tokens_per_second: options.tokens_per_second ?? script.tokens_per_second ?? DEFAULT_RATE,
        shouldFail(part, times) {
          const key = `${call.session_id} ${place.name} ${place.turn} ${place.step} ${part}`;
          const before = Math.max(failures.get(key) ?? 0, place.failed);
          if (before >= times) return false;
          failures.set(key, before + 1);
          return true;
        },
      });
    },
  };
}

interface Performance {
  script: Script;
  call: ModelCall;
  place: ScriptPlace;
  stream: StreamOptions;
  tokens_per_second: number;
  /** Whether the fault at this part should happen in this attempt. `times`: the number of attempts in which it happens. */
  shouldFail(part: number, times: number): boolean;
}

/** The step that is played when a script has no further steps. */
const OVER: ScriptStep = { parts: [{ text: "The script has ended." }] };

async function play({ script, call, place, stream, tokens_per_second, shouldFail }: Performance) {
  const { signal, emit, now = Date.now } = stream;
  const turns = script.turns ?? [{ steps: script.steps ?? [] }];
  const turn = turns[Math.min(place.turn, turns.length - 1)];
  const step = turn?.steps[place.step] ?? OVER;
  const writer = createMessageWriter({
    session_id: call.session_id,
    message_id: call.message_id,
    provider: "scripted",
    wire: "scripted",
    model: call.model,
    now,
  });
  const counted = { output: 0, reasoning: 0 };
  const send = (): void => {
    for (const frame of writer.take()) emit(frame);
  };
  const tick = createPacer(tokens_per_second, signal);
  const begin = (): void => writer.begin({ model: call.model });

  const streamPart = async (part: ScriptPart): Promise<void> => {
    const thinking = part.thinking !== undefined;
    const text = part.thinking ?? part.text ?? "";
    begin();
    const growing = thinking ? writer.thought(writer.place()) : writer.text(writer.place());
    const rounds = part.repeat === "endless" ? Number.POSITIVE_INFINITY : (part.repeat ?? 1);
    for (let round = 0; round < rounds && text !== ""; round += 1) {
      for (const token of tokensOf(text)) {
        if (!(await tick())) return;
        growing.append(token);
        counted.output += 1;
        if (thinking) counted.reasoning += 1;
        send();
      }
    }
    growing.end();
    send();
  };
  const request = async (wanted: NonNullable<ScriptPart["tool_call"]>): Promise<void> => {
    const { name, unfinished = false } = wanted;
    const arguments_json = wanted.arguments_json ?? JSON.stringify(wanted.arguments ?? {});
    begin();
    const growing = writer.call(writer.place(), { tool_name: name });
    send();
    for (const token of tokensOf(arguments_json)) {
      if (!(await tick())) return;
      growing.append(token);
      counted.output += 1;
    }
    if (!unfinished) growing.close();
    send();
  };

  /** Plays the parts in order. Returns the fault that ended the step, if any. */
  const perform = async (): Promise<Failure | undefined> => {
    for (const [position, part] of step.parts.entries()) {
      if (signal.aborted) return undefined;
      if (part.thinking !== undefined || part.text !== undefined) await streamPart(part);
      else if (part.tool_call !== undefined) await request(part.tool_call);
      else if (part.pause_ms !== undefined) await pause(part.pause_ms, signal);
      else if (part.fail !== undefined && shouldFail(position, part.fail.times ?? 1)) {
        await pause(part.fail.after_ms ?? 0, signal);
        return failureOf(part.fail);
      }
    }
    return undefined;
  };

  const failure = await perform();
  const finish = (ending: Parameters<MessageWriter["end"]>[0]): ModelReply => {
    const { frames, reply } = writer.end(ending);
    for (const frame of frames) emit(frame);
    return reply;
  };
  if (signal.aborted) return finish({ stop_reason: "aborted" });
  if (failure !== undefined) return finish({ stop_reason: "error", failure });
  begin();
  const usage = step.usage;
  const input = usage?.input ?? sizeOf(call);
  const { cache_read = 0, cache_write = 0, cost } = usage ?? {};
  writer.usage({
    input_tokens: input + cache_read + cache_write,
    cached_tokens: cache_read,
    cache_write_tokens: cache_write,
    output_tokens: usage?.output ?? counted.output,
    reasoning_tokens: usage === undefined ? counted.reasoning : (usage.reasoning ?? 0),
    ...(cost === undefined ? {} : { cost }),
  });
  const stop_reason = step.stop_reason ?? stopWith(writer.calls);
  return finish({ stop_reason, stop_reason_raw: "script" });
}

/** Splits a text into tokens of about the same size as a model's, without splitting surrogate pairs. */
function tokensOf(text: string): string[] {
  return text.match(/\s?[\p{L}\p{M}]{1,6}|\s?\p{N}{1,3}|\s?[^\s\p{L}\p{M}\p{N}]\p{M}*|\s+/gu) ?? [];
}

/** Estimated number of tokens in a call, at four characters per token. */
function sizeOf({ messages, tools }: ModelCall): number {
  return Math.ceil((JSON.stringify(messages).length + JSON.stringify(tools).length) / 4);
}

const RETRYABLE = new Set<FailureClass>([
  "overloaded",
  "rate_limit",
  "server",
  "network",
  "timeout",
  "truncated",
  "model_output_invalid",
]);

function failureOf(fault: NonNullable<ScriptPart["fail"]>): Failure {
  const { class: kind, message, status, retry_after_ms } = fault;
  return describe({
    class: kind,
    message,
    can_retry: RETRYABLE.has(kind),
    ...(status === undefined ? {} : { status }),
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  });
}

/**
 * Creates a function that waits until the next token is due. It resolves with `false` if it was aborted. It does not wait if it
 * is late because of the timer's resolution, so that the average rate is correct.
 */
function createPacer(tokens_per_second: number, signal: AbortSignal): () => Promise<boolean> {
  const began = performance.now();
  let count = 0;
  return async () => {
    if (signal.aborted) return false;
    count += 1;
    if (tokens_per_second === 0) {
      if (count % BURST === 0) await new Promise((resolve) => setImmediate(resolve));
    } else {
      const due = began + (count * 1000) / tokens_per_second;
      const early = due - performance.now();
      if (early > 1) await pause(early, signal);
    }
    return !signal.aborted;
  };
}

/** Waits for `milliseconds`, or until the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    // A timer with a longer delay would fire immediately.
    const timer = setTimeout(stop, Math.min(milliseconds, 2 ** 31 - 1));
    signal.addEventListener("abort", stop, { once: true });
  });
}
