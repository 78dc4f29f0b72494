import { useCallback, useEffect, useRef, useState } from "react";
import type { PastSession, PastSessionsReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import type { ApiFailure } from "../../api/requests.ts";
import { newId } from "../../app/new-id.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";

/** The past sessions of an agent, as far as they are loaded. */
export interface PastSessions {
  /** Absent: the first page is loading, or could not be loaded. */
  reply: PastSessionsReply | undefined;
  isLoading: boolean;
  /** Why the last request failed. `isFinal`: a repeat would fail too. */
  problem: { text: string; isFinal: boolean } | undefined;
  /** The agent's id of the session that is being opened. */
  opening: string | undefined;
  /** Loads the first page, or after it the next one. */
  load(): void;
  /** Opens a session, and goes to it. */
  open(session: PastSession): void;
}

function problemOf(failure: ApiFailure): PastSessions["problem"] {
  const isFinal = failure.code === "refused" && failure.reason === "no_list";
  return { text: failureText(failure), isFinal };
}

/** `cwd`: only sessions of that folder. The agent's program is stopped when the component is unmounted while it loads. */
export function usePastSessions(agent: string, cwd: string | undefined): PastSessions {
  const api = apiOf(useClient());
  const [reply, setReply] = useState<PastSessionsReply>();
  const [isLoading, setLoading] = useState(true);
  const [problem, setProblem] = useState<PastSessions["problem"]>();
  const [opening, setOpening] = useState<string>();
  const leaving = useRef(new AbortController());

  const fetchPage = useCallback(
    async (before: PastSessionsReply | undefined): Promise<void> => {
      const { signal } = leaving.current;
      setLoading(true);
      setProblem(undefined);
      const cursor = before?.next;
      const by = { ...(cwd !== undefined && { cwd }), ...(cursor !== undefined && { cursor }) };
      const answer = await api.pastSessions(agent, by, signal);
      if (signal.aborted) return;
      setLoading(false);
      if (!answer.ok) setProblem(problemOf(answer.failure));
      else setReply({ ...answer.value, sessions: [...(before?.sessions ?? []), ...answer.value.sessions] });
    },
    [api, agent, cwd],
  );
  useEffect(() => {
    leaving.current = new AbortController();
    setReply(undefined);
    void fetchPage(undefined);
    return () => leaving.current.abort();
  }, [fetchPage]);

  const openNew = async ({ id, cwd: folder, title }: PastSession): Promise<void> => {
    const { signal } = leaving.current;
    setOpening(id);
    setProblem(undefined);
    // A repeat after a lost reply opens the same session, by the agent's id.
    const session = { session_id: newId(), id, cwd: folder, ...(title !== undefined && { title }) };
    const answer = await api.openPastSession(agent, session);
    // Who has left finds it in the list of sessions.
    if (signal.aborted) return;
    setOpening(undefined);
    if (answer.ok) navigate(sessionHref(answer.value.session_id));
    else setProblem(problemOf(answer.failure));
  };

  return {
    reply,
    isLoading,
    problem,
    opening,
    load: () => void fetchPage(reply),
    open(session) {
      if (opening !== undefined) return;
      if (session.opened_as === undefined) void openNew(session);
      else navigate(sessionHref(session.opened_as));
    },
  };
}
