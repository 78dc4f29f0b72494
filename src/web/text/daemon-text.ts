import type { TextCode } from "../../model/text/coded-text.ts";
import { t } from "./text.ts";
import { translated } from "./translated.ts";

/** A text of the daemon outside of transcripts in the page's language, by its code; otherwise as it was sent. */
export const translatedText = (text: string, code: TextCode | undefined): string =>
  translated(t.daemon, text, code);

/** Two sentences. Chinese has no space between them. */
export const sentences = (one: string, other: string): string =>
  one.endsWith("。") ? `${one}${other}` : `${one} ${other}`;

/** A notice or problem: its text and its remedy. */
export interface Notice {
  readonly text: string;
  readonly text_code?: TextCode;
  readonly remedy?: string;
  readonly remedy_code?: TextCode;
}

/** The same in the page's language. */
export function noticeText({ text, text_code, remedy, remedy_code }: Notice): {
  text: string;
  remedy: string | undefined;
} {
  return {
    text: translatedText(text, text_code),
    remedy: remedy === undefined ? undefined : translatedText(remedy, remedy_code),
  };
}

/** A text that includes its remedy, in the page's language. If it does not know one of them, both are shown as they were sent. */
export function combinedText(
  text: string,
  { message_code, remedy_code }: { message_code?: TextCode; remedy_code?: TextCode },
): string {
  const parts = [message_code, remedy_code].filter((code) => code !== undefined);
  const known = parts.map((code) => translated(t.daemon, "", code));
  return known.length === 0 || known.includes("") ? text : known.reduce(sentences);
}
