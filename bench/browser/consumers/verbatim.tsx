import "../../../src/web/theme.css";
import "../../../src/web/ui/ui.css";
import { createRoot } from "react-dom/client";
import { Markdown } from "../../../src/web/ui/Markdown.tsx";
import type { Mount } from "../stream.ts";
import { growing } from "./growing.ts";

/** The product's own component, as its transcript uses it. */
export const mount: Mount = (root) => {
  const app = createRoot(root);
  return growing((text, open) => app.render(<Markdown text={text} open={open} />));
};
