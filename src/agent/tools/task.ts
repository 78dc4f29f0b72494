import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import { type Tool, type ToolContext, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";
import { keptFields, truncateText } from "../truncated-output.ts";

const input = z.object({
  name: z.string().optional().describe("Kind of agent, in one or two words."),
  task: z.string().min(1).describe("The task in a few words."),
  prompt: z.string().min(1).describe("Everything it needs to know. It does not see this conversation."),
});
type TaskInput = z.infer<typeof input>;

/** Maximum nesting of runs. */
const MAX_DEPTH = 5;

/** Delegates work to a sub-agent in its own session. */
export function createTaskTool(): Tool {
  return {
    definition: {
      name: "task",
      description:
        "Delegates a task to a sub-agent, which works independently in the same folder and reports back. Several calls in one answer run in parallel.",
      input_schema: inputSchema(input),
    },
    parallel: true,
    // The sub-agent's own calls need approval.
    default_decision: "allow",
    time_limit_ms: 0,
    prepare(raw, host) {
      const read = readInput(input, raw);
      if (host.depth >= MAX_DEPTH)
        throw new ToolInputError(
          `Sub-agents can be nested ${MAX_DEPTH} levels deep, and this is the last level. Do the work here.`,
        );
      return {
        subject: [read.name, read.task, "", read.prompt].filter((line) => line !== undefined).join("\n"),
        target: read.name ?? "",
        run: (context) => delegate(read, context),
      };
    },
  };
}

async function delegate({ name, task, prompt }: TaskInput, context: ToolContext): Promise<ToolOutput> {
  const { host, call_id, signal } = context;
  const who = { ...(name === undefined ? {} : { name }), task };
  const report = await host
    .startRun({ tool_call_id: call_id, ...who, prompt }, signal)
    .catch((error: unknown) => ({
      failed: messageOf(error),
    }));
  if ("failed" in report) {
    return {
      status: "error",
      output_text: `The sub-agent could not be started: ${report.failed}`,
      ui_extra: { type: "sub_agent", ...who, status: "failed" },
    };
  }
  const { outcome, text, is_earlier, tokens, tool_calls, duration_ms, session_id } = report;
  const said = await truncateText(text, host, call_id);
  const end = {
    // An earlier text may be the report, but it may also be something that turned out to be wrong later.
    completed: is_earlier ? "[This is an earlier text of the sub-agent. It ended without a final one.]" : "",
    failed: "[The sub-agent failed.]",
    interrupted: "[The sub-agent was stopped.]",
  }[outcome];
  const words = [said.text, end].filter((text) => text !== "");
  return {
    status: outcome === "completed" ? "success" : "error",
    output_text: words.length === 0 ? "[The sub-agent returned no text.]" : words.join("\n"),
    ui_extra: {
      type: "sub_agent",
      session_id,
      ...who,
      status: outcome,
      ...(tokens === undefined ? {} : { tokens }),
      tool_calls,
      duration_ms,
      ...keptFields(said),
    },
  };
}
