import { type ReactNode, useCallback } from "react";
import type { SessionSummary } from "../../../../model/session.ts";
import type { DiskReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { openSession } from "../../../app/open-session.ts";
import { useClient } from "../../../app/store.ts";
import { useLiveReply } from "../../../app/use-live-reply.ts";
import { exactNumber, shortDuration } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { useNow } from "../../../ui/use-now.ts";

/** Interval between two checks of a running session's file, in milliseconds. */
const REFRESH_MS = 1_000;

/** The lag of a running session behind its file: bytes, milliseconds, the newest record, and frames missing on this page. */
export function LagFacts({ row }: { row: SessionSummary }): ReactNode {
  const client = useClient();
  const isRunning = row.status === "running";
  const load = useCallback((signal: AbortSignal) => apiOf(client).disk(row.id, signal), [client, row.id]);
  const { value, problem } = useLiveReply(load, useNow(isRunning ? REFRESH_MS : undefined), REFRESH_MS / 2);
  if (problem !== undefined) return <p className="dialog-problem">{problem}</p>;
  if (value === undefined) return null;
  const { disk, now, newest_at } = value;
  return (
    <ul className="fact-list" aria-label={t.verify.lag}>
      {disk !== undefined && (
        <li>
          {disk.bytes_read >= disk.bytes
            ? t.verify.allRead(exactNumber(disk.bytes))
            : t.verify.behind(exactNumber(disk.bytes - disk.bytes_read), exactNumber(disk.bytes))}
        </li>
      )}
      {disk?.lag !== undefined && (
        <li>
          {disk.bytes_read >= disk.bytes
            ? t.verify.lastRead(exactNumber(Math.round(disk.lag)))
            : t.verify.waiting(exactNumber(Math.round(disk.lag)))}
        </li>
      )}
      {isRunning && <li>{t.verify.newest(shortDuration(Math.max(0, now - newest_at)))}</li>}
      <PageFact reply={value} session_id={row.id} />
    </ul>
  );
}

function PageFact({
  reply: { epoch, seq },
  session_id,
}: {
  reply: DiskReply;
  session_id: string;
}): ReactNode {
  const position = openSession(useClient(), session_id).position();
  if (position === undefined || position.epoch !== epoch) return null;
  const missing = Math.max(0, seq - position.seq);
  return <li>{missing === 0 ? t.verify.pageHasAll : t.verify.pageLacks(missing)}</li>;
}
