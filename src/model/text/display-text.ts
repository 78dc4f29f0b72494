import type { CodedText } from "./catalog.ts";
import type { TextCode } from "./coded-text.ts";

/** A text to be shown: one that Verbatim wrote, with its code, or any other, such as the message of a system error. */
export type DisplayText = string | CodedText;

/** The English text. */
export const plainText = (text: DisplayText): string => (typeof text === "string" ? text : text.text);

/** A text from fields of data. */
export const displayText = (text: string, code: TextCode | undefined): DisplayText =>
  code === undefined ? text : { text, ...code };

/** A text that begins with its field or file. Its code is that of the text alone, because the page shows it at its place. */
export const prefixed = (place: string, text: DisplayText): DisplayText =>
  typeof text === "string" ? `${place}: ${text}` : { ...text, text: `${place}: ${text.text}` };

/** A text as fields of data, such as `remedy` and `remedy_code`. */
export type TextFields<Name extends string> = Record<Name, string> & {
  [Field in `${Name}_code`]?: TextCode;
};

export function textFields<Name extends string>(name: Name, given: DisplayText): TextFields<Name> {
  const fields = typeof given === "string" ? {} : { [`${name}_code`]: codeOf(given) };
  return { [name]: plainText(given), ...fields } as TextFields<Name>;
}

/** The reason in a frame or event, without its other fields. */
export const reasonOf = ({ reason, reason_code }: TextFields<"reason">): TextFields<"reason"> =>
  reason_code === undefined ? { reason } : { reason, reason_code };

/** The code of a text with its parameters. */
export function codeOf({ code, params }: CodedText): TextCode {
  return params === undefined ? { code } : { code, params };
}
