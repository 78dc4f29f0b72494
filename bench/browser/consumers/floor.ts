import type { Mount } from "./consumer.ts";

/** Number of lines in a box that is only laid out when visible. */
const BOX = 16;

/** The baseline of all renderers: plain text, one element per line, with the last one growing. */
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
