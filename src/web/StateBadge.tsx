import type { ReactNode } from "react";
import type { SessionStatus } from "../model/session.ts";
import { badgeOf, StatusBadge } from "./ui/StatusBadge.tsx";

/** The badge of a session or turn; beside that of one which a person stopped, the word. */
export function StateBadge({ status }: { status: SessionStatus }): ReactNode {
  if (status !== "interrupted") return <StatusBadge status={badgeOf(status)} />;
  return (
    <span className="stopped" title="A person stopped the last turn">
      <StatusBadge status={badgeOf(status)} /> <span>stopped</span>
    </span>
  );
}
