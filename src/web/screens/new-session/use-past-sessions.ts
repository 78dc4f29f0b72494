import { useCallback, useEffect, useRef, useState } from "react";
import type { PastSession, PastSessionsReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import type { ApiFailure } from "../../api/requests.ts";
import { newId } from "../../app/new-id.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";

/** The past sessions of an agent that are loaded so far. */
export interface PastSessions {
  /** Absent: the first page is loading, or could not be loaded. */
  reply: PastSessionsReply | undefined;
  isLoading: boolean;
  /** Why the last request failed. `isFinal`: a retry would fail, too. */
  problem: { text: string; isFinal: boolean } | undefined;
  /** The session that is being opened, by the agent's own id. */
  opening: string | undefined;
  /** Loads the first page or, if it is loaded, the next one. */
  load(): void;
  /** Opens a session and navigates to it. */
  open(session: PastSession): void;
}

function problemOf(failure: ApiFailure): PastSessions["problem"] {
  const isFinal = failure.code === "refused" && failure.reason === "no_list";
  return { text: failureText(failure), isFinal };
}

/**
 * `cwd`: only sessions of this folder. If the component is unmounted while a page loads, the daemon stops the agent's program.
 */
export function usePastSessions(agent: string, cwd: string | undefined): PastSessions {
  const api = apiOf(useClient());
  const [reply, setReply] = useState<PastSessionsReply>();
  const [isLoading, setLoading] = useState(true);
  const [problem, setProblem] = useState<PastSessions["problem"]>();
  const [opening, setOpening] = useState<string>();
  const abort = useRef(new AbortController());

  const fetchPage = useCallback(
    async (before: PastSessionsReply | undefined): Promise<void> => {
      const { signal } = abort.current;
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
    abort.current = new AbortController();
    setReply(undefined);
    void fetchPage(undefined);
    return () => abort.current.abort();
  }, [fetchPage]);

  const openNew = async ({ id, cwd: folder, title }: PastSession): Promise<void> => {
    const { signal } = abort.current;
    setOpening(id);
    setProblem(undefined);
    // A retry after a lost reply opens the same session, because the daemon recognizes the agent's id.
    const session = { session_id: newId(), id, cwd: folder, ...(title !== undefined && { title }) };
    const answer = await api.openPastSession(agent, session);
    // If the user has left meanwhile, the session is in the list.
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
