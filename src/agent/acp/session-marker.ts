import type { HistoryEvent } from "../../model/messages/history.ts";
import { asNumber, asObject, asString } from "../../model/narrow.ts";

/** A marker in the history that identifies the agent's own session from there on. */
export interface AcpSession {
  /** The agent's own id of the session. */
  readonly id: string;
  /**
   * The id of Verbatim's session. A fork's history contains its parent's marker; this id shows that the agent's session is not
   * the fork's own.
   */
  readonly session_id: string;
  /** Name and version of the agent, as it announced them. */
  readonly agent?: unknown;
  /** Whether the agent's session had a history before the marker. */
  readonly is_past?: boolean;
  /** The cost of a past session in USD, if the agent reported it. */
  readonly cost?: number;
}

/** The `data` of the marker. */
export const sessionMark = (acp_session: AcpSession): { acp_session: AcpSession } => ({ acp_session });

/** Reads the marker; `undefined`: the event is not such a marker. */
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
