/** Tests of pure functions. Of the page, those for modules beside `Markdown.tsx` that need no DOM are `.ts`. */
export const PLAIN =
  /^test\/(?:model|formats)\/.*\.ts$|^test\/hidden-text\.test\.ts$|^test\/web\/ui\/markdown-.*\.ts$/;
