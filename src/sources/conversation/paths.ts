/** The segments of a path with `/` or `\` separators. */
export const namesOf = (path: string): string[] => path.split(/[/\\]/).filter((name) => name !== "");

/** The folder of a file. */
export const folderOf = (path: string): string => path.replace(/[\\/][^\\/]*$/, "");

/** A file's name without its folder and its last extension. */
export function stemOf(path: string): string {
  const name = namesOf(path).at(-1) ?? path;
  return name.replace(/\.[^.]+$/, "");
}
