import { asNumber, asText } from "../../model/narrow.ts";
import { firstRecords } from "../conversation/head.ts";
import { outputFileIn } from "../conversation/output-file.ts";
import { folderOf } from "../conversation/paths.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { kimiReader } from "./reader.ts";

/** Kimi Code: `~/.kimi-code/sessions/<folder>/session_<id>/agents/<agent>/wire.jsonl`, and `state.json` of the session. */
export const kimi = recordLinesFormat({
  id: "kimi",
  name: "Kimi Code",
  root: { variable: "KIMI_CODE_HOME", home: ".kimi-code", folders: ["sessions"] },
  classify(path) {
    const [, agent] = /(?:^|\/)agents\/([^/]+)\/wire\.jsonl$/.exec(path) ?? [];
    if (agent === undefined) return undefined;
    if (agent !== "main") return { kind: "run" };
    return { kind: "session", side: path.replace(/agents\/main\/wire\.jsonl$/, "state.json") };
  },
  detect: (head) =>
    firstRecords(head).some(
      ({ type, protocol_version, created_at, time }) =>
        (type === "metadata" &&
          asText(protocol_version) !== undefined &&
          asNumber(created_at) !== undefined) ||
        (typeof type === "string" &&
          /^(?:turn\.prompt|profile\.bind|config\.update|context\.append_(?:message|loop_event)|llm\.request)$/.test(
            type,
          ) &&
          asNumber(time) !== undefined),
    ),
  outputFile: (session_path, recorded_path) => outputFileIn(`${folderOf(session_path)}/tasks`, recorded_path),
  reader: kimiReader,
});
