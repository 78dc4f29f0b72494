/** Tests of plain functions: of the page, those beside `Markdown.tsx` that need no page are `.ts`. */
export const PLAIN =
  /^test\/(?:model|formats)\/.*\.ts$|^test\/hidden-text\.test\.ts$|^test\/web\/ui\/markdown-.*\.ts$/;
