import { firstMembers, textOfHead } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { continueReader } from "./reader.ts";
import { continueSnapshots, isHead } from "./stores.ts";

/** Continue: the extension of VS Code and JetBrains, and its command line version `cn`, which share a folder. */
export const continueDev = recordLinesFormat({
  id: "continue",
  name: "Continue",
  root: { variable: "CONTINUE_GLOBAL_DIR", home: ".continue", folders: ["sessions"] },
  classify: () => undefined,
  // Older versions write the messages first, so the members that follow them may not be among the first bytes.
  detect: (head) =>
    isHead(firstMembers(head)) || /^\{\s*"history":\s*\[\s*\{\s*"message":/.test(textOfHead(head)),
  snapshots: continueSnapshots,
  reader: continueReader,
});
