import "../text/content-text.ts";
import type { Element, ElementContent, Nodes as HastNode, Root } from "hast";
import type { Definition, FootnoteDefinition, ListItem, Nodes, RootContent, TableRow } from "mdast";
import { defaultHandlers, type Handlers, type Options, type State, toHast } from "mdast-util-to-hast";
import { memo, type ReactNode, useEffect, useLayoutEffect, useReducer, useRef, useState } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { cutBefore } from "../../hidden-text/cut-short.ts";
import { findHidden } from "../../hidden-text/hidden-text.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { t } from "../text/text.ts";
import { fewMarks, visible } from "../ui/hidden-text.tsx";
import { FragmentLink, RemoteImage, SafeLink } from "../ui/SafeLink.tsx";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { useIsSearchMatch } from "../ui/search-match.ts";
import { byteSize } from "../ui/size.ts";
import { createMarkdownStream } from "./blocks.ts";
import { directionOf } from "./direction.ts";
import type { MarkdownBlock, MarkdownDocument, Piece } from "./document.ts";
import type { TextGrowth } from "./window.ts";
import "./markdown.css";

/** Maximum characters and lines of a text that are rendered before the user asks for all of it. */
const FIRST_LENGTH = 64 * 1024;
const FIRST_LINES = 2_000;
/** Maximum number of elements that are rendered before the user asks for all of the text. */
const FIRST_ELEMENTS = 1_500;
/** Number of pages of blocks that are laid out in one group. */
const LAY_OUT_PAGES = 4;
/** Delay between groups after the text has ended, in milliseconds. */
const LAY_OUT_MS = 30;

interface MarkdownProps {
  text: string;
  /** Whether the text is still growing, so that its end may be incomplete. */
  open?: boolean;
  /** How the text grew, if known. It makes the cost of parsing added text independent of the length of the whole text. */
  growth?: TextGrowth | undefined;
  /** Makes the ids of footnotes unique on the page. */
  idPrefix?: string;
}

/** Renders GitHub Flavored Markdown. HTML is shown as text, images are not loaded, and links show their real address. */
export const Markdown = memo(function Markdown({
  text,
  open = false,
  growth,
  idPrefix = "",
}: MarkdownProps): ReactNode {
  // A text that was rendered while growing is not truncated once it is complete.
  const [isAllShown, setIsAllShown] = useState(open);
  const [stream] = useState(() => createMarkdownStream(open ? undefined : FIRST_ELEMENTS));
  const end = isAllShown ? text.length : firstPart(text);
  const document = stream.read(
    end < text.length ? text.slice(0, end) : text,
    !open || end < text.length,
    isAllShown,
    growth,
  );
  const showAll = (): void => {
    stream.readAll();
    setIsAllShown(true);
  };
  // If the end is omitted because of the number of elements, its offset in the source is unknown, so the whole text is searched.
  const isMatch = useIsSearchMatch(() => (isAllShown ? "" : document.isTruncated ? text : text.slice(end)));
  if (isMatch) showAll();
  const [, readMore] = useReducer((reads: number) => reads + 1, 0);
  useEffect(() => {
    if (!document.isPartlyRead) return;
    const timer = setTimeout(readMore);
    return () => clearTimeout(timer);
  }, [document]);
  return (
    <>
      <MarkdownView
        document={document}
        open={open || document.isPartlyRead}
        idPrefix={`${idPrefix}user-content-`}
      />
      {!isAllShown && (end < text.length || document.isTruncated) && (
        <button type="button" className="show-all" onClick={showAll}>
          {t.output.all(byteSize(text.length))}
        </button>
      )}
    </>
  );
});

function firstPart(text: string): number {
  const limit = Math.min(text.length, FIRST_LENGTH);
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < limit; at = text.indexOf("\n", at + 1)) {
    if (++lines >= FIRST_LINES) return at + 1;
  }
  if (limit === text.length) return limit;
  const lineEnd = text.lastIndexOf("\n", limit);
  return lineEnd > limit / 2 ? lineEnd + 1 : cutBefore(text, limit);
}

