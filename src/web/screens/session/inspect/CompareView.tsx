import { type ReactNode, useCallback, useMemo } from "react";
import type { ComparedPart, ComparedSide } from "../../../../model/compare/compare.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import type { CompareReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { useClient, useRow } from "../../../app/store.ts";
import { exactTime } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { candidatesOf } from "./compare-candidates.ts";
import { ReplyView } from "./ReplyView.tsx";

interface Props {
  row: SessionSummary;
  /** The other session. Absent: none is selected. */
  other: string | undefined;
  onOther(session_id: string): void;
  onClose(): void;
}

/** Shows two sessions side by side, starting at their first difference. */
export function CompareView({ row, other, onOther, onClose }: Props): ReactNode {
  const { rows } = useClient();
  const candidates = useMemo(() => candidatesOf(rows.getState().byId.values(), row), [rows, row]);
  const chosen = other ?? candidates[0]?.id;
  if (chosen === undefined) return <p>{t.compare.none}</p>;
  return (
    <>
      <p>
        <label>
          {t.compare.with}{" "}
          <select className="compare-choice" value={chosen} onChange={({ target }) => onOther(target.value)}>
            {candidates.map((each) => (
              <option key={each.id} value={each.id}>
                {`${exactTime(each.started_at ?? each.last_activity_at)} · ${sessionTitle(each)}`}
              </option>
            ))}
          </select>
        </label>
      </p>
      <Comparison key={chosen} row={row} other={chosen} onClose={onClose} />
    </>
  );
}

function Comparison({
  row,
  other,
  onClose,
}: {
  row: SessionSummary;
  other: string;
  onClose(): void;
}): ReactNode {
  const api = apiOf(useClient());
  const load = useCallback((signal: AbortSignal) => api.compare(row.id, other, signal), [api, row.id, other]);
  const other_row = useRow(other);
  return (
    <ReplyView load={load}>
      {(reply) => (
        <>
          <p>{summaryOf(reply)}</p>
          <div className="compare-sides">
            <Side side={reply.left} session_id={row.id} row={row} same={reply.same} onClose={onClose} />
            <Side side={reply.right} session_id={other} row={other_row} same={reply.same} onClose={onClose} />
          </div>
        </>
      )}
    </ReplyView>
  );
}

function summaryOf({ same, last_same, left, right }: CompareReply): string {
  if (same === left.parts && same === right.parts) return t.compare.equal(same);
  if (last_same === undefined) return t.compare.different;
  return t.compare.same(same, last_same.turn + 1, last_same.step);
}

function Side({
  side: { parts, rest },
  session_id,
  row,
  same,
  onClose,
}: {
  side: ComparedSide;
  session_id: string;
  row: SessionSummary | undefined;
  same: number;
  onClose(): void;
}): ReactNode {
  const title = row === undefined ? session_id : sessionTitle(row);
  return (
    <section aria-label={title}>
      <h3>{visible(title, "name")}</h3>
      {rest.length === 0 ? (
        <p className="dialog-note">{t.compare.ends}</p>
      ) : (
        <ol className="compare-parts">
          {rest.map((part) => (
            <li key={part.part_id}>
              <span className="compare-kind">{nameOf(part)}</span>{" "}
              <a href={sessionHref(session_id, `part-${part.part_id}`)} onClick={onClose}>
                {t.compare.toPart}
              </a>
              <div className="compare-text">{visible(part.preview, "prose")}</div>
            </li>
          ))}
        </ol>
      )}
      {same + rest.length < parts && (
        <p className="dialog-note">{t.compare.more(parts - same - rest.length)}</p>
      )}
    </section>
  );
}

const nameOf = ({ turn, step, kind, tool, status }: ComparedPart): string =>
  [
    t.compare.place(turn + 1, step),
    tool === undefined ? t.search.kinds[kind] : `${t.search.kinds[kind]} ${tool}`,
    ...(status === undefined || status === "ok" ? [] : [t.search.statuses[status]]),
  ].join(" · ");
