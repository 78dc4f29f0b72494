import { type ReactNode, useCallback } from "react";
import type { PartDifference } from "../../../../model/compare/verify.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import { apiOf } from "../../../api/api.ts";
import { openSession } from "../../../app/open-session.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { exactNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { byteSize } from "../../../ui/size.ts";
import { LagFacts } from "./LagFacts.tsx";
import { ReplyView } from "./ReplyView.tsx";
import { type PageVerification, verifyWithPage } from "./verify-page.ts";

/** Reads the record again, compares it with the parts of the daemon and of this page, and shows how far they lag behind. */
export function VerifyView({ row, onClose }: { row: SessionSummary; onClose(): void }): ReactNode {
  const client = useClient();
  const load = useCallback(
    (signal: AbortSignal) => verifyWithPage(apiOf(client), openSession(client, row.id), signal),
    [client, row.id],
  );
  return (
    <>
      <LagFacts row={row} />
      <ReplyView load={load} loading={t.verify.reading}>
        {(verified) => <Verified row={row} verified={verified} onClose={onClose} />}
      </ReplyView>
      <p className="dialog-note">{t.verify.about}</p>
    </>
  );
}

function Verified({
  row,
  verified: { reply, page },
  onClose,
}: {
  row: SessionSummary;
  verified: PageVerification;
  onClose(): void;
}): ReactNode {
  return (
    <>
      <p>
        <strong>
          {reply.difference === undefined
            ? t.verify.equal(exactNumber(reply.shown))
            : t.verify.differs(exactNumber(reply.shown), exactNumber(reply.reread))}
        </strong>
      </p>
      {reply.difference !== undefined && (
        <Difference session_id={row.id} difference={reply.difference} onClose={onClose} />
      )}
      <p>
        <strong>
          {page === undefined
            ? t.verify.noPage
            : page.difference === undefined
              ? t.verify.pageEqual(exactNumber(page.loaded), exactNumber(page.all))
              : t.verify.pageDiffers}
        </strong>
      </p>
      {page?.difference !== undefined && (
        <Difference session_id={row.id} difference={page.difference} onClose={onClose} />
      )}
      <ul className="verify-digests">
        <li>{t.verify.shown(reply.digest_shown)}</li>
        <li>{t.verify.reread(reply.digest_reread)}</li>
        {page !== undefined && (
          <>
            <li>{t.verify.page(page.digest)}</li>
            <li>{t.verify.expected(page.expected)}</li>
          </>
        )}
        {row.file !== undefined && (
          <li>
            {t.verify.record} {visible(row.file, "name")} ({byteSize(row.byte_size)}
            {row.archived === true && <>, {t.verify.archived}</>})
          </li>
        )}
      </ul>
    </>
  );
}

/** The first part that differs: both values, and the position of its record. */
function Difference({
  session_id,
  difference: { index, part_id, shown, reread, place },
  onClose,
}: {
  session_id: string;
  difference: PartDifference;
  onClose(): void;
}): ReactNode {
  return (
    <section className="verify-difference" aria-label={t.verify.first(exactNumber(index + 1))}>
      <p>
        <a href={sessionHref(session_id, `part-${part_id}`)} onClick={onClose}>
          {t.verify.first(exactNumber(index + 1))}
        </a>
        {place !== undefined && <> {visible(place, "name")}</>}
      </p>
      <dl>
        <dt>{t.verify.isShown}</dt>
        <dd>{shown === undefined ? t.verify.missing : <code>{visible(shown, "name")}</code>}</dd>
        <dt>{t.verify.isRecorded}</dt>
        <dd>{reread === undefined ? t.verify.missing : <code>{visible(reread, "name")}</code>}</dd>
      </dl>
    </section>
  );
}
