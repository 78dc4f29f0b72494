import { asObject, asText } from "../../model/narrow.ts";
import { firstMembers, firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { kiroReader } from "./reader.ts";
import { isConversation, kiroSnapshots } from "./stores.ts";

const KINDS = /^(?:Prompt|AssistantMessage|ToolResults|Compaction|ResetTo|CancelledPrompt|Clear)$/;
/** The folders of the database, which has been the same since Amazon Q Developer CLI. */
const DATABASES = ["kiro-cli", "amazon-q"];

/** Kiro CLI, which was Amazon Q Developer CLI: a SQLite database, later one log per session below `~/.kiro/sessions`. */
export const kiro = recordLinesFormat({
  id: "kiro",
  name: "Kiro CLI",
  root: {
    variable: "KIRO_HOME",
    home: ".kiro",
    folders: ["sessions"],
    others: [
      { variable: "XDG_DATA_HOME", folders: DATABASES },
      { home: ".local/share", folders: DATABASES },
      { home: "Library/Application Support", folders: DATABASES },
      // The third engine does not use the variable.
      { home: ".kiro", folders: ["sessions"] },
    ],
  },
  snapshots: kiroSnapshots,
  classify(path) {
    const [, log] = /^(.*(?:^|\/)cli\/[^/]+)\.jsonl$/.exec(path) ?? [];
    if (log !== undefined) return { kind: "session", side: `${log}.json` };
    const [, folder] = /^(.*(?:^|\/)(?:sess|cli)_[^/]+)\/messages\.jsonl$/.exec(path) ?? [];
    return folder === undefined ? undefined : { kind: "session", side: `${folder}/session.json` };
  },
  detect(head) {
    const [first] = firstRecords(head, 1);
    if (asText(first?.version) !== undefined && KINDS.test(asText(first?.kind) ?? ""))
      return asObject(first?.data) !== undefined || first?.kind === "Clear";
    const payload = asObject(first?.payload);
    if (payload !== undefined)
      return (
        asText(payload.type) !== undefined &&
        asText(first?.id) !== undefined &&
        asText(first?.timestamp) !== undefined
      );
    return isConversation(firstMembers(head));
  },
  reader: kiroReader,
});
