import type { ReactNode } from "react";
import { findHidden, type TextKind, type TextPiece } from "../../hidden-text/hidden-text.ts";

/** Text as React shows it: strings stay strings, hidden characters become a visible mark that says which they are. */
export const visible = (text: string, kind: TextKind): ReactNode => marked(findHidden(text, kind));

/** A text whose hidden stretches have such marks. */
export function marked(pieces: readonly TextPiece[]): ReactNode {
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
