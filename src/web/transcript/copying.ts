/** Builds the text to copy. Its script is loaded after the transcript. */
export const loadCopiedText = () => import("./copied-text.ts");

type CopiedText = Awaited<ReturnType<typeof loadCopiedText>>;

export const partText: CopiedText["partText"] = async (...of) => (await loadCopiedText()).partText(...of);
export const turnText: CopiedText["turnText"] = async (...of) => (await loadCopiedText()).turnText(...of);
