import { asText } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { codexExecReader } from "./reader.ts";

/** The saved output of `codex exec --json`. It has no usual folder: it is opened by name, or posted. */
export const codexExec = recordLinesFormat({
  id: "codex-exec",
  name: "Codex (exec)",
  classify: (path) => (/^codex-exec-runs\/.+\.jsonl$/.test(path) ? { kind: "session" } : undefined),
  detect: (head) =>
    firstRecords(head, 1).some(
      ({ type, thread_id }) => type === "thread.started" && asText(thread_id) !== undefined,
    ),
  reader: codexExecReader,
});
