/** A node of a Markdown or an HTML tree, as far as its text is concerned. */
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
 * The `dir` of a list, a table or a quote: `rtl` if its first letter outside of code is of such a script. It places bullets,
 * columns and bars; the text of each block in it has its own direction.
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
