import { en, type Text } from "./en.ts";

/**
 * The page's words in the reader's language. It is set before the first render and never again, so only what runs later may
 * read it: no module while it is evaluated (`test/web-text.test.ts`).
 */
export let t: Text = en;

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
