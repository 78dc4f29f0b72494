import * as z from "zod";
import { milliseconds, optional, record, uuid } from "./record.ts";
import { textCode } from "./text/coded-text.ts";

/** An option of a request. `kind`: the effect of an approval's option, whatever its label. */
export const requestOption = record({
  id: z.string(),
  label: z.string(),
  label_code: optional(textCode),
  description: optional(z.string()),
  description_code: optional(textCode),
  kind: optional(z.enum(["allow_once", "allow_always", "reject_once", "reject_always"])),
});
export type RequestOption = z.infer<typeof requestOption>;

/** A request of an agent to the user: an approval of a tool call, or a question. */
export const request = record({
  /** Also the id of the transcript part that shows it. */
  request_id: uuid,
  kind: z.enum(["approval", "question"]),
  /** The request in one line. */
  title: z.string(),
  title_code: optional(textCode),
  tool_call_id: optional(z.string()),
  tool_name: optional(z.string()),
  /** For an approval: exactly what is run if it is allowed, byte for byte. */
  subject: optional(z.string()),
  /** For a question: if Verbatim wrote the subject or its first line. */
  subject_code: optional(textCode),
  /** Hex SHA-256 of the subject in UTF-8, compared before it is run. */
  digest: optional(z.string()),
  options: z.array(requestOption),
  /** Several options can be chosen. */
  multiple: optional(z.boolean()),
  /** The answer can be or contain the user's own text. */
  free_text: optional(z.boolean()),
  expires_at: optional(milliseconds),
});
export type Request = z.infer<typeof request>;

/** The user's answer: options by id, and text. */
export const answer = record({ option_ids: z.array(z.string()), text: optional(z.string()) });
export type Answer = z.infer<typeof answer>;

/** `expired`: nobody answered in time; `cancelled`: the turn was stopped, or the agent withdrew the request. */
export const requestOutcome = z.enum(["answered", "expired", "cancelled"]);
export type RequestOutcome = z.infer<typeof requestOutcome>;
