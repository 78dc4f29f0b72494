import type { ReactNode } from "react";
import type { StatusReply } from "../../../protocol.ts";
import { NEW_SESSION } from "../../app/router.ts";
import { noticeText } from "../../text/daemon-text.ts";
import { t } from "../../text/text.ts";
import { byteSize } from "../../ui/size.ts";

function line(notice: StatusReply["notices"][number]): ReactNode {
  const { level } = notice;
  const { text, remedy } = noticeText(notice);
  return (
    <p key={text} className={`notice notice-${level}`} role={level === "error" ? "alert" : "status"}>
      <strong>{text}</strong> {remedy}
    </p>
  );
}

/** Notices that affect how complete the list is: the daemon's notices, and an unfinished index. */
export function Notices({
  status,
  onlySamples,
}: {
  status: StatusReply | undefined;
  /** Only sample sessions are listed. */
  onlySamples: boolean;
}): ReactNode {
  const index = status?.index;
  const places = status?.notices.filter(({ unread }) => unread) ?? [];
  const folds = places.length > 1;
  return (
    <div className="notices">
      {onlySamples && (
        <p className="notice notice-info notice-samples">
          {t.sessions.onlySamples} <a href={NEW_SESSION}>{t.sessions.startOne}</a> · {t.sessions.otherFolders}{" "}
          <code>npm start -- PATH</code>
        </p>
      )}
      {status?.notices.map((notice) => !(folds && notice.unread) && line(notice))}
      {folds && (
        <details className="notice">
          <summary>{t.sessions.unreadable(places.length)}</summary>
          {places.map(line)}
        </details>
      )}
      {index?.done === false && (
        <p className="notice notice-info">
          <label>
            {`${t.sessions.indexingFiles(index.files_done, index.files_found, byteSize(index.bytes_done), byteSize(index.bytes_found))} `}
            <progress value={index.bytes_done} max={Math.max(1, index.bytes_found)} />
          </label>
        </p>
      )}
    </div>
  );
}
