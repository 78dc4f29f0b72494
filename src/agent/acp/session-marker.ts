import type { HistoryEvent } from "../../model/messages/history.ts";
import { asNumber, asObject, asString } from "../../model/narrow.ts";

/** What a marker in the history says about the agent's own session, from there on. */
export interface AcpSession {
  /** The agent's own id of the session. */
  readonly id: string;
  /** The id of the session whose history has the marker. A fork has its parent's history but not its parent's session. */
  readonly session_id: string;
  /** Name and version of the agent, as it announced them. */
  readonly agent?: unknown;
  /** The agent's session is older than the marker. */
  readonly is_past?: boolean;
  /** Of a past session: what it has cost in USD, if the agent said so. */
  readonly cost?: number;
}

/** The `data` of the marker. */
export const sessionMark = (acp_session: AcpSession): { acp_session: AcpSession } => ({ acp_session });

/** Reads the marker. `undefined`: the event is another one. */
export function acpSessionOf(event: HistoryEvent): AcpSession | undefined {
  const marked = "data" in event ? asObject(asObject(event.data)?.acp_session) : undefined;
  const id = asString(marked?.id);
  const session_id = asString(marked?.session_id);
  if (id === undefined || session_id === undefined) return undefined;
  const cost = asNumber(marked?.cost);
  return {
    id,
    session_id,
    ...(marked?.is_past === true && { is_past: true }),
    ...(cost !== undefined && { cost }),
  };
}
