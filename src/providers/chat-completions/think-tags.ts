/** A section of content that is either thinking or text. */
interface TaggedPiece {
  thinking: boolean;
  text: string;
}

/** Separates thinking between tags at the beginning of the content. */
interface TagSplitter {
  push(content: string): TaggedPiece[];
  /** Ends the input and returns the text that was held back. */
  end(): TaggedPiece[];
}

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * `tagged`: thinking begins with `<think>`; without it, everything is text. `opened`: thinking has already begun, because the
 * opening tag is part of the server's template. Tags may be split across deltas, so what may be the beginning of a tag is held
 * back.
 */
export function createTagSplitter(mode: "tagged" | "opened"): TagSplitter {
  let state: "before" | "thinking" | "behind" | "text" = "before";
  let held = "";

  const take = (atEnd: boolean): TaggedPiece[] => {
    const pieces: TaggedPiece[] = [];
    const emitText = (thinking: boolean, text: string): void => {
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
        emitText(true, held.slice(0, close));
        held = held.slice(close + CLOSE.length);
        state = "behind";
      } else {
        const kept = atEnd ? 0 : partialLength(held, CLOSE);
        emitText(true, held.slice(0, held.length - kept));
        held = held.slice(held.length - kept);
      }
    }
    if (state === "behind") {
      // Line breaks after the closing tag come from the template.
      held = held.replace(/^\n+/, "");
      if (held !== "") state = "text";
    }
    if (state === "text") {
      emitText(false, held);
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

/** Number of characters at the end of the text that may be the beginning of the tag. */
function partialLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