function MarkdownView({
  document,
  open,
  idPrefix,
}: {
  document: MarkdownDocument;
  open: boolean;
  idPrefix: string;
}): ReactNode {
  const root = useRef<HTMLDivElement>(null);
  const [growing, setGrowing] = useState(open);
  if (open && !growing) setGrowing(true);
  // Pages that have been laid out keep their height, so that nothing above the viewport moves.
  const pageCount = useRef(0);
  useLayoutEffect(() => {
    if (!growing) return;
    const pages = root.current?.querySelectorAll<HTMLElement>(":scope > .markdown-page") ?? [];
    for (const page of [...pages].slice(0, pageCount.current)) page.style.contentVisibility = "visible";
  }, [growing]);
  useLayoutEffect(() => {
    pageCount.current = document.pages.length;
  }, [document]);
  // Pages that were skipped while the text grew are laid out after it has ended, in groups, because all at once would block the
  // page.
  useEffect(() => {
    if (open || !growing) return;
    const pages = [...(root.current?.querySelectorAll<HTMLElement>(":scope > .markdown-page") ?? [])];
    const next = (): void => {
      if (pages.length === 0) {
        setGrowing(false);
        return;
      }
      for (let n = 0; n < LAY_OUT_PAGES; n++) {
        const page = pages.pop();
        if (page === undefined) break;
        page.style.contentVisibility = "visible";
        // A page with plain text is much longer, so it is a group of its own.
        if (page.querySelector(":scope > .markdown-plain")) break;
      }
      timer = setTimeout(next, LAY_OUT_MS);
    };
    let timer = setTimeout(next, LAY_OUT_MS);
    return () => clearTimeout(timer);
  }, [open, growing]);
  return (
    <div
      ref={root}
      className={growing && document.pages.length > 1 ? "markdown markdown-growing" : "markdown"}
    >
      {document.pages.map((page, index) => (
        <BlockPage key={index} blocks={page} idPrefix={idPrefix} />
      ))}
      {document.footnoteCalls.length > 0 && <Footnotes document={document} idPrefix={idPrefix} />}
    </div>
  );
}

const BlockPage = memo(function BlockPage({
  blocks,
  idPrefix,
}: {
  blocks: readonly MarkdownBlock[];
  idPrefix: string;
}) {
  const [first] = blocks;
  const heading = first?.kind === "nodes" && first.piece.nodes[0]?.type === "heading";
  return (
    <div className={heading ? "markdown-page markdown-page-heading" : "markdown-page"}>
      {blocks.map((block, index) => (
        <Block key={index} block={block} idPrefix={idPrefix} />
      ))}
    </div>
  );
});

const Block = memo(function Block({
  block,
  idPrefix,
}: {
  block: MarkdownBlock;
  idPrefix: string;
}): ReactNode {
  switch (block.kind) {
    case "nodes":
      return render(block.piece, block.piece.nodes, idPrefix);
    case "code":
      return <CodeBlock code={block.code} language={block.language} open={block.open} />;
    case "list": {
      const List = block.ordered ? "ol" : "ul";
      return (
        <List
          {...directionOf(block.pages[0]?.nodes.slice(0, 1) ?? [])}
          {...(block.tasks ? { className: "contains-task-list" } : {})}
          {...(block.ordered && block.start !== 1 ? { start: block.start } : {})}
        >
          {block.pages.map((page, index) => (
            <Items key={index} piece={page} loose={block.loose} idPrefix={idPrefix} />
          ))}
        </List>
      );
    }
    case "table":
      return (
        <TableScroll {...directionOf([...block.head.nodes, ...(block.pages[0]?.nodes ?? [])])}>
          <thead>
            <Rows piece={block.head} head={block.head} align={block.align} part="thead" idPrefix={idPrefix} />
          </thead>
          <tbody>
            {block.pages.map((page, index) => (
              <Rows
                key={index}
                piece={page}
                head={block.head}
                align={block.align}
                part="tbody"
                idPrefix={idPrefix}
              />
            ))}
          </tbody>
        </TableScroll>
      );
    case "plain":
      return (
        <div className="markdown-plain">
          {visible(block.raw, "prose")}
          {block.reason !== undefined && <p className="note">{t.markdown.plain(block.reason)}</p>}
        </div>
      );
    default:
      return block satisfies never;
  }
});

