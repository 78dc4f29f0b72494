import type { PreparedCall, Tool, ToolContext, ToolOutput } from "../../src/agent/tool.ts";
import { ToolInputError } from "../../src/agent/tool.ts";

/** A tool for tests: `run` is its implementation; all other fields have defaults. */
export function tool(
  name: string,
  run: (input: Readonly<Record<string, unknown>>, context: ToolContext) => ToolOutput | Promise<ToolOutput>,
  given: Partial<Omit<Tool, "definition" | "prepare">> & { prepare?: Tool["prepare"] } = {},
): Tool {
  const prepare = (input: Readonly<Record<string, unknown>>): PreparedCall => ({
    subject: JSON.stringify(input),
    target: typeof input.target === "string" ? input.target : "",
    run: async (context) => run(input, context),
  });
  return {
    definition: { name, description: `The tool ${name}`, input_schema: { type: "object" } },
    parallel: true,
    default_decision: "allow",
    time_limit_ms: 0,
    prepare,
    ...given,
  };
}

/** Returns its input. */
export const echo = tool("echo", (input) => ({ output_text: String(input.say ?? "") }), {
  prepare: (input) => {
    if (input.say === 1) throw new ToolInputError("say must be a string");
    return {
      subject: JSON.stringify(input),
      target: "",
      run: async () => ({ output_text: String(input.say ?? "") }),
    };
  },
});

/** Runs until it is stopped; `onStart` is called when it runs. */
export const endless = (onStart: () => void = () => {}, given: Partial<Tool> = {}): Tool =>
  tool(
    "endless",
    (_input, { signal }) =>
      new Promise((resolve) => {
        const end = (): void => resolve({ status: "error", output_text: "so far" });
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
        setImmediate(onStart);
      }),
    given,
  );
