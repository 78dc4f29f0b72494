import type { Context } from "hono";
import type * as z from "zod";
import { Refused } from "./refused.ts";

/** The JSON body of a request, checked; throws a `Refused` that names the first field that is not as expected. */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  let value: unknown;
  try {
    value = JSON.parse(await context.req.text());
  } catch {
    throw new Refused(400, "body", "The body is no JSON.");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".");
  throw new Refused(
    400,
    "body",
    `\`${field || "body"}\`: ${issue?.message ?? "this is not what is expected"}.`,
  );
}
