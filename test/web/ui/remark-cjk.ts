import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import type { Processor } from "unified";

/** Emphasis beside CJK punctuation for react-markdown, the reference for our growing Markdown. */
export function remarkCjk(this: Processor): void {
  const data = this.data() as { micromarkExtensions?: unknown[] };
  data.micromarkExtensions ??= [];
  data.micromarkExtensions.push(cjkFriendlyExtension(), gfmStrikethroughCjkFriendly());
}
