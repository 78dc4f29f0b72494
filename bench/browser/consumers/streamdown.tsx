import { createCodePlugin } from "@streamdown/code";
import { createRoot } from "react-dom/client";
import { Streamdown } from "streamdown";
import type { Mount } from "./consumer.ts";
import { growing } from "./growing.ts";

const plugins = { code: createCodePlugin({ themes: ["github-dark", "github-dark"] }) };

/** Streamdown: the best other renderer that highlights code. */
export const mount: Mount = (root) => {
  const app = createRoot(root);
  return growing((text, open) =>
    app.render(
      <Streamdown isAnimating={open} plugins={plugins} controls={false}>
        {text}
      </Streamdown>,
    ),
  );
};
