import type { DiffHunk, FileDiff } from "../parts/ui-extra.ts";
import type { TranscriptPart, TranscriptPartOf } from "../transcript/transcript.ts";
import { composeHunks } from "./compose-hunks.ts";
import { mayChangeFiles } from "./shell-commands.ts";

/** An edit of a file: the call that made it and the preceding thought. */
export interface LedgerEdit {
  call_id: string;
  thought_id?: string;
  diff: FileDiff;
}

/** The changes to one file in one or several turns. */
export interface LedgerFile {
  path: string;
  /** The path before the first edit, if the file was moved. */
  old_path?: string;
  change: FileDiff["change"];
  /** Number of lines in `hunks`. */
  additions: number;
  deletions: number;
  /** The net change from the text before the first edit to the text after the last one. */
  hunks: readonly DiffHunk[];
  /**
   * Whether the change is a net change. `false`: the record lacks an edit's text or position, and `hunks` lists the recorded
   * edits in order.
   */
  is_net: boolean;
  edits: readonly LedgerEdit[];
}

export interface LedgerCommit {
  call_id: string;
  hash: string;
  branch: string;
  subject: string;
}

/** The changes of a turn, of several turns, or of a session. */
export interface Ledger {
  /** In order of first edit. Files that were created and deleted again are omitted. */
  files: readonly LedgerFile[];
  commits: readonly LedgerCommit[];
  pull_requests: readonly { call_id: string; url: string }[];
  /** Commands that may have changed files that the record does not name. */
  not_seen: readonly { call_id: string; command: string }[];
}

/**
 * Collects the changes made by the calls among these parts. Only calls with a successful result count, and retracted parts do
 * not.
 */
export function ledgerOf(parts: Iterable<TranscriptPart | undefined>): Ledger {
  const edited: LedgerEdit[][] = [];
  /** The edits of the file that is now at a path. */
  const editsAt = new Map<string, LedgerEdit[]>();
  const commits: LedgerCommit[] = [];
  const pull_requests: { call_id: string; url: string }[] = [];
  const not_seen: { call_id: string; command: string }[] = [];
  const calls = new Map<string, { id: string; thought_id?: string }>();
  let thought_id: string | undefined;
  for (const part of parts) {
    if (part === undefined || part.retracted !== undefined) continue;
    if (part.type === "prompt" && part.queued !== true) thought_id = undefined;
    else if (part.type === "thinking") thought_id = part.id;
    else if (part.type === "tool_call")
      calls.set(part.tool_call_id, { id: part.id, ...(thought_id !== undefined && { thought_id }) });
    else if (part.type === "tool_result") {
      const call = calls.get(part.tool_call_id) ?? { id: part.id };
      if (part.ui_extra?.type === "shell") addShell(part, call.id, part.ui_extra.command ?? "");
      else if (part.ui_extra?.type === "diff" && part.status === "success") {
        for (const diff of part.ui_extra.files) {
          const edit = {
            call_id: call.id,
            ...(call.thought_id !== undefined && { thought_id: call.thought_id }),
            diff,
          };
          addEdit(edit);
        }
      }
    }
  }

  function addEdit(edit: LedgerEdit): void {
    const { path, change, new_path } = edit.diff;
    let edits = editsAt.get(path);
    if (edits === undefined) {
      edits = [];
      edited.push(edits);
      editsAt.set(path, edits);
    }
    edits.push(edit);
    if (change === "move" && new_path !== undefined) {
      editsAt.delete(path);
      editsAt.set(new_path, edits);
    }
  }

  function addShell(result: TranscriptPartOf<"tool_result">, call_id: string, command: string): void {
    if (result.status === "aborted") return;
    const committed = commitIn(command, result);
    const url = pullRequestIn(command, result);
    if (committed !== undefined) commits.push({ call_id, ...committed });
    if (url !== undefined) pull_requests.push({ call_id, url });
    if (committed === undefined && url === undefined && mayChangeFiles(command))
      not_seen.push({ call_id, command });
  }

  const files = edited.map(fileOf).filter((file) => file !== undefined);
  return { files, commits, pull_requests, not_seen };
}

/** `undefined`: there is no net change. */
function fileOf(edits: readonly LedgerEdit[]): LedgerFile | undefined {
  const kinds = edits.map(({ diff }) => diff.change);
  const isNew = kinds[0] === "create";
  const isGone = kinds.at(-1) === "delete";
  if (isNew && isGone) return undefined;
  const all = edits.map(({ diff }) => diff.hunks);
  const net = edits.every(hasText) ? composeHunks(all, { isNew }) : undefined;
  const hunks = net ?? all.flat();
  const count = (sign: string) =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
  const moved = edits.findLast(({ diff }) => diff.change === "move")?.diff.new_path;
  const old_path = edits[0]?.diff.path ?? "";
  return {
    path: moved ?? old_path,
    ...(moved !== undefined && !isNew && { old_path }),
    change: isGone ? "delete" : isNew ? "create" : moved !== undefined ? "move" : "update",
    additions: count("+"),
    deletions: count("-"),
    hunks,
    is_net: net !== undefined,
    edits,
  };
}

/** Some records contain only the names of changed files. */
const hasText = ({ diff: { change, hunks } }: LedgerEdit): boolean =>
  hunks.length > 0 || change === "create" || change === "move";

/** Git's output for a commit: `[main 1a2b3c4] Subject`. */
const COMMIT = /^\[([^\s\]]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+)$/m;

function commitIn(command: string, { output_text, status }: TranscriptPartOf<"tool_result">) {
  if (status !== "success" || !/\bgit\b[^\n;&|]*\bcommit\b/.test(command)) return undefined;
  const [, branch, hash, subject] = COMMIT.exec(output_text) ?? [];
  return branch === undefined || hash === undefined || subject === undefined
    ? undefined
    : { branch, hash, subject };
}

/** The URL that `gh pr create` and `glab mr create` print. */
const PULL_REQUEST = /https?:\/\/[^\s/]+\/\S+\/(?:pull|merge_requests)\/\d+/;

function pullRequestIn(command: string, { output_text, status }: TranscriptPartOf<"tool_result">) {
  if (status !== "success" || !/\b(?:gh\s+pr|glab\s+mr)\s+create\b/.test(command)) return undefined;
  return PULL_REQUEST.exec(output_text)?.[0];
}
