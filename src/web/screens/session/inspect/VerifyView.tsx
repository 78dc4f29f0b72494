import { type ReactNode, useCallback } from "react";
import type { SessionSummary } from "../../../../model/session.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { exactNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { byteSize } from "../../../ui/size.ts";
import { useReply } from "./use-reply.ts";

/** Whether what is shown is what the record says, read anew from its beginning. */
export function VerifyView({ row, onClose }: { row: SessionSummary; onClose(): void }): ReactNode {
  const api = apiOf(useClient());
  const load = useCallback((signal: AbortSignal) => api.verify(row.id, signal), [api, row.id]);
  const { value, isLoading, problem } = useReply(load);
  return (
    <>
      <div aria-live="polite">
        {isLoading && <p className="dialog-note">{t.verify.reading}</p>}
        {problem !== undefined && <p className="dialog-problem">{problem}</p>}
        {value !== undefined && (
          <p>
            <strong>
              {value.difference === undefined
                ? t.verify.equal(exactNumber(value.shown))
                : t.verify.differs(exactNumber(value.shown), exactNumber(value.reread))}
            </strong>{" "}
            {value.difference !== undefined && (
              <a href={sessionHref(row.id, `part-${value.difference.part_id}`)} onClick={onClose}>
                {t.verify.first(exactNumber(value.difference.index + 1))}
              </a>
            )}
          </p>
        )}
      </div>
      {value !== undefined && (
        <ul className="fact-list">
          <li>{t.verify.shown(value.digest_shown)}</li>
          <li>{t.verify.reread(value.digest_reread)}</li>
          {row.file !== undefined && (
            <li>
              {t.verify.record} {visible(row.file, "name")} ({byteSize(row.byte_size)}
              {row.archived === true && <>, {t.verify.archived}</>})
            </li>
          )}
        </ul>
      )}
      <p className="dialog-note">{t.verify.about}</p>
    </>
  );
}
