import * as z from "zod";
import { ToolInputError } from "./tool.ts";

/** A tool's arguments as JSON Schema, from the schema that parses them. */
export function inputSchema(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

/** Parses arguments. Throws a `ToolInputError` that names each invalid one. */
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
 * Rejects text that cannot be passed to a program byte for byte: NUL ends an argument, and half a surrogate pair has no bytes and
 * would silently become U+FFFD.
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
