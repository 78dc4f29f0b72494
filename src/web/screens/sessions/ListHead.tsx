import type { ReactNode } from "react";
import { t } from "../../text/text.ts";

/** The names of the columns. */
export function ListHead(): ReactNode {
  const { heads } = t.sessions;
  return (
    <div className="list-head" aria-hidden="true">
      <div className="session-row">
        <span>{heads.state}</span>
        <span>{heads.session}</span>
        <span className="session-agent">{heads.agent}</span>
        <span className="session-model">{heads.model}</span>
        <span className="figure figure-turn">{heads.turns}</span>
        <span className="figure figure-tool">{heads.tools}</span>
        <span className="figure figure-error">{heads.errors}</span>
        <span className="figure figure-token">{heads.tokens}</span>
        <span className="session-time">{heads.active}</span>
      </div>
      <span className="session-runs">{heads.runs}</span>
    </div>
  );
}
