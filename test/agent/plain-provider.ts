import type { Frame } from "../../src/model/frames/frame.ts";
import type { AssistantMessage, StopReason, Usage } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { partId } from "../../src/model/uuid.ts";
import type {
  Failure,
  ModelCall,
  ModelReply,
  Provider,
  StreamOptions,
} from "../../src/providers/provider.ts";

/** The actions of a model in one call, in order. */
export type Act =
  | { thinking: string }
  | { text: string }
  | { call: string; name: string; arguments?: unknown; json?: string; unfinished?: boolean };

export interface Step {
  acts?: Act[];
  stop?: StopReason;
  stop_raw?: string;
  usage?: Usage;
  /** How the call fails after its acts; without acts no message begins. */
  failure?: Failure;
  /** Awaited before the message ends. */
  before_end?: (call: ModelCall, options: StreamOptions) => unknown;
}

export interface PlainProvider extends Provider {
  /** The requests, call by call. */
  readonly calls: ModelCall[];
}

/** A provider that plays a list, one step per call, in deltas of three characters. */
export function plainProvider(
  steps: readonly Step[] | ((call: ModelCall, index: number) => Step),
): PlainProvider {
  const calls: ModelCall[] = [];
  return {
    id: "plain",
    title: "Plain",
    calls,
    async stream(call, options) {
      const index = calls.push(call) - 1;
      const step = typeof steps === "function" ? steps(call, index) : steps[index];
      return play(step ?? { acts: [{ text: "Nothing more to say." }] }, call, options);
    },
  };
}

async function play(
  step: Step,
  call: ModelCall,
  { signal, emit, now = Date.now }: StreamOptions,
): Promise<ModelReply> {
  const { session_id, message_id, model } = call;
  const { acts = [], failure } = step;
  const parts: Part[] = [];
  const executable_calls: string[] = [];
  const say = async (frame: Frame): Promise<void> => {
    emit(frame);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const common = () => ({ session_id, at: now() });
  await new Promise((resolve) => setImmediate(resolve));
  if (signal.aborted) return { executable_calls };
  if (failure !== undefined && acts.length === 0) return { failure, executable_calls };
  await say({ ...common(), type: "message.start", message_id, model });
  for (const [index, act] of acts.entries()) {
    if (signal.aborted) break;
    const part_id = partId(message_id, index);
    const { at } = common();
    if ("call" in act) {
      const named = { part_id, message_id, tool_call_id: act.call, tool_name: act.name };
      const part = { type: "tool_call" as const, part_id, at, call_id: act.call, tool_name: act.name };
      await say({ ...common(), type: "message.tool_call_start", ...named });
      if (signal.aborted || act.unfinished) {
        parts.push({ ...part, arguments_json: "", unfinished: true });
        continue;
      }
      const arguments_json = act.json ?? JSON.stringify(act.arguments ?? {});
      parts.push({ ...part, arguments_json });
      await say({ ...common(), type: "message.tool_call", ...named, arguments_json });
      if (isObject(arguments_json)) executable_calls.push(act.call);
      continue;
    }
    const kind = "text" in act ? "text" : "thinking";
    const text = "text" in act ? act.text : act.thinking;
    await say({ ...common(), type: "message.part_start", part_id, kind, message_id });
    let told = "";
    while (told.length < text.length && !signal.aborted) {
      const delta = text.slice(told.length, told.length + 3);
      await say({ ...common(), type: "message.delta", kind, text: delta, part_id, offset: told.length });
      told += delta;
    }
    parts.push({ part_id, at, type: kind === "text" ? "text" : "thinking_text", text: told });
    if (!signal.aborted) await say({ ...common(), type: "message.part_end", part_id, text });
  }
  if (!signal.aborted) await step.before_end?.(call, { signal, emit });
  const called = acts.some((act) => "call" in act);
  const ended = step.stop ?? (called ? "tool_use" : "stop");
  const stop_reason = signal.aborted ? "aborted" : failure === undefined ? ended : "error";
  const ending = {
    stop_reason,
    ...(step.stop_raw === undefined ? {} : { stop_reason_raw: step.stop_raw }),
    ...(failure === undefined || signal.aborted ? {} : { error: failure.message }),
    ...(step.usage === undefined ? {} : { usage: step.usage }),
  } as const;
  const message: AssistantMessage = {
    role: "assistant",
    id: message_id,
    created_at: new Date(now()).toISOString(),
    model,
    provider: "plain",
    api: "scripted",
    model_id: model,
    parts,
    ...ending,
  };
  emit({ ...common(), type: "message.record", message });
  if (signal.aborted) return { message, executable_calls: [] };
  await say({ ...common(), type: "message.end", message_id, ...ending });
  const mayRun = stop_reason === "tool_use" || stop_reason === "stop";
  return {
    message,
    executable_calls: mayRun ? executable_calls : [],
    ...(failure === undefined ? {} : { failure }),
  };
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

export function failure(kind: Failure["class"], given: Partial<Failure> = {}): Failure {
  return { class: kind, message: `It is ${kind}`, can_retry: false, ...given };
}
