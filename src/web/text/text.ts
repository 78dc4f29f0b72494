import { list } from "./en/list.ts";
import { page } from "./en/page.ts";
import type { Text } from "./en.ts";

/**
 * The page's text in the user's language. It is set once, before the first render, so modules must not read it while they are
 * being evaluated (`test/web-text.test.ts`).
 *
 * English is loaded in parts: the text of the list is in this module, the rest is loaded with the scripts that use it, which
 * import `session-text.ts` or another `*-text.ts`. The same test checks that each script imports the text that it uses; the type
 * cannot.
 */
export let t = { ...page, ...list } as Text;

/** Adds English text. If the page is in another language, all of its text is already present and stays. */
export function addText(sections: Partial<Text>): void {
  t = { ...sections, ...t };
}

/**
 * Loads the language of the document, which public/first-paint.js has set from the user's settings. If it cannot be fetched, the
 * page stays in English.
 */
export async function loadText(): Promise<void> {
  if (!document.documentElement.lang.startsWith("zh")) return;
  try {
    t = (await import("./zh.ts")).zh;
  } catch {
    document.documentElement.lang = "en";
  }
}
