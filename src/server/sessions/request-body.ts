import type { Context } from "hono";
import type * as z from "zod";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { Refused } from "./refused.ts";

/** Parses and validates the JSON body of a request. Throws a `Refused` that names the first invalid field. */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  let value: unknown;
  try {
    value = JSON.parse(await context.req.text());
  } catch {
    throw new Refused(400, "body", daemonText("body_not_json"));
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".");
  throw new Refused(400, "body", `\`${field || "body"}\`: ${issue?.message ?? "invalid value"}.`);
}
