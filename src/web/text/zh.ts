import type { Text } from "./en.ts";
import { content } from "./zh/content.ts";
import { inspect } from "./zh/inspect.ts";
import { list } from "./zh/list.ts";
import { page } from "./zh/page.ts";
import { screens } from "./zh/screens.ts";
import { session } from "./zh/session.ts";
import { transcript } from "./zh/transcript.ts";

/** The page's text in Simplified Chinese. A separate script, so that English pages do not load it. */
export const zh = {
  ...page,
  ...list,
  ...session,
  ...transcript,
  ...content,
  ...inspect,
  ...screens,
} satisfies Text;
