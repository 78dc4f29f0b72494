import type { Mount } from "../stream.ts";

/** Lines in one box that is laid out only where it is seen. */
const BOX = 16;

/** What no renderer goes below: plain text, an element for each line, the last one growing. */
export const mount: Mount = (root) => {
  root.style.whiteSpace = "pre-wrap";
  let last = document.createTextNode("");
  let box = root;
  let lines = 0;
  const line = (): void => {
    if (lines++ % BOX === 0) {
      box = document.createElement("div");
      box.style.contentVisibility = "auto";
      box.style.containIntrinsicSize = "auto 320px";
      root.append(box);
    }
    const element = document.createElement("div");
    last = document.createTextNode("");
    element.append(last);
    box.append(element);
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
