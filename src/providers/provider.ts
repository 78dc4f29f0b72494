import type { Frame } from "../model/frames/frame.ts";
import type { AssistantMessage, Message, Usage } from "../model/messages/message.ts";
import type { TextCode } from "../model/text/coded-text.ts";

/** The API protocols of model providers over HTTP. */
export type ApiProtocolName =
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

/** One model call, for any provider. */
export interface ModelCall {
  session_id: string;
  /** The id of the assistant message that this call creates. */
  message_id: string;
  /** The requested model id. */
  model: string;
  /** The messages as stored, which the encoder normalizes for its model. The first message is the system prompt. */
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** Ids of all calls of the session, including those that are no longer sent. New calls get other ids. */
  taken_call_ids?: ReadonlySet<string>;
  max_output_tokens?: number;
  /** Reasoning effort. Absent: the provider's default. */
  effort?: "none" | "low" | "medium" | "high";
}

/** The kind of a failure, independent of the provider's name for it. It determines the remedy and whether the call is retried. */
export type FailureClass =
  | "overloaded"
  | "rate_limit"
  | "quota"
  | "context_overflow"
  | "auth"
  | "invalid_request"
  | "not_found"
  | "model_output_invalid"
  /** Blocked because of the prompt or the answer: safety, policy, a filter. */
  | "content_blocked"
  /** A server error: 500, 502, 504. */
  | "server"
  | "network"
  | "timeout"
  | "truncated"
  | "unknown";

/** Why a model call failed. */
export interface Failure {
  class: FailureClass;
  /** The message of the provider or the network. Never contains a key. */
  message: string;
  /** If Verbatim wrote the message. */
  title_code?: TextCode;
  /** What the user can do. */
  remedy?: string;
  remedy_code?: TextCode;
  can_retry: boolean;
  /** The delay requested by the provider, in milliseconds. */
  retry_after_ms?: number;
  /** HTTP status, if there was one. */
  status?: number;
  /** The provider's request id, for support requests. */
  request_id?: string;
  /** The error object as the provider sent it. */
  data?: unknown;
}

/**
 * Tokens as providers count them: `input_tokens` is the whole prompt, including `cached_tokens` and `cache_write_tokens`;
 * `output_tokens` includes `reasoning_tokens`.
 */
export interface ReportedUsage {
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  /** The part of `cache_write_tokens` with a lifetime of one hour. Absent: none, or not reported. */
  cache_write_1h_tokens?: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** US dollars, if the provider reports it. */
  cost?: number;
}

/** The result of a model call. */
export interface ModelReply {
  /**
   * The message with all parts that were received. `stop_reason` is `error` after a failure and `aborted` after an abort. Absent:
   * not even the start of a message was received, and nothing was emitted.
   */
  message?: AssistantMessage;
  /** Why the call failed. Absent if it succeeded or was aborted. */
  failure?: Failure;
  /** Ids of the calls that can be executed: closed, with a valid JSON object, and the final event of the message was received. */
  executable_calls: readonly string[];
  /** Tokens as the provider counts them. `message.usage` contains the same in Verbatim's form. */
  usage?: ReportedUsage;
  /** Size of the model's context after this call, in tokens, which is not the sum of a provider's internal rounds. */
  context_tokens?: number;
}

/** Receives the frames of a model call, and can abort it. */
export interface StreamOptions {
  signal: AbortSignal;
  /**
   * Called with the frames of the call as they are received: `message.start` first, then parts, tool calls, `message.record`, and
   * `message.end` (with `stop_reason: "error"` and `error` after a failure). After an abort `message.record` is the last frame,
   * without `message.end`: the caller emits an `interrupt` with the reason.
   */
  emit(frame: Frame): void;
  now?(): number;
}

/** A model provider. */
export interface Provider {
  readonly id: string;
  /** Display name. */
  readonly title: string;
  /** Makes one model call, without retries. Never throws or rejects: a failure is part of the reply. */
  stream(call: ModelCall, options: StreamOptions): Promise<ModelReply>;
}

/** Ids, clock and facts for a decoder. */
export interface DecoderContext {
  session_id: string;
  message_id: string;
  provider: string;
  wire: ApiProtocolName;
  /** The requested model id. */
  model: string;
  /** The URL of the server, which may determine its dialect. Absent: unknown, for example in a recording. */
  base_url?: string;
  /** The offered tools, to recognize variants of their names. Absent: names are kept. */
  tool_names?: readonly string[];
  /** Ids of the session's calls. Absent: there are none. */
  taken_call_ids?: ReadonlySet<string>;
  /** Whether the request ends with tool results, after which a model may end its turn without text. */
  answers_results?: boolean;
  /** The cost of a call in US dollars; `undefined`: unknown. Absent: no prices are known. */
  costOf?(usage: Usage): number | undefined;
  now(): number;
}

/** How a stream ended: normally, by an abort, or because the connection failed. */
export type StreamEnd = { type: "end" } | { type: "abort" } | { type: "failure"; failure: Failure };

/**
 * Decodes one response into frames and exactly one assistant message. A state machine without I/O, which is used for live
 * connections, recordings and tests.
 */
export interface Decoder {
  /** Reads one server-sent event (`data` as received). Never throws: invalid data ends the message with an error. */
  push(data: string, event?: string): Frame[];
  /** `ended`: the final event was received, and usage may follow. `broken`: the rest is ignored. */
  readonly phase: "open" | "ended" | "broken";
  /** Ends the input. Must be called once. */
  end(how: StreamEnd): { frames: Frame[]; reply: ModelReply };
}

/** The server and key for calls to a provider. */
export interface Endpoint {
  /** Without a trailing slash. May have a path. */
  base_url: string;
  api_key?: string;
}

/** A POST request. Its headers contain the key. */
export interface EncodedRequest {
  url: string;
  headers: Record<string, string>;
  /** JSON. Equal calls result in equal bytes, and appending a message does not change the bytes before it. */
  body: string;
}

/** An API protocol: its encoder and its decoder. */
export interface ApiProtocol {
  readonly wire: Exclude<ApiProtocolName, "scripted">;
  encode(call: ModelCall, provider: string, endpoint: Endpoint): EncodedRequest;
  createDecoder(context: DecoderContext): Decoder;
}
