import type { Frame } from "../model/frames/frame.ts";
import type { AssistantMessage, Message, Usage } from "../model/messages/message.ts";

/** The languages that model providers speak over HTTP. */
export type Wire =
  | "anthropic-messages"
  | "chat-completions"
  | "openai-responses"
  | "gemini-generate-content"
  | "scripted";

/** A tool as it is offered to a model. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  input_schema: Readonly<Record<string, unknown>>;
}

/** One model call: what is asked, whoever is asked. */
export interface ModelCall {
  session_id: string;
  /** The id of the assistant message that this call makes. */
  message_id: string;
  /** The model's id as the provider is asked for it. */
  model: string;
  /** As stored; the wire's encoder normalises them for its model. The system prompt is the first message. */
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** Ids of the session's calls, those that are not sent any more among them: a new call gets none of these. */
  taken_call_ids?: ReadonlySet<string>;
  max_output_tokens?: number;
  /** How much the model should think; absent: the provider's default. */
  effort?: "none" | "low" | "medium" | "high";
}

/**
 * What kind of failure it is, whatever the provider calls it: what a person can do and whether it is tried again follow
 * from it.
 */
export type FailureClass =
  | "overloaded"
  | "rate_limit"
  | "quota"
  | "context_overflow"
  | "auth"
  | "invalid_request"
  | "not_found"
  | "model_output_invalid"
  /** Refused for what was asked or answered: safety, policy, a filter. */
  | "content_blocked"
  /** The provider's own trouble: 500, 502, 504. */
  | "server"
  | "network"
  | "timeout"
  | "truncated"
  | "unknown";

/** Why a model call failed. */
export interface Failure {
  class: FailureClass;
  /** What the provider (or the network) said; never a key. */
  message: string;
  /** What the person can do about it, one sentence. */
  remedy?: string;
  can_retry: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  retry_after_ms?: number;
  /** HTTP status, where there was one. */
  status?: number;
  /** The provider's name for the request, for its support. */
  request_id?: string;
  /** The error object as the provider sent it. */
  data?: unknown;
}

/**
 * Tokens as providers count them: `input_tokens` is the whole prompt, of which `cached_tokens` and `cache_write_tokens` are
 * parts; `output_tokens` contains `reasoning_tokens`.
 */
export interface ReportedUsage {
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** US dollars, where the provider says so. */
  cost?: number;
}

/** What came of a model call. */
export interface ModelReply {
  /**
   * The message with all parts so far, whatever happened: `stop_reason` is `error` after a failure and `aborted` after an
   * abort. Absent: nothing came at all, not even the start of a message, and nothing was emitted.
   */
  message?: AssistantMessage;
  /** Present when the call failed; absent after an abort. */
  failure?: Failure;
  /** Calls of the message that may be executed (closed, terminal event seen, valid JSON object). */
  executable_calls: readonly string[];
  /** Tokens as the provider counts them; `message.usage` is the same in the model's form. */
  usage?: ReportedUsage;
  /** How full the model's context is after this call, in tokens: not the sum over a provider's own rounds. */
  context_tokens?: number;
}

/** Who listens to a model call, and can abort it. */
export interface StreamOptions {
  signal: AbortSignal;
  /**
   * Takes the frames of the call as they happen: `message.start` with the first sign of a message, parts, tool calls,
   * `message.record`, then `message.end` (with `stop_reason: "error"` and `error` after a failure). After an abort
   * `message.record` is the last frame and there is no `message.end`: whoever aborted says why with an `interrupt`.
   */
  emit(frame: Frame): void;
  now?(): number;
}

/** A model provider, ready to be called. */
export interface Provider {
  readonly id: string;
  /** What a person calls it. */
  readonly title: string;
  /** One model call, tried once. Never throws and never rejects: a failure is in the reply. */
  stream(call: ModelCall, options: StreamOptions): Promise<ModelReply>;
}

/** Ids and clock that a decoder makes its frames with. */
export interface DecoderContext {
  session_id: string;
  message_id: string;
  provider: string;
  wire: Wire;
  /** The model's id as it was requested. */
  model: string;
  /** Where the answer comes from: servers of one wire have their own ways. Absent: not known, as with a recording. */
  base_url?: string;
  /** The tools that were offered: models write their names in other ways. Absent: names stay as they come. */
  tool_names?: readonly string[];
  /** Ids that calls of the session have. Absent: none. */
  taken_call_ids?: ReadonlySet<string>;
  /** What is asked ends in results of tools: a model that has nothing to add to these may end its turn without a word. */
  answers_results?: boolean;
  /** What the tokens of a call cost in US dollars; `undefined`: nobody knows. Absent: no price is known. */
  costOf?(usage: Usage): number | undefined;
  now(): number;
}

/** How a stream ended: by itself, by us, or because the connection failed. */
export type StreamEnd = { type: "end" } | { type: "abort" } | { type: "failure"; failure: Failure };

/**
 * Turns one response into frames and exactly one assistant message: a state machine without I/O, the same for a live
 * connection, a recording and a test.
 */
export interface Decoder {
  /** One server-sent event (`data` as it came). Never throws: what cannot be read ends the message with an error. */
  push(data: string, event?: string): Frame[];
  /** `ended`: the terminal event was seen, usage may follow. `broken`: nothing that follows is read. */
  readonly phase: "open" | "ended" | "broken";
  /** No event follows. Called once. */
  end(how: StreamEnd): { frames: Frame[]; reply: ModelReply };
}

/** Where and how to call a provider. */
export interface Endpoint {
  /** Without a trailing slash; may have a path. */
  base_url: string;
  api_key?: string;
}

/** A request as it is sent, by POST; its headers hold the key. */
export interface EncodedRequest {
  url: string;
  headers: Record<string, string>;
  /** JSON: equal calls give equal bytes, and appending a message does not change the bytes before it. */
  body: string;
}

/** One wire: both halves of it. */
export interface ApiProtocol {
  readonly wire: Exclude<Wire, "scripted">;
  encode(call: ModelCall, provider: string, endpoint: Endpoint): EncodedRequest;
  createDecoder(context: DecoderContext): Decoder;
}
