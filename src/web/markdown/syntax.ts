import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import { gfm } from "micromark-extension-gfm";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";

/**
 * Emphasis and strikethrough next to Chinese, Japanese and Korean punctuation, which CommonMark does not recognize: `**注意：**这是`.
 * See https://github.com/tats-u/markdown-cjk-friendly.
 */
const CJK = [cjkFriendlyExtension(), gfmStrikethroughCjkFriendly()];
export const GITHUB = { extensions: [gfm(), ...CJK], mdastExtensions: [gfmFromMarkdown()] };
const WITHOUT_BARE_LINKS = {
  extensions: [gfmFootnote(), gfmTable(), gfmTaskListItem(), ...CJK],
  // The omitted transform only searches the finished tree for bare links.
  mdastExtensions: [gfmFromMarkdown().filter(({ transforms }) => transforms === undefined)],
};

/** A text without these characters has no bare link. Entities and escapes may encode one of them. */
const BARE_LINK = /[@&\\]|:\/\/|www\./i;
/** A simple inline link. Its address is not a bare link. */
const LINK = /(?<!\])\[(?!\^)[^[\]()<>`|\\\n]*\]\([^()<>`|\\\s]*\)/g;

/**
 * GitHub Flavored Markdown with CJK-friendly emphasis, as options of `fromMarkdown`. The search for bare links takes two fifths
 * of the parse time, because the parser tries at every letter and again in every text node. It is omitted if there can be none.
 */
export const syntaxOf = (source: string) =>
  BARE_LINK.test(source.replaceAll(LINK, " ")) ? GITHUB : WITHOUT_BARE_LINKS;
