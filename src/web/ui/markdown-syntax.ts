import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";

export const GITHUB = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
const WITHOUT_BARE_LINKS = {
  extensions: [gfmFootnote(), gfmStrikethrough(), gfmTable(), gfmTaskListItem()],
  // Only bare links are looked for in the finished tree.
  mdastExtensions: [gfmFromMarkdown().filter(({ transforms }) => transforms === undefined)],
};

/** What a bare link has, or what may become that: an entity, an escape. */
const BARE_LINK = /[@&\\]|:\/\/|www\./i;
/** A link of the plainest kind, whose address is no bare one wherever it stands. */
const LINK = /(?<!\])\[(?!\^)[^[\]()<>`|\\\n]*\]\([^()<>`|\\\s]*\)/g;

/**
 * GitHub's Markdown, as `fromMarkdown` takes it. Bare links are looked for at each letter and again in each text: two fifths of
 * parsing. Where there can be none they are not looked for.
 */
export const syntaxOf = (source: string) =>
  BARE_LINK.test(source.replaceAll(LINK, " ")) ? GITHUB : WITHOUT_BARE_LINKS;
