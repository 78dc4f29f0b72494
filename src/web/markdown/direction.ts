/** The common fields of Markdown and HTML tree nodes that are needed to find their text. */
interface TextNode {
  readonly type: string;
  readonly tagName?: string;
  readonly value?: string;
  readonly children?: readonly TextNode[];
}

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}]/u;

/**
 * The `dir` attribute of a list, table or quote: `rtl` if its first letter outside of code is of a right-to-left script. It
 * determines the side of bullets, columns and bars. The direction of the text is determined separately for each block inside.
 */
export function directionOf(nodes: readonly TextNode[]): { dir?: "rtl" } {
  const letter = firstLetter(nodes);
  return letter !== undefined && RIGHT_TO_LEFT.test(letter) ? { dir: "rtl" } : {};
}

function firstLetter(nodes: readonly TextNode[]): string | undefined {
  const rest = [...nodes].reverse();
  for (let node = rest.pop(); node; node = rest.pop()) {
    if (node.type === "code" || node.type === "inlineCode" || node.tagName === "code") continue;
    const letter = LETTER.exec(node.value ?? "")?.[0];
    if (letter !== undefined) return letter;
    rest.push(...(node.children ?? []).toReversed());
  }
  return undefined;
}
