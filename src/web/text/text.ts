import { list } from "./en/list.ts";
import { page } from "./en/page.ts";
import type { Text } from "./en.ts";

/**
 * The page's words in the reader's language. The language is set before the first render and never again, so only what runs later
 * may read it: no module while it is evaluated (`test/web-text.test.ts`).
 *
 * English comes in parts: those of the list here, others with the scripts that show them, which import `session-text.ts` or
 * another module of such a name. The same test checks that each script brings the words that it shows; the type cannot.
 */
export let t = { ...page, ...list } as Text;

/** Adds English words. Where the page is in another language, all its words are there already. */
export function addText(sections: Partial<Text>): void {
  t = { ...sections, ...t };
}

/**
 * Loads the language that the document is in: public/first-paint.js has set it from the reader's settings. Where it cannot be
 * fetched, a page in English is better than none.
 */
export async function loadText(): Promise<void> {
  if (!document.documentElement.lang.startsWith("zh")) return;
  try {
    t = (await import("./zh.ts")).zh;
  } catch {
    document.documentElement.lang = "en";
  }
}
