import { codedTexts, type Translation } from "./catalog.ts";
import { noticeTexts } from "./notice-texts.ts";
import { queryTexts } from "./query-texts.ts";
import { refusalTexts } from "./refusal-texts.ts";

/** What the daemon says to the page outside of transcripts. */
export const daemonTexts = { ...queryTexts, ...refusalTexts, ...noticeTexts };

/** The same in another language. */
export type DaemonTexts = Translation<typeof daemonTexts>;

/** A text of `daemonTexts` with its code. */
export const daemonText = codedTexts(daemonTexts);
