import type { MarkdownBlock } from "./document.ts";

/** Blocks per page. Only the last page is rendered again while the text grows. */
const PAGE = 8;

/** A block, with what is needed to parse it again when a definition appears later. */
export interface Kept {
  block: MarkdownBlock;
  raw: string;
  labels: ReadonlySet<string>;
  key: string;
}

type Page = readonly MarkdownBlock[];

/** The pages of a text. A page whose blocks are unchanged keeps its identity. */
interface Pages {
  /** The finished blocks from `index` on have changed. */
  changeFrom(index: number): void;
  /** The pages of the finished blocks and the `open` ones. `former`: all pages as they were built last. */
  build(kept: readonly Kept[], open: readonly Kept[], former: readonly Page[]): Page[];
}

/** No pages yet. */
export function createPages(): Pages {
  let pages: Page[] = [];
  /** So many of the first pages are full and unchanged. */
  let valid = 0;
  const blocks = (entries: readonly Kept[]): MarkdownBlock[] => entries.map((entry) => entry.block);
  return {
    changeFrom(index) {
      valid = Math.min(valid, Math.floor(index / PAGE));
    },
    build(kept, open, former) {
      /** The former page, if all its blocks are unchanged. */
      const asBefore = (page: Page, index: number): Page => {
        const old = former[index];
        return old?.length === page.length && page.every((block, place) => block === old[place]) ? old : page;
      };
      pages = pages.slice(0, valid);
      valid = Math.floor(kept.length / PAGE);
      while (pages.length < valid) {
        const at = pages.length * PAGE;
        pages.push(asBefore(blocks(kept.slice(at, at + PAGE)), pages.length));
      }
      const shown = [...pages];
      const growing = blocks([...kept.slice(valid * PAGE), ...open]);
      for (let at = 0; at < growing.length; at += PAGE) {
        shown.push(asBefore(growing.slice(at, at + PAGE), shown.length));
      }
      return shown;
    },
  };
}
