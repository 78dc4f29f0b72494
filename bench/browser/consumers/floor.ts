import type { Mount } from "../stream.ts";

/** What no renderer goes below: plain text, an element for each line, the last one growing. */
export const mount: Mount = (root) => {
  root.style.whiteSpace = "pre-wrap";
  let last = document.createTextNode("");
  const line = (): void => {
    const element = document.createElement("div");
    last = document.createTextNode("");
    element.append(last);
    root.append(element);
  };
  line();
  return {
    push(delta) {
      for (const [index, piece] of delta.split("\n").entries()) {
        if (index > 0) line();
        last.appendData(piece);
      }
    },
    end() {},
  };
};
