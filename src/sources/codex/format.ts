import { asString, asText } from "../../model/narrow.ts";
import type { Format } from "../contract.ts";
import { createLineReader } from "../lines/lines.ts";
import { CodexReader } from "./reader.ts";

const RECORD =
  /"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted|token_usage_record)"/;
const LEGACY_META =
  /^\s*\{"id"\s*:\s*"[^"]+"\s*,\s*"timestamp"\s*:\s*"[^"]+"\s*,\s*"(?:instructions|git|cwd|originator)"/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Codex CLI's rollout files, from the bare lines of 2025 to the paginated history of 0.169. */
export const codex: Format = {
  id: "codex",
  name: "Codex",
  root: { variable: "CODEX_HOME", home: ".codex", folders: ["sessions", "archived_sessions"] },
  registry: {
    folder: "thread-writer-locks",
    read(name) {
      const session_id = UUID.exec(name)?.[0];
      return session_id === undefined ? undefined : { session_id, locked: true };
    },
  },
  titles: { file: "session_index.jsonl", read: readTitles },
  classify(path) {
    const name = path.split("/").at(-1) ?? "";
    return /^rollout-.+\.jsonl(?:\.zst)?$/.test(name) ? { kind: "session" } : undefined;
  },
  detect(head) {
    const text = new TextDecoder().decode(head);
    if (!/^﻿?\s*\{/.test(text)) return false;
    return (RECORD.test(text) && /"payload"\s*:/.test(text)) || LEGACY_META.test(text);
  },
  createReader: (options) => new CodexReader(options),
};

/** Reads thread titles, one line per naming: `{id, thread_name, updated_at}`. The last one wins. */
function readTitles(text: string): Map<string, string> {
  const titles = new Map<string, string>();
  for (const record of createLineReader().push(new TextEncoder().encode(`${text}\n`))) {
    const id = asText(record.value?.id);
    const name = asString(record.value?.thread_name)?.trim();
    if (id === undefined || name === undefined) continue;
    if (name === "") titles.delete(id);
    else titles.set(id, name);
  }
  return titles;
}
