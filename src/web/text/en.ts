import { content } from "./en/content.ts";
import { inspect } from "./en/inspect.ts";
import { list } from "./en/list.ts";
import { page } from "./en/page.ts";
import { screens } from "./en/screens.ts";
import { session } from "./en/session.ts";
import { transcript } from "./en/transcript.ts";

/** All words of the page in English. The page itself loads them in parts (text.ts). */
export const en = { ...page, ...list, ...session, ...transcript, ...content, ...inspect, ...screens };

/** What a language has to say. */
export type Text = typeof en;
