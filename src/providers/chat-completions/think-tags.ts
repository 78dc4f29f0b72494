/** A stretch of content that is all thinking, or all text. */
interface TaggedPiece {
  thinking: boolean;
  text: string;
}

/** Takes the thinking out of content that has it between tags, at its beginning only. */
interface TagSplitter {
  push(content: string): TaggedPiece[];
  /** Nothing follows: what was held back. */
  end(): TaggedPiece[];
}

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * `tagged`: thinking begins with `<think>`; without it all is text. `opened`: it has begun already, because the server's
 * template wrote the tag. Tags may be split over deltas: what could become one is held back until it is clear.
 */
export function createTagSplitter(mode: "tagged" | "opened"): TagSplitter {
  let state: "before" | "thinking" | "behind" | "text" = "before";
  let held = "";

  const take = (atEnd: boolean): TaggedPiece[] => {
    const pieces: TaggedPiece[] = [];
    const give = (thinking: boolean, text: string): void => {
      if (text !== "") pieces.push({ thinking, text });
    };
    if (state === "before") {
      const inner = held.trimStart();
      if (inner.startsWith(OPEN)) {
        held = inner.slice(OPEN.length);
        state = "thinking";
      } else if (atEnd || !OPEN.startsWith(inner)) state = mode === "opened" ? "thinking" : "text";
      else return pieces;
    }
    if (state === "thinking") {
      const close = held.indexOf(CLOSE);
      if (close >= 0) {
        give(true, held.slice(0, close));
        held = held.slice(close + CLOSE.length);
        state = "behind";
      } else {
        const kept = atEnd ? 0 : partialLength(held, CLOSE);
        give(true, held.slice(0, held.length - kept));
        held = held.slice(held.length - kept);
      }
    }
    if (state === "behind") {
      // The line breaks after the closing tag are the template's.
      held = held.replace(/^\n+/, "");
      if (held !== "") state = "text";
    }
    if (state === "text") {
      give(false, held);
      held = "";
    }
    return pieces;
  };
  return {
    push(content) {
      held += content;
      return take(false);
    },
    end: () => take(true),
  };
}

/** How many characters at the end of the text may be the beginning of the tag. */
function partialLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