const Items = memo(function Items({
  piece,
  loose,
  idPrefix,
}: {
  piece: Piece<ListItem>;
  loose: boolean;
  idPrefix: string;
}): ReactNode {
  const tree = toTree([{ type: "list", spread: loose, children: [...piece.nodes] }], piece, idPrefix);
  return toReact(childrenOf(tree[0]));
});

const Rows = memo(function Rows({
  piece,
  head,
  align,
  part,
  idPrefix,
}: {
  piece: Piece<TableRow>;
  head: Piece<TableRow>;
  align: (MarkdownBlock & { kind: "table" })["align"];
  part: "thead" | "tbody";
  idPrefix: string;
}): ReactNode {
  const rows = part === "thead" ? [...head.nodes] : [...head.nodes, ...piece.nodes];
  const [table] = toTree([{ type: "table", align: align ?? null, children: rows }], piece, idPrefix);
  const section = childrenOf(table).find((child) => child.type === "element" && child.tagName === part);
  return toReact(childrenOf(section).filter((child) => child.type === "element"));
});

const Footnotes = memo(function Footnotes({
  document,
  idPrefix,
}: {
  document: MarkdownDocument;
  idPrefix: string;
}): ReactNode {
  const references = document.footnoteCalls.map((identifier) => ({
    type: "footnoteReference" as const,
    identifier,
  }));
  const root = treeOf(
    [{ type: "paragraph", children: references }, ...document.footnotes],
    document.definitions,
    [],
    idPrefix,
  );
  return toReact(root.filter(isFootnotes));
});

const isFootnotes = (node: ElementContent): boolean =>
  node.type === "element" && node.properties.dataFootnotes !== undefined;

function childrenOf(node: ElementContent | undefined): ElementContent[] {
  return node?.type === "element" ? node.children : [];
}

function render(piece: Piece, nodes: readonly RootContent[], idPrefix: string): ReactNode {
  return toReact(toTree(nodes, piece, idPrefix));
}

function toTree(
  nodes: readonly RootContent[],
  piece: Piece<Nodes & RootContent>,
  idPrefix: string,
): ElementContent[] {
  return treeOf(nodes, piece.definitions, piece.before, idPrefix).filter((node) => !isFootnotes(node));
}

/** Converts nodes to HTML elements. Footnotes are numbered after those in `before`, and hidden characters are marked. */
function treeOf(
  nodes: readonly (RootContent | FootnoteDefinition)[],
  definitions: readonly Definition[],
  before: readonly string[],
  idPrefix: string,
): ElementContent[] {
  let counted = false;
  const handlers: Handlers = {
    // HTML is shown as text.
    html: (_state: State, node: { value: string }) => ({ type: "text", value: node.value }),
    footnoteReference: (state: State, node) => {
      if (!counted) {
        counted = true;
        for (const call of before) {
          if (!state.footnoteCounts.has(call)) state.footnoteOrder.push(call);
          state.footnoteCounts.set(call, (state.footnoteCounts.get(call) ?? 0) + 1);
        }
      }
      return defaultHandlers.footnoteReference(state, node);
    },
  };
  const options: Options = { handlers, clobberPrefix: idPrefix };
  const tree = toHast({ type: "root", children: [...definitions, ...nodes] }, options);
  const children = tree.type === "root" ? tree.children : [];
  // The text between top-level nodes is only white space.
  const content = children.filter(
    (node): node is ElementContent =>
      node.type === "element" || (node.type === "text" && /\S/.test(node.value)),
  );
  mark(content, idPrefix);
  return content;
}

/** Splits text nodes at hidden characters, and makes the library's fixed id of the footnotes heading unique. */
function mark(nodes: ElementContent[], idPrefix: string): void {
  const stack: { nodes: ElementContent[]; code: boolean }[] = [{ nodes, code: false }];
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    for (let index = 0; index < entry.nodes.length; index++) {
      const node = entry.nodes[index];
      if (node?.type === "element") {
        if (node.properties.id === "footnote-label") node.properties.id = `${idPrefix}footnote-label`;
        if (node.properties.ariaDescribedBy) node.properties.ariaDescribedBy = [`${idPrefix}footnote-label`];
        // `CodeBlock` marks its own text.
        if (node.tagName !== "pre")
          stack.push({ nodes: node.children, code: entry.code || node.tagName === "code" });
      } else if (node?.type === "text") {
        const pieces = fewMarks(findHidden(node.value, entry.code ? "code" : "prose"));
        if (pieces.length === 1 && pieces[0] && "text" in pieces[0]) continue;
        const marked = pieces.map(
          (piece): ElementContent =>
            "text" in piece
              ? { type: "text", value: piece.text }
              : {
                  type: "element",
                  tagName: "mark",
                  properties: { className: ["hidden-text"], title: piece.title },
                  children: [{ type: "text", value: piece.label }],
                },
        );
        entry.nodes.splice(index, 1, ...marked);
        index += marked.length - 1;
      }
    }
  }
}

