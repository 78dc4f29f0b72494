import "../../text/session-text.ts";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Request } from "../../../model/request.ts";
import type { OpenRequest, SessionSummary } from "../../../model/session.ts";
import type { TranscriptPartOf } from "../../../model/transcript/transcript.ts";
import { apiOf } from "../../api/api.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import type { AnswerDraft, TranscriptHost } from "../../transcript/host.ts";
import { RequestView } from "../../transcript/RequestView.tsx";
import "../../transcript/requests.css";
import "../../ui/action.css";
import "./requests.css";

/** The open requests of a session, to be answered outside its transcript. */
export function OpenRequests({
  row,
  open,
  host,
  onMessage,
}: {
  row: SessionSummary;
  /** The requests of the row that are shown. */
  open: readonly OpenRequest[];
  host: TranscriptHost;
  /** Called with a message about requests that are gone. An empty message clears it. */
  onMessage?(text: string): void;
}): ReactNode {
  const api = apiOf(useClient());
  const ids = open.map(({ request_id }) => request_id).join(" ");
  const inTerminal = open.some(({ in_terminal }) => in_terminal === true);
  const hidesDialog = inTerminal && open.some(({ expires_at }) => expires_at !== undefined);
  const [loaded, setLoaded] = useState<{ requests: readonly Request[]; problem?: string }>({ requests: [] });
  const answered = useRef(new Set<string>());
  const [drafts] = useState(() => new Map<string, AnswerDraft>());

  useEffect(() => {
    if (ids === "") return;
    const ended = new AbortController();
    void api.openRequests(row.id, ended.signal).then((reply) => {
      if (ended.signal.aborted) return;
      setLoaded(
        reply.ok ? reply.value : { requests: [], problem: t.terminal.notLoaded(failureText(reply.failure)) },
      );
    });
    return () => ended.abort();
  }, [api, row.id, ids]);

  const before = useRef("");
  useEffect(() => {
    const now = ids.split(" ");
    const goneIds = before.current.split(" ").filter((id) => id !== "" && !now.includes(id));
    before.current = ids;
    if (goneIds.some((id) => !answered.current.has(id))) onMessage?.(t.terminal.answeredThere);
    else if (ids !== "") onMessage?.("");
  }, [ids, onMessage]);

  const answerHost = useMemo<TranscriptHost>(
    () => ({
      ...host,
      answerDrafts: drafts,
      async answerRequest(request_id, body) {
        answered.current.add(request_id);
        const reply = await (inTerminal
          ? api.answerTerminal(request_id, body)
          : api.answer(row.id, request_id, body));
        if (reply.ok) return reply.value;
        answered.current.delete(request_id);
        throw new Error(failureText(reply.failure));
      },
    }),
    [host, drafts, api, inTerminal, row.id],
  );

  if (open.length === 0) return null;
  return (
    <section
      className="open-requests"
      aria-label={inTerminal ? t.terminal.name : t.terminal.asked}
      data-in-terminal={inTerminal}
    >
      {loaded.problem !== undefined && (
        <p className="notice notice-warning" role="alert">
          {loaded.problem}
        </p>
      )}
      {open.map(({ request_id, asked_at, expires_at }, index) => {
        const request = loaded.requests.find((each) => each.request_id === request_id);
        return (
          request && (
            // The keys that answer a request look for the focused row.
            <article key={request_id} data-index={index} tabIndex={-1}>
              <RequestView part={partOf(row.id, request, asked_at, expires_at)} host={answerHost} />
            </article>
          )
        );
      })}
      {inTerminal && (
        <p className="request-facts">
          {hidesDialog ? t.terminal.hidden : t.terminal.hint}
          {row.waiting?.terminal && ` ${t.terminal.place(t.waiting.place(row.waiting.terminal))}`}
        </p>
      )}
    </section>
  );
}

const partOf = (
  session_id: string,
  request: Request,
  at: number,
  expires_at: number | undefined,
): TranscriptPartOf<"request"> => ({
  type: "request",
  id: request.request_id,
  session_id,
  message_id: request.request_id,
  at,
  request: { ...request, ...(expires_at !== undefined && { expires_at }) },
});
