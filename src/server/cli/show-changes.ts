import { type Ledger, type LedgerFile, ledgerOf } from "../../model/ledger/ledger.ts";
import type { DiffHunk } from "../../model/parts/ui-extra.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

/** What a turn (from 1) or all turns of a session changed, as a unified diff with a summary, or as one line of JSON. */
export function changesOf(transcript: Transcript, turn: number | "all", json: boolean): string {
  const ledger = ledgerOf(turn === "all" ? transcript.parts : partsOfTurn(transcript, turn));
  const head = { session_id: transcript.session_id, turn };
  return json ? JSON.stringify({ ...head, ...ledger }) : textOf(ledger, head);
}

function* partsOfTurn({ turns, parts }: Transcript, number: number) {
  const turn = turns.at(number - 1);
  if (turn === undefined) return;
  for (let at = 0; at < turn.part_count; at += 1) yield parts.at(turn.first_part + at);
}

function textOf(ledger: Ledger, { session_id, turn }: { session_id: string; turn: number | "all" }): string {
  const { files, commits, pull_requests, not_seen } = ledger;
  const count = `${files.length} ${files.length === 1 ? "file" : "files"} changed`;
  return [
    `${session_id}, ${turn === "all" ? "all turns" : `turn ${turn}`}: ${count}`,
    ...files.map(
      ({ path, change, additions, deletions, is_net }) =>
        `  ${change}  ${path}  +${additions} −${deletions}${is_net ? "" : "  (edits in sequence, no net change known)"}`,
    ),
    ...commits.map(({ hash, branch, subject }) => `commit ${hash} on ${branch}: ${subject}`),
    ...pull_requests.map(({ url }) => `pull request ${url}`),
    ...not_seen.map(({ command }) => `not seen: ${command.split("\n", 1)[0]}`),
    ...files.map(diffOf),
  ].join("\n");
}

function diffOf({ path, change, hunks }: LedgerFile): string {
  const name = path.replace(/^\//, "");
  const before = change === "create" ? "/dev/null" : `a/${name}`;
  const after = change === "delete" ? "/dev/null" : `b/${name}`;
  return [
    "",
    `--- ${before}`,
    `+++ ${after}`,
    ...hunks.flatMap((hunk) => [headOf(hunk), ...hunk.lines]),
  ].join("\n");
}

const headOf = ({ old_start, old_lines, new_start, new_lines }: DiffHunk): string =>
  `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`;
