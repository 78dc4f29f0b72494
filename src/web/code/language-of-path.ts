/** The language of a file as in a fence: its extension, otherwise its name (`Makefile`). Empty if the path has no file name. */
export function languageOfPath(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1) : name.replace(/^\./, "");
}