/**
 * Renders nodes with react-markdown, which gets the existing tree instead of source: the text was already parsed when it was
 * split into blocks. Raw HTML nodes were converted to text, so no node can become HTML.
 */
function toReact(children: ElementContent[]): ReactNode {
  return (
    <ReactMarkdown
      remarkPlugins={NO_PARSER}
      rehypePlugins={[[replaceTree, children]]}
      components={markdownComponents}
      urlTransform={keepUrl}
    />
  );
}

/** Replaces react-markdown's parser. Creating one per block, only to parse nothing, would be a third of the cost of a block. */
function withoutParser(this: { parser?: unknown }): void {
  this.parser = () => ({ type: "root", children: [] });
}
const NO_PARSER = [withoutParser];
const replaceTree = (children: ElementContent[]) => (): Root => ({ type: "root", children });
/** Leaves addresses as written: `SafeLink` and `RemoteImage` check them. */
const keepUrl = (url: string): string => url;

function textOf(node: HastNode | undefined): string {
  if (node === undefined) return "";
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

function TableScroll({ dir, children }: { dir?: "rtl"; children: ReactNode }): ReactNode {
  return (
    <ScrollBox className="table-scroll" label={t.markdown.table}>
      <table dir={dir}>{children}</table>
    </ScrollBox>
  );
}

const language = (node: Element | undefined): string => {
  const classes = node?.properties.className;
  const found = Array.isArray(classes)
    ? classes.find((name) => String(name).startsWith("language-"))
    : undefined;
  return found === undefined ? "" : String(found).slice("language-".length);
};

/** Components for Markdown elements. Headings are shifted by two levels, to be below the page's own. */
export const markdownComponents: Components = {
  a: ({ node, href, children, className, ...rest }) => {
    const target = typeof href === "string" ? href : "";
    if (
      node?.properties.dataFootnoteRef !== undefined ||
      node?.properties.dataFootnoteBackref !== undefined
    ) {
      return (
        <FragmentLink {...rest} className={className} target={target.slice(1)}>
          {children}
        </FragmentLink>
      );
    }
    return (
      <SafeLink href={target} text={textOf(node)}>
        {children}
      </SafeLink>
    );
  },
  img: ({ src, alt }) => <RemoteImage src={typeof src === "string" ? src : ""} alt={alt ?? ""} />,
  pre: ({ node }) => {
    const code = node?.children[0];
    const element = code?.type === "element" ? code : undefined;
    return <CodeBlock code={textOf(element).replace(/\n$/, "")} language={language(element)} />;
  },
  table: ({ node, children }) => <TableScroll {...directionOf(childrenOf(node))}>{children}</TableScroll>,
  ul: ({ node, ...rest }) => <ul {...rest} {...directionOf(childrenOf(node))} />,
  ol: ({ node, ...rest }) => <ol {...rest} {...directionOf(childrenOf(node))} />,
  blockquote: ({ node, ...rest }) => <blockquote {...rest} {...directionOf(childrenOf(node))} />,
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      readOnly
      aria-label={checked ? t.markdown.done : t.markdown.toDo}
    />
  ),
  h1: ({ children }) => <h4 className="markdown-h1">{children}</h4>,
  h2: ({ children, node, ...rest }) => (
    <h5 className="markdown-h2" {...rest}>
      {children}
    </h5>
  ),
  h3: ({ children }) => <h6 className="markdown-h3">{children}</h6>,
  h4: ({ children }) => <h6 className="markdown-h4">{children}</h6>,
  h5: ({ children }) => <h6 className="markdown-h4">{children}</h6>,
  h6: ({ children }) => <h6 className="markdown-h4">{children}</h6>,
};
