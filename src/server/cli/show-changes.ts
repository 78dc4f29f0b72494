import type { Ledger, LedgerFile } from "../../model/ledger/ledger.ts";
import { turnLedger } from "../../model/ledger/turn-ledger.ts";
import type { DiffHunk } from "../../model/parts/ui-extra.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

/**
 * The changes of a turn (from 1) or of all turns, as a unified diff with a summary, or as one line of JSON. `undefined`: the
 * session has no such turn.
 */
export function changesOf(transcript: Transcript, turn: number | "all", json: boolean): string | undefined {
  const ledger = turnLedger(transcript, turn);
  if (ledger === undefined) return undefined;
  const head = { session_id: transcript.session_id, turn };
  return json ? JSON.stringify({ ...head, ...ledger }) : textOf(ledger, head);
}

function textOf(ledger: Ledger, { session_id, turn }: { session_id: string; turn: number | "all" }): string {
  const { files, commits, pull_requests, not_seen } = ledger;
  const count = `${files.length} ${files.length === 1 ? "file" : "files"} changed`;
  return [
    `${session_id}, ${turn === "all" ? "all turns" : `turn ${turn}`}: ${count}`,
    ...files.map(summaryOf),
    ...commits.map(({ hash, branch, subject }) => `commit ${hash} on ${branch}: ${subject}`),
    ...pull_requests.map(({ url }) => `pull request ${url}`),
    ...not_seen.map(({ command }) => `not seen: ${command.split("\n", 1)[0]}`),
    ...files.filter(({ hunks }) => hunks.length > 0).map(diffOf),
  ].join("\n");
}

function summaryOf({ path, old_path, change, additions, deletions, hunks, is_net }: LedgerFile): string {
  const name = old_path === undefined ? path : `${old_path} → ${path}`;
  const size = hunks.length === 0 && !is_net ? "changes not recorded" : `+${additions} −${deletions}`;
  const hint = hunks.length === 0 || is_net ? "" : "  (edits in sequence, no net change known)";
  return `  ${change}  ${name}  ${size}${hint}`;
}

function diffOf({ path, old_path = path, change, hunks }: LedgerFile): string {
  const before = change === "create" ? "/dev/null" : `a/${old_path.replace(/^\//, "")}`;
  const after = change === "delete" ? "/dev/null" : `b/${path.replace(/^\//, "")}`;
  return [
    "",
    `--- ${before}`,
    `+++ ${after}`,
    ...hunks.flatMap((hunk) => [headOf(hunk), ...hunk.lines]),
  ].join("\n");
}

const headOf = ({ old_start, old_lines, new_start, new_lines }: DiffHunk): string =>
  `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`;
