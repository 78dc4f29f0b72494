import { content } from "./en/content.ts";
import { inspect } from "./en/inspect.ts";
import { list } from "./en/list.ts";
import { page } from "./en/page.ts";
import { screens } from "./en/screens.ts";
import { session } from "./en/session.ts";
import { transcript } from "./en/transcript.ts";

/** All text of the page in English. The page itself loads it in parts (text.ts). */
export const en = { ...page, ...list, ...session, ...transcript, ...content, ...inspect, ...screens };

/** The texts that every language must provide. */
export type Text = typeof en;
