import type { agentTitles } from "./agent-titles.ts";
import type { CodedText, Translation } from "./catalog.ts";
import type { claudeCodeTitles } from "./claude-code-titles.ts";
import type { TextCode } from "./coded-text.ts";
import type { codexTitles } from "./codex-titles.ts";
import type { foldTitles } from "./fold-titles.ts";
import type { sourceTitles } from "./source-titles.ts";

/** All titles in another language. */
export type Titles = Translation<
  typeof foldTitles & typeof sourceTitles & typeof claudeCodeTitles & typeof codexTitles & typeof agentTitles
>;

/** A title as Verbatim wrote it, or as it was recorded. */
export type Title = string | CodedText;

/** A title as fields of a frame or part. */
export interface TitleFields {
  title: string;
  title_code?: TextCode;
}

export function titleFields(given: Title): TitleFields {
  if (typeof given === "string") return { title: given };
  const { text, code, params } = given;
  return { title: text, title_code: params === undefined ? { code } : { code, params } };
}

/** A message as fields of an error frame. */
export function messageFields(given: Title): { message: string; title_code?: TextCode } {
  const { title: message, ...code } = titleFields(given);
  return { message, ...code };
}
