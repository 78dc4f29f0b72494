import type { ReactNode } from "react";
import { findHidden, type HiddenPiece, type TextKind } from "../../hidden-text/hidden-text.ts";
import { t } from "../text/text.ts";
import "./hidden-text.css";

type Piece = { text: string } | Omit<HiddenPiece, "hidden">;

/** Maximum number of marks in a text, because each is an element. */
const MAX_MARKS = 500;

/** Limits the number of marks: the remaining pieces are joined into one, with their hidden characters spelled out. */
export function fewMarks(pieces: readonly Piece[], most = MAX_MARKS): readonly Piece[] {
  let marks = 0;
  const at = pieces.findIndex((piece) => "label" in piece && ++marks > most);
  if (at < 0) return pieces;
  return [
    ...pieces.slice(0, at),
    {
      // ASCII brackets, because other brackets would be from another font, and each font change costs layout time.
      label: pieces
        .slice(at)
        .map((piece) => ("text" in piece ? piece.text : `[${piece.label}]`))
        .join(""),
      title: t.link.hiddenFromHere,
    },
  ];
}

/** Renders a text with a visible mark for each hidden character. Text without hidden characters stays a string. */
export const visible = (text: string, kind: TextKind): ReactNode => marked(fewMarks(findHidden(text, kind)));

/** Renders the pieces of a text, with marks for hidden characters. */
export function marked(pieces: readonly Piece[]): ReactNode {
  if (pieces.length === 1 && pieces[0] && "text" in pieces[0]) return pieces[0].text;
  return pieces.map((piece, index) =>
    "text" in piece ? (
      piece.text
    ) : (
      <mark key={index} className="hidden-text" title={piece.title}>
        {piece.label}
      </mark>
    ),
  );
}
