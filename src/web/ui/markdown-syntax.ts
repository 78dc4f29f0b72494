import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";

const ALL = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
const WITHOUT_BARE_LINKS = {
  extensions: [gfmFootnote(), gfmStrikethrough(), gfmTable(), gfmTaskListItem()],
  // Only bare links are looked for in the finished tree.
  mdastExtensions: [gfmFromMarkdown().filter(({ transforms }) => transforms === undefined)],
};

/** What a bare address has, or what may become it: an entity, an escape. */
const BARE_LINK = /[@&\\]|:\/\/|www\./i;

/**
 * GitHub's Markdown, as `fromMarkdown` takes it. Bare links are looked for at each letter and again in each text: two fifths of
 * parsing. Where there can be none they are not looked for.
 */
export const syntaxOf = (source: string) => (BARE_LINK.test(source) ? ALL : WITHOUT_BARE_LINKS);
