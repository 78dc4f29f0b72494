/** A path's names, with `/` or `\` between them. */
export const namesOf = (path: string): string[] => path.split(/[/\\]/).filter((name) => name !== "");

/** A file's name without its folder and its last ending. */
export function stemOf(path: string): string {
  const name = namesOf(path).at(-1) ?? path;
  return name.replace(/\.[^.]+$/, "");
}
