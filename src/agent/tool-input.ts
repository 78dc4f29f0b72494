import * as z from "zod";
import { ToolInputError } from "./tool.ts";

/** A tool's arguments as JSON Schema, from the same definition that reads them. */
export function inputSchema(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

/** The arguments as the schema says; throws `ToolInputError` naming each argument that is wrong. */
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
 * Refuses what cannot reach a program byte for byte: NUL ends an argument, and half of a surrogate pair has no bytes
 * (it would silently become U+FFFD).
 */
export function requireExactText(text: string, what: string): void {
  if (text.includes("\0"))
    throw new ToolInputError(`${what} contains a NUL character, which no program can be given.`);
  requireWellFormed(text, what);
}

/** Refuses text that UTF-8 cannot hold. */
export function requireWellFormed(text: string, what: string): void {
  if (!text.isWellFormed())
    throw new ToolInputError(
      `${what} contains half of a surrogate pair, which has no bytes: it could not run as it is shown.`,
    );
}
