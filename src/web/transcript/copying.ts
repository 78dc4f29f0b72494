/** What puts together what is copied: its script comes after the transcript, before somebody copies. */
export const loadCopiedText = () => import("./copied-text.ts");

type CopiedText = Awaited<ReturnType<typeof loadCopiedText>>;

export const partText: CopiedText["partText"] = async (...of) => (await loadCopiedText()).partText(...of);
export const turnText: CopiedText["turnText"] = async (...of) => (await loadCopiedText()).turnText(...of);
