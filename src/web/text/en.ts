import { content } from "./en/content.ts";
import { list } from "./en/list.ts";
import { page } from "./en/page.ts";
import { session } from "./en/session.ts";
import { transcript } from "./en/transcript.ts";

/** The page's words in English. */
export const en = { ...page, ...list, ...session, ...transcript, ...content };

/** What a language has to say. */
export type Text = typeof en;
