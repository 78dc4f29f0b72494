import type { agentTitles } from "./agent-titles.ts";
import type { CodedText, Translation } from "./catalog.ts";
import type { claudeCodeTitles } from "./claude-code-titles.ts";
import type { TextCode } from "./coded-text.ts";
import type { codexTitles } from "./codex-titles.ts";
import { codeOf, type DisplayText, type TextFields } from "./display-text.ts";
import type { failureTexts } from "./failure-texts.ts";
import type { foldTitles } from "./fold-titles.ts";
import type { outcomeReasons } from "./outcome-reasons.ts";
import type { requestTexts } from "./request-texts.ts";
import type { retractionReasons } from "./retraction-reasons.ts";
import type { sourceTitles } from "./source-titles.ts";

/** All titles in another language. */
export type Titles = Translation<
  typeof foldTitles &
    typeof sourceTitles &
    typeof claudeCodeTitles &
    typeof codexTitles &
    typeof agentTitles &
    typeof failureTexts &
    typeof outcomeReasons &
    typeof requestTexts &
    typeof retractionReasons
>;

/** A title as fields of a frame or part. */
export type TitleFields = TextFields<"title">;

/** Like `textFields`, without its computed names, because readers call it for many records. */
export function titleFields(given: DisplayText): TitleFields {
  if (typeof given === "string") return { title: given };
  return { title: given.text, title_code: codeOf(given) };
}

/** A title as the message of an error or a failure. If it has several lines, the code is that of the first one. */
export interface MessageFields {
  message: string;
  title_code?: TextCode;
}

export function messageFields(given: DisplayText): MessageFields {
  const { title: message, ...code } = titleFields(given);
  return { message, ...code };
}

/** A text whose first line is a title and whose further lines have no code. */
export function withLines(title: CodedText, ...lines: readonly string[]): CodedText {
  return { ...title, text: [title.text, ...lines].join("\n") };
}
