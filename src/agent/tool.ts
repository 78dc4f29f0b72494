import type { MediaPart } from "../model/messages/part.ts";
import type { UiExtra } from "../model/parts/ui-extra.ts";
import type { ToolDefinition } from "../providers/provider.ts";
import type { AgentHost } from "./agent.ts";

/** What a tool gives back. */
export interface ToolOutput {
  /** Absent: `success`. */
  status?: "success" | "error";
  /** For the model: cut to what it can take, saying where the whole is. */
  output_text: string;
  parts?: MediaPart[];
  ui_extra?: UiExtra;
}

/** What a call has beside its arguments while it runs. */
export interface ToolContext {
  host: AgentHost;
  /** The message that the call stands in. */
  message_id: string;
  call_id: string;
  /** Aborted by the operator or by the tool's time limit. */
  signal: AbortSignal;
  /** Shows output while it comes; shown, not stored: the result says the whole. */
  progress(text: string): void;
}

/** Arguments that a tool cannot take: told to the model, so that it can try again. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}

/** A call whose arguments have been read: what would run, and how. */
export interface PreparedCall {
  /** Exactly what runs, as a person is shown it before allowing it. */
  subject: string;
  /** What the rules' patterns are matched against: a command, a path, an address. */
  target: string;
  /** Runs what `subject` says. Rejects only for a mistake of ours: a failure is an output with `status: "error"`. */
  run(context: ToolContext): Promise<ToolOutput>;
}

/** One tool of the agent loop. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Whether calls of it may run beside others; the rest run one after the other, in the model's order. */
  readonly parallel: boolean;
  /** What holds where no rule says otherwise: `ask` for whatever changes something or leaves the machine. */
  readonly default_decision: "allow" | "ask";
  /** In milliseconds; 0: none (a person answers, or a run works). */
  readonly time_limit_ms: number;
  /** Throws `ToolInputError`. */
  prepare(input: Readonly<Record<string, unknown>>, host: AgentHost): PreparedCall;
}
