const listeners = new Set<(files: readonly File[]) => void>();
/** The input of the last file dialog. Without a reference, the browser could garbage-collect it. */
let chooser: HTMLInputElement | undefined;

/** Opens the browser's dialog for session files or a folder. Browsers allow this only right after a key press or a click. */
export function chooseFiles(what: "file" | "folder"): void {
  const input = document.createElement("input");
  chooser = input;
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = what === "folder";
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    if (chooser === input && files.length > 0) for (const listener of [...listeners]) listener(files);
  });
  input.click();
}

/** Calls `listener` with the chosen files. Returns a function that unsubscribes. */
export function onFilesChosen(listener: (files: readonly File[]) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
