import * as z from "zod";
import { optional, record } from "../record.ts";
import type { TextParams } from "./catalog.ts";

/**
 * Identifies a text that Verbatim wrote itself, so that the page can show it in the user's language. The English text is always
 * stored beside it, for all other readers and for pages that do not know the code.
 */
export const textCode = record({
  /** A key of a catalog, such as `titles`. */
  code: z.string(),
  /** Recorded values in the text, which are not translated. */
  params: optional(z.record(z.string(), z.union([z.string(), z.number()])) satisfies z.ZodType<TextParams>),
});
export type TextCode = z.infer<typeof textCode>;
