import type { MediaPart } from "../model/messages/part.ts";
import type { UiExtra } from "../model/parts/ui-extra.ts";
import type { ToolDefinition } from "../providers/provider.ts";
import type { AgentHost } from "./agent.ts";

/** The result of a tool. */
export interface ToolOutput {
  /** Absent means `success`. */
  status?: "success" | "error";
  /** The text for the model. If it is truncated, it contains the path of the complete output. */
  output_text: string;
  parts?: MediaPart[];
  ui_extra?: UiExtra;
}

/** The context in which a call runs. */
export interface ToolContext {
  host: AgentHost;
  /** The id of the message that contains the call. */
  message_id: string;
  call_id: string;
  /** Aborted by the user or by the tool's time limit. */
  signal: AbortSignal;
  /** Shows live output, which is not stored because the result contains all of it. */
  progress(text: string): void;
}

/** Invalid arguments. The message is for the model, so that it can try again. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}

/** A call with parsed arguments, ready to run. */
export interface PreparedCall {
  /** Exactly what will be run, as shown to the user for approval. */
  subject: string;
  /** What rule patterns are matched against: a command, a path, or a URL. */
  target: string;
  /** Runs `subject`. Rejects only because of a bug: a failure is an output with `status: "error"`. */
  run(context: ToolContext): Promise<ToolOutput>;
}

/** A tool of the agent loop. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Whether calls of the tool can run in parallel. Otherwise they run sequentially, in the model's order. */
  readonly parallel: boolean;
  /** The decision if no rule matches. Must be `ask` for tools that change anything or send data to other machines. */
  readonly default_decision: "allow" | "ask";
  /** Time limit in milliseconds; 0: none, for tools that wait for the user or a run. */
  readonly time_limit_ms: number;
  /** Parses the arguments of a call. Throws `ToolInputError` if they are invalid. */
  prepare(input: Readonly<Record<string, unknown>>, host: AgentHost): PreparedCall;
}
