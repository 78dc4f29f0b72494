import type { ReactNode } from "react";
import { findHidden, type HiddenPiece, type TextKind } from "../../hidden-text/hidden-text.ts";
import { t } from "../text/text.ts";

type Piece = { text: string } | Omit<HiddenPiece, "hidden">;

/** Marks of one text: each is an element, and a page can bear only so many. */
const MAX_MARKS = 500;

/** The same pieces, those behind very many hidden ones as one in which these are written out. */
export function fewMarks(pieces: readonly Piece[], most = MAX_MARKS): readonly Piece[] {
  let marks = 0;
  const at = pieces.findIndex((piece) => "label" in piece && ++marks > most);
  if (at < 0) return pieces;
  return [
    ...pieces.slice(0, at),
    {
      // In brackets of ASCII: others come of another font than the letters, and each change of fonts takes its time.
      label: pieces
        .slice(at)
        .map((piece) => ("text" in piece ? piece.text : `[${piece.label}]`))
        .join(""),
      title: t.link.hiddenFromHere,
    },
  ];
}

/** Text as React shows it: strings stay strings, hidden characters become a visible mark that says which they are. */
export const visible = (text: string, kind: TextKind): ReactNode => marked(fewMarks(findHidden(text, kind)));

/** A text whose hidden stretches have such marks. */
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
