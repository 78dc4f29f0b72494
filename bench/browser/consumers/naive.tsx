import { createRoot } from "react-dom/client";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import type { Mount } from "./consumer.ts";
import { growing } from "./growing.ts";

const plugins = [remarkGfm];

/** Renders the whole text with react-markdown at each change, without highlighting. */
export const mount: Mount = (root) => {
  const app = createRoot(root);
  return growing((text) => app.render(<ReactMarkdown remarkPlugins={plugins}>{text}</ReactMarkdown>));
};
