import { default_renderer, parser, parser_end, parser_write } from "streaming-markdown";
import type { Mount } from "./consumer.ts";

/** streaming-markdown: the best other renderer without React. It does not highlight code. */
export const mount: Mount = (root) => {
  const state = parser(default_renderer(root));
  return { push: (delta) => parser_write(state, delta), end: () => parser_end(state) };
};
