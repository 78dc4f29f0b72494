import * as z from "zod";
import { ToolInputError } from "./tool.ts";

/** JSON Schema of a tool's arguments, derived from the schema that parses them. */
export function inputSchema(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

/** Parses arguments. Throws a `ToolInputError` that names all invalid arguments. */
export function readInput<Schema extends z.ZodObject>(
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): z.infer<Schema> {
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  const problems = read.error.issues.map(
    ({ path, message }) => `${path.join(".") || "arguments"}: ${message}`,
  );
  throw new ToolInputError(problems.join("; "));
}

/**
 * Rejects text that cannot be passed to a program unchanged: NUL would end an argument, and a lone surrogate, which has no
 * encoding in UTF-8, would silently become U+FFFD.
 */
export function requireExactText(text: string, what: string): void {
  if (text.includes("\0"))
    throw new ToolInputError(`${what} contains a NUL character, which cannot be passed to a program.`);
  requireWellFormed(text, what);
}

/** Rejects text that cannot be encoded in UTF-8. */
export function requireWellFormed(text: string, what: string): void {
  if (!text.isWellFormed())
    throw new ToolInputError(
      `${what} contains half of a surrogate pair, which has no bytes. It could not be run as shown.`,
    );
}
