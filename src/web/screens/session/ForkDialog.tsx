import "../../text/session-text.ts";
import "../../text/inspect-text.ts";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { SessionSummary } from "../../../model/session.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { apiOf } from "../../api/api.ts";
import type { ApiResult } from "../../api/requests.ts";
import { newId } from "../../app/new-id.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { useClient } from "../../app/store.ts";
import { draftOf } from "../../composer/draft.ts";
import { type PastPrompt, pastPrompt } from "../../composer/past-prompt.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { promptText } from "../../transcript/describe-part.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { focusPromptOnOpen } from "./prompt-focus.ts";

/** Continues from an earlier prompt, in a new session or in this one. Copies the prompt into the draft, to be edited. */
export function ForkDialog({
  session,
  row,
  prompt_id,
  onClose,
}: {
  session: OpenSession;
  row: SessionSummary;
  /** The id of the prompt's part. */
  prompt_id: string;
  onClose(): void;
}): ReactNode {
  const client = useClient();
  const api = apiOf(client);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  // One id per opening of the dialog, so that a retry after a lost reply does not create a second session.
  const [fork_id] = useState(newId);
  const working = row.control?.state !== "idle";

  // Requested immediately, so that it is loaded when the user chooses.
  const [pastPromptRequest] = useState(() =>
    pastPrompt(api, row.id, prompt_id, row.control?.takes_images === true),
  );
  const [past, setPast] = useState<ApiResult<PastPrompt>>();
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    void pastPromptRequest.then((reply) => {
      if (isOpen.current) setPast(reply);
    });
    return () => {
      isOpen.current = false;
    };
  }, [pastPromptRequest]);
  const disabled = busy || past?.ok === false;
  const shownProblem = past?.ok === false ? t.fork.notLoaded(failureText(past.failure)) : problem;

  /** Forks or rewinds with `request`, then copies the prompt into the draft of the session that continues. */
  const startFork = async (session_id: string, request: () => Promise<ApiResult<unknown>>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const promptReply = await pastPromptRequest;
    // The dialog was closed meanwhile: do nothing.
    if (!isOpen.current) return;
    // If the prompt cannot be loaded, or only in part, tell the user before continuing.
    if (!promptReply.ok || (past === undefined && promptReply.value.lost > 0)) {
      setBusy(false);
      return;
    }
    const reply = await request();
    setBusy(false);
    if (!reply.ok) {
      setProblem(failureText(reply.failure));
      return;
    }
    const draft = draftOf(client, session_id);
    const { text, images } = draft.state.getState();
    // Do not overwrite an existing draft.
    if (text.trim() === "" && images.length === 0) {
      draft.setText(promptReply.value.text);
      draft.setImages(promptReply.value.images);
    }
    // If the dialog was closed meanwhile, the new session is in the list.
    if (!isOpen.current) return;
    focusPromptOnOpen(session_id);
    onClose();
    if (session_id !== row.id) navigate(sessionHref(session_id));
  };
  const fork = () => startFork(fork_id, () => api.fork(row.id, { session_id: fork_id, before: prompt_id }));
  const rewind = () => startFork(row.id, () => api.rewind(row.id, prompt_id));

  return (
    <Dialog title={t.fork.title} onClose={onClose}>
      <blockquote className="dialog-quote">{visible(beginningOf(session, prompt_id), "prose")}</blockquote>
      {past?.ok && past.value.lost > 0 && <p className="dialog-note">{lostText(past.value)}</p>}
      <dl className="dialog-choices">
        <div>
          <dt>
            <button type="button" className="button" disabled={disabled} onClick={() => void fork()}>
              {t.fork.newSession}
            </button>
          </dt>
          <dd>{t.session.copies}</dd>
        </div>
        <div>
          <dt>
            <button
              type="button"
              className="button"
              disabled={disabled || working}
              onClick={() => void rewind()}
            >
              {t.fork.rewind}
            </button>
          </dt>
          <dd>{working ? t.fork.later : t.session.forgets}</dd>
        </div>
      </dl>
      {shownProblem !== undefined && (
        <p className="dialog-problem" role="alert">
          {shownProblem}
        </p>
      )}
    </Dialog>
  );
}

/** The beginning of the prompt, which is always loaded. */
function beginningOf(session: OpenSession, prompt_id: string): string {
  const { transcript } = session.state.getState();
  const index = transcript === undefined ? undefined : positionOf(transcript, prompt_id);
  const part = index === undefined ? undefined : session.partAt(index);
  return part?.type === "prompt" ? promptText(part.parts).slice(0, 300) : "";
}

function lostText({ attached, lost }: PastPrompt): string {
  return t.fork.lost(lost, attached);
}
