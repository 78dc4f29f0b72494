import type { MarkdownBlock } from "./document.ts";

/** Blocks per page. Only the last page is rendered again while the text grows. */
const PAGE = 8;

/** A block, with its source and labels in case it must be parsed again because of a later definition. */
export interface ParsedBlock {
  block: MarkdownBlock;
  raw: string;
  labels: ReadonlySet<string>;
  key: string;
}

type Page = readonly MarkdownBlock[];

/** The pages of a text. A page whose blocks are unchanged keeps its identity. */
interface Pages {
  /** Invalidates the pages of finished blocks from `index` on. */
  changeFrom(index: number): void;
  /** Builds the pages of the finished blocks and the unfinished ones, `open`. `former`: the result of the last build. */
  build(finished: readonly ParsedBlock[], open: readonly ParsedBlock[], former: readonly Page[]): Page[];
}

/** Creates an empty list of pages. */
export function createPages(): Pages {
  let pages: Page[] = [];
  /** Number of leading pages that are full and unchanged. */
  let valid = 0;
  const blocks = (entries: readonly ParsedBlock[]): MarkdownBlock[] => entries.map((entry) => entry.block);
  return {
    changeFrom(index) {
      valid = Math.min(valid, Math.floor(index / PAGE));
    },
    build(finished, open, former) {
      /** Returns the former page if all its blocks are unchanged, to keep its identity. */
      const reuseFormer = (page: Page, index: number): Page => {
        const old = former[index];
        return old?.length === page.length && page.every((block, place) => block === old[place]) ? old : page;
      };
      pages = pages.slice(0, valid);
      valid = Math.floor(finished.length / PAGE);
      while (pages.length < valid) {
        const at = pages.length * PAGE;
        pages.push(reuseFormer(blocks(finished.slice(at, at + PAGE)), pages.length));
      }
      const shown = [...pages];
      const growing = blocks([...finished.slice(valid * PAGE), ...open]);
      for (let at = 0; at < growing.length; at += PAGE) {
        shown.push(reuseFormer(growing.slice(at, at + PAGE), shown.length));
      }
      return shown;
    },
  };
}
