import { type ReactNode, useCallback } from "react";
import type { LedgerEdit } from "../../../../model/ledger/ledger.ts";
import type { ChangesReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { Diff, DiffCounts } from "../../../code/Diff.tsx";
import { t } from "../../../text/text.ts";
import { shortPath } from "../../../transcript/tool-cards/card.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { TurnReplyView } from "./ReplyView.tsx";
import "./changes.css";

/** Up to this number of files, all are initially expanded. */
const MAX_OPEN_FILES = 5;

interface Props {
  session_id: string;
  /** The working folder. Paths below it are shown relative to it. */
  cwd: string | undefined;
  /** The turn, counted from 1. `undefined`: all turns. */
  turn: number | undefined;
  onTurn(turn: number | undefined): void;
  onClose(): void;
}

/** Changes of a turn or a session: net diffs by file, commits, and commands that may have changed files. */
export function ChangesView({ session_id, cwd, turn, onTurn, onClose }: Props): ReactNode {
  const api = apiOf(useClient());
  const load = useCallback(
    (signal: AbortSignal) => api.changes(session_id, turn, signal),
    [api, session_id, turn],
  );
  return (
    <TurnReplyView load={load} turn={turn} onTurn={onTurn}>
      {(changes) => <Changes session_id={session_id} cwd={cwd} changes={changes} onClose={onClose} />}
    </TurnReplyView>
  );
}

function Changes({
  session_id,
  cwd,
  changes: { files, commits, pull_requests, not_seen },
  onClose,
}: {
  session_id: string;
  cwd: string | undefined;
  changes: ChangesReply;
  onClose(): void;
}): ReactNode {
  const link = (part_id: string, text: ReactNode): ReactNode => (
    <a href={sessionHref(session_id, `part-${part_id}`)} onClick={onClose}>
      {text}
    </a>
  );
  const isEmpty = files.length + commits.length + pull_requests.length + not_seen.length === 0;
  if (isEmpty) return <p>{t.changes.none}</p>;
  return (
    <>
      {commits.map(({ call_id, hash, branch, subject }) => (
        <p key={hash}>
          {t.changes.commit} {link(call_id, <code>{hash}</code>)} ({visible(branch, "name")}):{" "}
          {visible(subject, "prose")}
        </p>
      ))}
      {pull_requests.map(({ call_id, url }) => (
        <p key={url}>
          {t.changes.pullRequest} {link(call_id, visible(url, "name"))}
        </p>
      ))}
      <h3>{t.changes.files(files.length)}</h3>
      {files.map((file, index) => (
        <details key={`${index} ${file.path}`} className="changed-file" open={index < MAX_OPEN_FILES}>
          <summary>
            <code className="changed-path" title={file.path}>
              {file.old_path !== undefined && <>{visible(shortPath(file.old_path, cwd), "name")} → </>}
              {visible(shortPath(file.path, cwd), "name")}
            </code>{" "}
            <span className="changed-kind">{t.changes.kinds[file.change]}</span>{" "}
            <DiffCounts additions={file.additions} deletions={file.deletions} />
          </summary>
          {!file.is_net && file.hunks.length > 0 && <p className="dialog-note">{t.changes.notNet}</p>}
          {file.is_cut === true ? (
            <p className="dialog-note">{t.changes.cut}</p>
          ) : file.hunks.length === 0 ? (
            <p className="dialog-note">{file.is_net ? t.changes.sameText : t.changes.notRecorded}</p>
          ) : (
            <Diff hunks={file.hunks} path={file.path} label={t.diff.of(file.path)} />
          )}
          <p className="changed-edits">
            {t.changes.edits}{" "}
            {file.edits.map((edit, at) => (
              <span key={`${at} ${edit.call_id}`}>
                {link(edit.call_id, t.changes.edit(at + 1))}
                {thoughtOf(edit, link)}{" "}
              </span>
            ))}
          </p>
        </details>
      ))}
      {not_seen.length > 0 && (
        <details>
          <summary>{t.changes.notSeen(not_seen.length)}</summary>
          <ul className="card-list">
            {not_seen.map(({ call_id, command }) => (
              <li key={call_id}>
                {link(call_id, <code>{visible(command.split("\n", 1)[0] ?? "", "name")}</code>)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const thoughtOf = (
  { thought_id }: LedgerEdit,
  link: (part_id: string, text: ReactNode) => ReactNode,
): ReactNode => (thought_id === undefined ? null : <> ({link(thought_id, t.changes.thought)})</>);
