import type { ReactNode } from "react";
import type { SessionStatus } from "../model/session.ts";
import { StatusBadge } from "./ui/StatusBadge.tsx";

/** The badge of a session or turn. One that a person stopped did what it should: `[OK]`, and says that it was stopped. */
export function StateBadge({ status }: { status: SessionStatus }): ReactNode {
  switch (status) {
    case "running":
      return <StatusBadge status="running" />;
    case "completed":
      return <StatusBadge status="ok" />;
    case "failed":
      return <StatusBadge status="failed" />;
    case "interrupted":
      return (
        <span className="stopped" title="A person stopped the last turn">
          <StatusBadge status="ok" /> <span>stopped</span>
        </span>
      );
  }
  return status satisfies never;
}
