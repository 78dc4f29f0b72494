/** Loads the module that builds the text to copy. It is not part of the transcript's script. */
export const loadCopiedText = () => import("./copied-text.ts");

type CopiedText = Awaited<ReturnType<typeof loadCopiedText>>;

export const partText: CopiedText["partText"] = async (...of) => (await loadCopiedText()).partText(...of);
export const turnText: CopiedText["turnText"] = async (...of) => (await loadCopiedText()).turnText(...of);
