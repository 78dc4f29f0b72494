import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import { type Tool, type ToolContext, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";
import { keptFields, truncateText } from "../truncated-output.ts";

const input = z.object({
  name: z.string().optional().describe("Kind of agent, a word or two."),
  task: z.string().min(1).describe("What it is to do, in a few words."),
  prompt: z.string().min(1).describe("All that it needs to know; it does not see this conversation."),
});
type TaskInput = z.infer<typeof input>;

/** Runs of runs of runs: at this depth no more are started. */
const MAX_DEPTH = 5;

/** Gives work to a sub-agent in a session of its own. */
export function createTaskTool(): Tool {
  return {
    definition: {
      name: "task",
      description:
        "Gives a task to a sub-agent, which works on its own in the same folder and reports back. Several in one answer run at the same time.",
      input_schema: inputSchema(input),
    },
    parallel: true,
    // What it does is asked about where it does it.
    default_decision: "allow",
    time_limit_ms: 0,
    prepare(raw, host) {
      const read = readInput(input, raw);
      if (host.depth >= MAX_DEPTH)
        throw new ToolInputError(
          `Sub-agents may be ${MAX_DEPTH} deep, and this is the last: do the work here.`,
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
    // What it said on the way may be its report, or what it went on to find wrong.
    completed: is_earlier ? "[The sub-agent said this earlier, and nothing at its end.]" : "",
    failed: "[The sub-agent failed.]",
    interrupted: "[The sub-agent was stopped.]",
  }[outcome];
  const words = [said.text, end].filter((text) => text !== "");
  return {
    status: outcome === "completed" ? "success" : "error",
    output_text: words.length === 0 ? "[The sub-agent said nothing.]" : words.join("\n"),
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
