import * as z from "zod";
import { milliseconds, optional, record, uuid } from "./record.ts";

/** One way to answer. `kind` is what an approval's option does, whatever its label says. */
export const requestOption = record({
  id: z.string(),
  label: z.string(),
  description: optional(z.string()),
  kind: optional(z.enum(["allow_once", "allow_always", "reject_once", "reject_always"])),
});
export type RequestOption = z.infer<typeof requestOption>;

/** What an agent waits for a person to say: whether a call may run, or the answer to a question. */
export const request = record({
  /** The id of the transcript part that shows it, too. */
  request_id: uuid,
  kind: z.enum(["approval", "question"]),
  /** One line: what is asked. */
  title: z.string(),
  tool_call_id: optional(z.string()),
  tool_name: optional(z.string()),
  /** Of an approval: exactly what runs when it is allowed, byte for byte. */
  subject: optional(z.string()),
  /** SHA-256 of the subject's UTF-8, in hex: whoever runs it compares. */
  digest: optional(z.string()),
  options: z.array(requestOption),
  /** Several options may be chosen. */
  multiple: optional(z.boolean()),
  /** An answer may be, or contain, text of the person's own. */
  free_text: optional(z.boolean()),
  expires_at: optional(milliseconds),
});
export type Request = z.infer<typeof request>;

/** What a person said: options by id, text of their own. */
export const answer = record({ option_ids: z.array(z.string()), text: optional(z.string()) });
export type Answer = z.infer<typeof answer>;

/** `expired`: nobody answered in time; `cancelled`: the turn was stopped, or its agent withdrew what it asked. */
export const requestOutcome = z.enum(["answered", "expired", "cancelled"]);
export type RequestOutcome = z.infer<typeof requestOutcome>;
