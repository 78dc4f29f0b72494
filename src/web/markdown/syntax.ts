import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import { gfm } from "micromark-extension-gfm";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";

/**
 * Emphasis and strikethrough beside Chinese, Japanese and Korean punctuation, where CommonMark recognizes none: `**注意：**这是`.
 * See https://github.com/tats-u/markdown-cjk-friendly.
 */
const CJK = [cjkFriendlyExtension(), gfmStrikethroughCjkFriendly()];
export const GITHUB = { extensions: [gfm(), ...CJK], mdastExtensions: [gfmFromMarkdown()] };
const WITHOUT_BARE_LINKS = {
  extensions: [gfmFootnote(), gfmTable(), gfmTaskListItem(), ...CJK],
  // Only bare links are searched in the finished tree.
  mdastExtensions: [gfmFromMarkdown().filter(({ transforms }) => transforms === undefined)],
};

/** Characters without which a text has no bare link; an entity or an escape may stand for one. */
const BARE_LINK = /[@&\\]|:\/\/|www\./i;
/** A simple inline link. Its address is not a bare link. */
const LINK = /(?<!\])\[(?!\^)[^[\]()<>`|\\\n]*\]\([^()<>`|\\\s]*\)/g;

/**
 * GitHub Flavored Markdown with CJK-friendly emphasis, as options of `fromMarkdown`. Searching bare links takes two fifths of
 * the parse time, because the parser tries at each letter and again in each text. It is skipped where there can be none.
 */
export const syntaxOf = (source: string) =>
  BARE_LINK.test(source.replaceAll(LINK, " ")) ? GITHUB : WITHOUT_BARE_LINKS;
