import { type ReactNode, useCallback, useMemo } from "react";
import type { ComparedPart, ComparedSide } from "../../../../model/compare/compare.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import type { CompareReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { exactTime } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { sessionTitle } from "../../sessions/session-list.ts";
import { candidatesOf } from "./compare-candidates.ts";
import { useReply } from "./use-reply.ts";

interface Props {
  row: SessionSummary;
  /** The other session; absent: none is chosen yet. */
  other: string | undefined;
  onOther(session_id: string): void;
  onClose(): void;
}

/** Two sessions side by side, from the first part on in which they differ. */
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
  const client = useClient();
  const api = apiOf(client);
  const load = useCallback((signal: AbortSignal) => api.compare(row.id, other, signal), [api, row.id, other]);
  const { value, isLoading, problem } = useReply(load);
  const title = client.rows.getState().byId.get(other);
  return (
    <>
      <div aria-live="polite">
        {isLoading && <p className="dialog-note">{t.changes.loading}</p>}
        {problem !== undefined && <p className="dialog-problem">{problem}</p>}
        {value !== undefined && <p>{summaryOf(value)}</p>}
      </div>
      {value !== undefined && (
        <div className="compare-sides">
          <Side side={value.left} title={sessionTitle(row)} same={value.same}>
            {(part) => (
              <a href={sessionHref(row.id, `part-${part}`)} onClick={onClose}>
                {t.compare.toPart}
              </a>
            )}
          </Side>
          <Side
            side={value.right}
            title={title === undefined ? other : sessionTitle(title)}
            same={value.same}
          >
            {(part) => (
              <a href={sessionHref(other, `part-${part}`)} onClick={onClose}>
                {t.compare.toPart}
              </a>
            )}
          </Side>
        </div>
      )}
    </>
  );
}

function summaryOf({ same, last_same, left, right }: CompareReply): string {
  if (same === left.parts && same === right.parts) return t.compare.equal(same);
  if (last_same === undefined) return t.compare.different;
  return t.compare.same(same, last_same.turn + 1, last_same.step);
}

function Side({
  side: { parts, rest },
  title,
  same,
  children,
}: {
  side: ComparedSide;
  title: string;
  same: number;
  /** The link to a part. */
  children(part_id: string): ReactNode;
}): ReactNode {
  return (
    <section aria-label={title}>
      <h3>{visible(title, "name")}</h3>
      {rest.length === 0 ? (
        <p className="dialog-note">{t.compare.ends}</p>
      ) : (
        <ol className="compare-parts">
          {rest.map((part) => (
            <li key={part.part_id}>
              <span className="compare-kind">{nameOf(part)}</span> {children(part.part_id)}
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
