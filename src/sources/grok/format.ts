import { asObject } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { grokReader } from "./reader.ts";

/** xAI's Grok CLI: `~/.grok/sessions/<folder>/<id>/chat_history.jsonl`, with `summary.json` in the same folder. */
export const grok = recordLinesFormat({
  id: "grok",
  name: "Grok",
  root: { variable: "GROK_HOME", home: ".grok", folders: ["sessions"] },
  classify: (path) =>
    /(?:^|\/)chat_history\.jsonl$/.test(path)
      ? { kind: "session", side: path.replace(/chat_history\.jsonl$/, "summary.json") }
      : undefined,
  detect: (head) =>
    firstRecords(head).some(
      (record) =>
        (record.type === "user" && ("prompt_index" in record || "synthetic_reason" in record)) ||
        (record.type === "assistant" && ("model_fingerprint" in record || "reasoning_effort" in record)) ||
        (record.type === "backend_tool_call" && asObject(record.kind) !== undefined),
    ),
  reader: grokReader,
});
