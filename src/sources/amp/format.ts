import { asText, type JsonObject } from "../../model/narrow.ts";
import { firstMembers } from "../conversation/head.ts";
import { readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { ampReader } from "./reader.ts";
import { ampSessions } from "./stores.ts";

/** Amp: `~/.local/share/amp/threads/T-<id>.json`, a local copy of a thread on the server, rewritten at each change. */
export const amp = recordLinesFormat({
  id: "amp",
  name: "Amp",
  root: { variable: "XDG_DATA_HOME", home: ".local/share", folders: ["amp/threads"] },
  classify: () => undefined,
  detect: (head) => isThread(firstMembers(head)),
  snapshots: {
    storeOf: (path) => (/(?:^|\/)threads\/T-[^/]+\.json$/.test(path) ? path : undefined),
    recognizes(store) {
      const thread = readDocument(store, store.path)?.value;
      return isThread(thread) && Array.isArray(thread?.messages);
    },
    sessions: ampSessions,
  },
  reader: ampReader,
});

const isThread = (value: JsonObject | undefined): boolean =>
  /^T-[0-9A-Za-z-]+$/.test(asText(value?.id) ?? "") && typeof value?.created === "number";
