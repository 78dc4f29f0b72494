const CHOOSERS = { file: "open-file", folder: "open-folder" } as const;
type Choosable = keyof typeof CHOOSERS;

/** The id of a file dialog's field, which `OpenFiles` has on the page. */
export const chooserId = (what: Choosable): string => CHOOSERS[what];

/** Asks for a session file, or a folder, to open. Browsers allow it only right after a key or a click. */
export const chooseFiles = (what: Choosable): void => document.getElementById(CHOOSERS[what])?.click();
