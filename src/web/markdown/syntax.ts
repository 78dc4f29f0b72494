import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import { gfm } from "micromark-extension-gfm";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";

/**
 * Emphasis and strikethrough beside Chinese, Japanese and Korean punctuation, where CommonMark sees none: `**注意：**这是`.
 * See https://github.com/tats-u/markdown-cjk-friendly.
 */
const CJK = [cjkFriendlyExtension(), gfmStrikethroughCjkFriendly()];
export const GITHUB = { extensions: [gfm(), ...CJK], mdastExtensions: [gfmFromMarkdown()] };
const WITHOUT_BARE_LINKS = {
  extensions: [gfmFootnote(), gfmTable(), gfmTaskListItem(), ...CJK],
  // Only bare links are looked for in the finished tree.
  mdastExtensions: [gfmFromMarkdown().filter(({ transforms }) => transforms === undefined)],
};

/** What a bare link has, or what may become that: an entity, an escape. */
const BARE_LINK = /[@&\\]|:\/\/|www\./i;
/** A link of the plainest kind, whose address is no bare one wherever it stands. */
const LINK = /(?<!\])\[(?!\^)[^[\]()<>`|\\\n]*\]\([^()<>`|\\\s]*\)/g;

/**
 * GitHub's Markdown with emphasis as readers of CJK expect it, as `fromMarkdown` takes it. Bare links are looked for at each
 * letter and again in each text: two fifths of parsing. Where there can be none they are not looked for.
 */
export const syntaxOf = (source: string) =>
  BARE_LINK.test(source.replaceAll(LINK, " ")) ? GITHUB : WITHOUT_BARE_LINKS;
