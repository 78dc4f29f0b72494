import { randomUUID } from "node:crypto";
import type { Agent, AgentHost, Prompt, TurnOutcome } from "../../../src/agent/agent.ts";
import type { Frame } from "../../../src/model/frames/frame.ts";
import type { MediaPart } from "../../../src/model/messages/part.ts";
import type { Transcript } from "../../../src/model/transcript/transcript-state.ts";
import type { AgentKind, Agents } from "../../../src/server/managed/agents.ts";

/** The behaviour of a scripted agent in one turn. */
export type Play = (stage: Stage, prompt: Prompt, signal: AbortSignal) => Promise<TurnOutcome>;

/** The actions of a scripted agent. */
export interface Stage {
  readonly host: AgentHost;
  /** Emits a model call with this text in deltas of a few characters. If `ends` is false, the call never ends. */
  say(text: string, signal?: AbortSignal, ends?: boolean): Promise<void>;
  /** Emits a model call with this tool call. `result` emits the result. */
  call(tool_call_id: string, tool_name: string, input?: unknown): void;
  result(tool_call_id: string, output_text: string, parts?: MediaPart[]): void;
  interrupt(): void;
}

function createStage(host: AgentHost): Stage {
  const { session_id } = host;
  const emit = (frame: DistributiveOmit<Frame, "session_id" | "at">) =>
    // Adds the two fields that the caller omitted to each member of the union.
    host.emit({ session_id, at: host.now(), ...frame } as Frame);
  const start = () => {
    const message_id = randomUUID();
    emit({ type: "message.start", message_id, model: "player" });
    return message_id;
  };
  return {
    host,
    async say(text, signal, ends = true) {
      const message_id = start();
      const part_id = randomUUID();
      emit({ type: "message.part_start", part_id, kind: "text" });
      for (let at = 0; at < text.length; at += 5) {
        if (signal?.aborted) return emit({ type: "interrupt", reason: "Stopped" });
        emit({ type: "message.delta", kind: "text", part_id, text: text.slice(at, at + 5), offset: at });
        if (at % 50 === 0) await host.stored();
      }
      if (!ends) return;
      emit({ type: "message.part_end", part_id });
      emit({ type: "message.end", message_id, stop_reason: "stop", usage: { input: 10, output: 5 } });
    },
    call(tool_call_id, tool_name, input = {}) {
      const message_id = start();
      emit({ type: "message.tool_call_start", tool_call_id, tool_name });
      emit({ type: "message.tool_call", tool_call_id, tool_name, arguments_json: JSON.stringify(input) });
      emit({ type: "message.end", message_id, stop_reason: "tool_use" });
    },
    result(tool_call_id, output_text, parts = []) {
      emit({
        type: "message.tool_result",
        tool_call_id,
        is_error: false,
        status: "success",
        output_text,
        parts,
      });
    },
    interrupt: () => emit({ type: "interrupt", reason: "Stopped" }),
  };
}

type DistributiveOmit<Type, Key extends PropertyKey> = Type extends unknown ? Omit<Type, Key> : never;

export interface PlayedOptions {
  resume?: Play;
  compact?: Play;
  from_history?: boolean;
  can_steer?: boolean;
  takes_images?: boolean;
}

/** A configuration with one agent, `player`, that runs this play. */
export function played(play: Play, options: PlayedOptions = {}): Agents {
  const { resume, compact } = options;
  const empty_prompt: Prompt = { message_id: randomUUID(), parts: [] };
  const kind: AgentKind = {
    entry: {
      id: "player",
      title: "Player",
      kind: "provider",
      models: [{ id: "player" }],
      any_model: true,
      takes_images: options.takes_images ?? true,
      scripted: true,
    },
    can_steer: options.can_steer ?? true,
    from_history: options.from_history ?? true,
    can_resume: resume !== undefined,
    can_compact: compact !== undefined,
    can_switch_model: true,
    create(_config, host): Agent {
      const stage = createStage(host);
      return {
        run: (prompt, signal) => play(stage, prompt, signal),
        ...(resume && { resume: (signal) => resume(stage, empty_prompt, signal) }),
        ...(compact && { compact: (signal) => compact(stage, empty_prompt, signal) }),
        setModel() {},
        async close() {},
      };
    },
  };
  return { list: () => [kind], find: (id) => (id === "player" ? kind : undefined) };
}

export const promptOf = (text: string, message_id: string = randomUUID()): Prompt => ({
  message_id,
  parts: [{ type: "text", text }],
});

/** The transcript as text, with one line for each part. */
export function words({ parts }: Transcript): string[] {
  return [...parts].flatMap((part) => {
    switch (part?.type) {
      case "prompt":
        return `${part.queued ? "steer" : "prompt"}: ${part.parts.map((one) => (one.type === "text" ? one.text : `[${one.type}]`)).join("")}`;
      case "text":
        return `text: ${part.text}`;
      case "thinking":
        return `thinking: ${part.thinking}`;
      case "tool_call":
        return `call: ${part.tool_name} ${part.state.status}`;
      case "tool_result":
        return `result: ${part.status} ${part.output_text}`.trim();
      case "marker":
        return `${part.kind}: ${part.title}`;
      case "request":
        return `${part.request.kind}: ${part.outcome ?? "open"}${part.answer ? ` ${part.answer.option_ids.join()}` : ""}`;
      default:
        return [];
    }
  });
}
