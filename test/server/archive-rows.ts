import { emptySummary } from "../../src/model/transcript/summarize.ts";
import type { StoredFile, StoredSession } from "../../src/store/archive/contract.ts";

const ID = "0b6e5a52-6d0e-4f5a-8f5d-0c2f3c1d9e01";

/** A row with every field. */
export const file: StoredFile = {
  id: 1,
  path: "/home/mara/.agent/sessions/one.jsonl",
  format: "frames",
  kind: "session",
  side: "/home/mara/.agent/sessions/one.meta.json",
  side_stamp: "7:12:5",
  side_text: "{}",
  inode: "66306:18446744073709551615",
  size: 7_000_000_000,
  modified_at: 1_790_000_000_000.123,
  head: "aa",
  head_length: 1024,
  tail: "bb",
  gone: false,
};
export const session: StoredSession = {
  id: ID,
  file_id: 1,
  summary: { ...emptySummary(ID, "frames", 5), title: "Tides", parts: 3 },
  open_calls: [{ id: "call-1", name: "Bash" }],
  facts: { session_id: ID, group: ID, calls: [] },
};
