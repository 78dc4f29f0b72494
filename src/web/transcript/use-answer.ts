import { useEffect, useRef, useState } from "react";
import type { Answer } from "../../model/request.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import type { AnswerDraft, RequestResult, TranscriptHost } from "./host.ts";

/** The state of answering one request. */
export interface Answering {
  /** The outcome: from the session, or until that arrives, from the reply to the user's own answer. */
  readonly result: RequestResult | undefined;
  readonly draft: AnswerDraft;
  setDraft(draft: AnswerDraft): void;
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** Sends the answer. Absent: the request cannot be answered here. */
  readonly send?: (answer: Answer, digest?: string) => void;
}

const NOTHING: AnswerDraft = { option_ids: [], text: "" };

export function useAnswer(part: TranscriptPartOf<"request">, host: TranscriptHost): Answering {
  const [draft, setDraft] = useState(() => host.answerDrafts?.get(part.id) ?? NOTHING);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [reply, setReply] = useState<RequestResult>();
  const { answerRequest } = host;

  // The focus is lost when the focused element is disabled or removed. Restore it, or focus the row with the answer.
  const focusBefore = useRef<{ element: HTMLElement; row: HTMLElement | null }>(undefined);
  useEffect(() => {
    if (busy || (reply === undefined && problem === undefined)) return;
    for (const element of [focusBefore.current?.element, focusBefore.current?.row])
      if (document.activeElement === document.body) element?.focus({ preventScroll: true });
  }, [busy, reply, problem]);

  const send = async (answer: Answer, digest?: string): Promise<void> => {
    if (answerRequest === undefined || busy) return;
    const element = document.activeElement;
    focusBefore.current =
      element instanceof HTMLElement ? { element, row: element.closest("article") } : undefined;
    setBusy(true);
    setProblem(undefined);
    try {
      const body = digest === undefined ? { answer } : { digest, answer };
      setReply(await answerRequest(part.request.request_id, body));
      host.answerDrafts?.delete(part.id);
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setBusy(false);
    }
  };
  return {
    result:
      part.outcome === undefined
        ? reply
        : { outcome: part.outcome, ...(part.answer === undefined ? {} : { answer: part.answer }) },
    draft,
    setDraft(next) {
      setDraft(next);
      host.answerDrafts?.set(part.id, next);
    },
    busy,
    problem,
    ...(answerRequest === undefined ? {} : { send: (answer, digest) => void send(answer, digest) }),
  };
}
