import type { MediaPart } from "../model/messages/part.ts";
import type { UiExtra } from "../model/parts/ui-extra.ts";
import type { ToolDefinition } from "../providers/provider.ts";
import type { AgentHost } from "./agent.ts";

/** The result of a tool. */
export interface ToolOutput {
  /** Absent: `success`. */
  status?: "success" | "error";
  /** The text for the model, truncated if necessary, with the path of the complete output. */
  output_text: string;
  parts?: MediaPart[];
  ui_extra?: UiExtra;
}

/** What a running call has besides its arguments. */
export interface ToolContext {
  host: AgentHost;
  /** The message of the call. */
  message_id: string;
  call_id: string;
  /** Aborted by the user or by the tool's time limit. */
  signal: AbortSignal;
  /** Shows live output. It is not stored, because the result contains all of it. */
  progress(text: string): void;
}

/** Invalid arguments. The message is for the model, so that it can try again. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}

/** A call with parsed arguments, ready to run. */
export interface PreparedCall {
  /** Exactly what is run, as shown to the user for approval. */
  subject: string;
  /** What rule patterns are matched against: a command, a path, or a URL. */
  target: string;
  /** Runs `subject`. Rejects only because of a bug: a failure is an output with `status: "error"`. */
  run(context: ToolContext): Promise<ToolOutput>;
}

/** A tool of the agent loop. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Whether its calls can run in parallel. Others run one after the other, in the model's order. */
  readonly parallel: boolean;
  /** The decision without a rule. `ask` for everything that changes something or leaves the machine. */
  readonly default_decision: "allow" | "ask";
  /** In milliseconds; 0: none (waits for the user or a run). */
  readonly time_limit_ms: number;
  /** Throws `ToolInputError`. */
  prepare(input: Readonly<Record<string, unknown>>, host: AgentHost): PreparedCall;
}
