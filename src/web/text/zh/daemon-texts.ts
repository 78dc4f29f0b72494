import type { DaemonTexts } from "../../../model/text/daemon-texts.ts";
import { noticeTexts } from "./notice-texts.ts";
import { queryTexts } from "./query-texts.ts";
import { refusalTexts } from "./refusal-texts.ts";

/** What the daemon says to the page outside of transcripts. */
export const daemonTexts: DaemonTexts = { ...queryTexts, ...refusalTexts, ...noticeTexts };
