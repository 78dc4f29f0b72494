const listeners = new Set<(files: readonly File[]) => void>();
/** The input of the last file dialog: a browser may collect one that nothing refers to. */
let chooser: HTMLInputElement | undefined;

/** Asks for session files, or a folder, to open. Browsers allow it only right after a key or a click. */
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

/** Calls the listener with the chosen files. Returns a function that unsubscribes. */
export function onFilesChosen(listener: (files: readonly File[]) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
