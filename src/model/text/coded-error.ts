import { messageOf } from "../narrow.ts";
import type { DisplayText } from "./display-text.ts";

/** An error whose message may be a text that Verbatim wrote. */
export class CodedError extends Error {
  readonly title: DisplayText;
  constructor(title: DisplayText) {
    super(typeof title === "string" ? title : title.text);
    this.title = title;
  }
}

/** The message of an error, with its code if Verbatim wrote it. */
export function titleOfError(error: unknown): DisplayText {
  return error instanceof CodedError ? error.title : messageOf(error);
}
