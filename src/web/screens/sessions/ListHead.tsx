import type { ReactNode } from "react";
import { useSetting } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import { sortOf } from "./list-sort.ts";
import { SortHead } from "./SortHead.tsx";

/** The column headers. Those of numbers and times sort the sessions within each group. */
export function ListHead(): ReactNode {
  const [sort] = useSetting("sort");
  const { by, up } = sortOf(sort);
  const { heads } = t.sessions;
  return (
    <div className="list-head">
      <div className="session-row">
        <span aria-hidden="true">{heads.state}</span>
        <span aria-hidden="true">{heads.session}</span>
        <span aria-hidden="true" className="session-agent">
          {heads.agent}
        </span>
        <span aria-hidden="true" className="session-model">
          {heads.model}
        </span>
        <SortHead column="turns" className="session-figure session-figure-turn" />
        <SortHead column="tools" className="session-figure" />
        <SortHead column="errors" className="session-figure" />
        <SortHead column="tokens" className="session-figure session-figure-token" />
        <SortHead column="active" className="session-time" />
      </div>
      <span aria-hidden="true" className="session-runs">
        {heads.runs}
      </span>
      <span className="unseen" role="status">
        {by === undefined ? "" : t.sessions.sortedBy(heads[by], up)}
      </span>
    </div>
  );
}
