import * as z from "zod";
import type { Answer, Request } from "../../model/request.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { type Tool, type ToolContext, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput } from "../tool-input.ts";

const input = z.object({
  question: z.string().min(1),
  options: z
    .array(z.object({ label: z.string().min(1), description: z.string().optional() }))
    .max(20)
    .optional()
    .describe("Answers to choose from."),
  multiple: z.boolean().optional().describe("Several options can be chosen."),
  free_text: z
    .boolean()
    .optional()
    .describe("The user can answer with their own text; always true without options."),
});
type AskInput = z.infer<typeof input>;

/** Asks the user a question and waits for the answer. */
export function createAskTool(): Tool {
  return {
    definition: {
      name: "ask",
      description: "Asks the user a question and waits for the answer. Only for what they alone can decide.",
      input_schema: inputSchema(input),
    },
    parallel: true,
    default_decision: "allow",
    time_limit_ms: 0,
    prepare(raw) {
      const read = readInput(input, raw);
      const labels = read.options?.map(({ label }) => label) ?? [];
      if (new Set(labels).size < labels.length) throw new ToolInputError("Two options have the same label.");
      return { subject: read.question, target: "", run: (context) => ask(read, context) };
    },
  };
}

async function ask(
  { question, options = [], multiple, free_text }: AskInput,
  { host, message_id, call_id, signal }: ToolContext,
): Promise<ToolOutput> {
  const request: Request = {
    // Derived from the call, so that a restarted daemon reopens the same request instead of creating another one.
    request_id: uuidFrom(host.session_id, `question ${message_id} ${call_id}`),
    kind: "question",
    title: question,
    tool_call_id: call_id,
    tool_name: "ask",
    options: options.map(({ label, description }, index) => ({
      id: String(index),
      label,
      ...(description === undefined ? {} : { description }),
    })),
    ...(multiple === undefined ? {} : { multiple }),
    free_text: free_text === true || options.length === 0,
  };
  const answer = await host.ask(request, signal);
  const said = answer === undefined ? undefined : answerText(answer, request);
  const asked = { question, options: options.map(({ label }) => label) };
  return {
    status: said === undefined ? "error" : "success",
    output_text:
      said ?? (signal.aborted ? "The question was withdrawn without an answer." : "Nobody answered in time."),
    ui_extra: { type: "question", questions: [said === undefined ? asked : { ...asked, answer: said }] },
  };
}

function answerText({ option_ids, text }: Answer, { options }: Request): string | undefined {
  const labels = options.filter(({ id }) => option_ids.includes(id)).map(({ label }) => label);
  const own = text?.trim() ?? "";
  const words = [labels.join(", "), own].filter((part) => part !== "");
  return words.length === 0 ? undefined : words.join("\n");
}
