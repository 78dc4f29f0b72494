import "../../../src/web/app/theme.css";
import { createRoot } from "react-dom/client";
import { growthOf, recordGrowth } from "../../../src/model/transcript/growth.ts";
import { Markdown } from "../../../src/web/markdown/Markdown.tsx";
import type { Mount } from "./consumer.ts";
import { growing } from "./growing.ts";

/** The product's own component, with the same information about growth as in its transcript. */
export const mount: Mount = (root) => {
  const app = createRoot(root);
  let part = {};
  let length = 0;
  const { push, end } = growing((text, open) =>
    app.render(<Markdown text={text} open={open} growth={growthOf(part)} />),
  );
  return {
    push(delta) {
      const before = part;
      part = {};
      length += delta.length;
      recordGrowth(before, part, delta, length);
      push(delta);
    },
    end,
    isSettled,
  };
};

/** Whether all code blocks but the last one, which may still be growing, are highlighted or have a note that says why not. */
function isSettled(): boolean {
  const blocks = [...document.querySelectorAll(".code-block")].slice(0, -1);
  return blocks.every((block) => block.querySelector(".code-page > span, figcaption > .note") !== null);
}
