/** The language of a file, as fences name it: its extension, otherwise its name (`Makefile`). Empty: a name without either. */
export function languageOfPath(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1) : name.replace(/^\./, "");
}
