import "../text/session-text.ts";
import { memo, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useStore } from "zustand";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { SessionControl, SessionSummary } from "../../model/session.ts";
import { apiOf } from "../api/api.ts";
import type { ApiResult } from "../api/requests.ts";
import type { OpenSession, OpenSessionState } from "../app/open-session.ts";
import { sessionHref } from "../app/router.ts";
import { useClient } from "../app/store.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { type Draft, draftOf } from "./draft.ts";
import { PromptInput } from "./PromptInput.tsx";
import { useFocusWithin } from "./use-focus-within.ts";
import type { Stop } from "./use-stop.ts";
import "./composer.css";

interface Props {
  row: SessionSummary;
  control: SessionControl;
  stop: Stop;
  input: RefObject<HTMLTextAreaElement | null>;
  session: OpenSession;
  /** Called when a prompt is sent, to scroll to the end of the transcript. */
  onSend(): void;
}

/** How many of the last parts are searched for a prompt whose reply was lost. */
const MAX_SEARCHED_PARTS = 1_000;

/** Whether the session has a prompt with this id. */
function hasPrompt({ transcript }: OpenSessionState, message_id: string): boolean {
  const count = transcript?.parts.length ?? 0;
  for (let index = count - 1; index >= Math.max(0, count - MAX_SEARCHED_PARTS); index -= 1) {
    const part = transcript?.parts.at(index);
    if (part?.type === "prompt" && part.message_id === message_id) return true;
  }
  return false;
}

/** The prompt input of a managed session. */
export function Composer(props: Props): ReactNode {
  const { control } = props;
  if (control.state === "closed")
    return (
      <section className="composer composer-closed" aria-label={t.composer.message}>
        <p className="composer-note">
          {t.composer.closed} {control.can_fork ? t.composer.closedFork : t.composer.closedNew}
        </p>
      </section>
    );
  return <OpenComposer {...props} />;
}

function OpenComposer({ row, control, stop, input, session, onSend }: Props): ReactNode {
  const client = useClient();
  const api = apiOf(client);
  const draft = draftOf(client, row.id);
  const {
    text,
    images,
    reading,
    imageProblems,
    sendWhenRead,
    sending,
    problem,
    tried,
    message_id,
    lost_images,
  } = useStore(draft.state);
  const hint = useId();
  const section = useRef<HTMLElement>(null);
  const hasFocus = useFocusWithin(section);
  const working = control.state !== "idle";
  const canSteer = working && control.can_steer;
  const isHeld = !working && control.queued.length > 0;
  const allHeld = control.queued.every(({ held }) => held);
  const isReading = reading > 0;
  const isLocked = (sendWhenRead ?? sending) !== undefined;
  const isEmpty = text.trim() === "" && images.length === 0;
  const cannotSend = isEmpty || isLocked || isReading;

  // The reply was lost, but the daemon has received the prompt.
  const isInTranscript = useStore(session.state, (state) => tried && hasPrompt(state, message_id));
  const hasArrived =
    isInTranscript || (tried && control.queued.some((queued) => queued.message_id === message_id));
  useEffect(() => {
    if (hasArrived) draft.confirmSent(message_id);
  }, [draft, hasArrived, message_id]);

  const send = (when: "queue" | "steer"): void => {
    if (isLocked || (isEmpty && !isReading)) return;
    draft.send(when);
    // Queued prompts are shown beside the input until the turn ends.
    if (when === "steer" || !working) onSend();
    input.current?.focus();
  };
  const waiting = row.requests?.[0];
  const more = (row.requests?.length ?? 0) - 1;

  return (
    <section
      ref={section}
      className={hasFocus ? "composer is-entered" : "composer"}
      aria-label={t.composer.message}
    >
      {/* Announces a queued prompt: the focus stays in the emptied field, so a screen reader would not notice it. */}
      <p className="unseen" role="status">
        {control.queued.length > 0 && t.composer.queued(control.queued.length, isHeld || allHeld)}
      </p>
      {isHeld && (
        <p className="composer-note">
          {allHeld ? t.composer.heldRewound : t.composer.held(row.status === "failed")}
        </p>
      )}
      {control.queued.length > 0 && (
        <ol className="queued" aria-label={isHeld ? t.composer.heldList : t.composer.queuedList}>
          {control.queued.map(({ message_id: id, text: words, held }, index) => (
            <Queued
              key={id}
              message_id={id}
              text={words}
              isHeld={isHeld || held === true}
              begin={isHeld && index === 0 ? () => api.beginPrompt(row.id, id) : undefined}
              draft={draft}
              input={input}
              onSend={onSend}
            />
          ))}
        </ol>
      )}
      {waiting !== undefined && (
        <p className="composer-note">
          <span className="needs-you">{t.waiting.name}</span>{" "}
          <a href={sessionHref(row.id, `part-${waiting.request_id}`)}>
            {visible(titleText(waiting.title, waiting.title_code), "prose")}
          </a>
          {more > 0 && t.composer.andMore(more)}
        </p>
      )}
      <PromptInput
        label={t.composer.prompt}
        placeholder={
          working ? (canSteer ? t.composer.queueOrSteer : t.composer.queuePrompt) : t.composer.message
        }
        text={text}
        images={images}
        takesImages={control.takes_images}
        readOnly={isLocked}
        isReading={isReading}
        imageProblems={imageProblems}
        input={input}
        describedBy={hint}
        onText={draft.setText}
        onImages={draft.setImages}
        onAdd={draft.addImages}
        onSend={(alt) => send(alt && canSteer ? "steer" : "queue")}
        onEscape={() => {
          if (sendWhenRead !== undefined) draft.cancelSending();
          else if (!stop.escape()) input.current?.blur();
        }}
      >
        <span
          className={stop.armed || stop.stopping ? "composer-hint" : "composer-hint composer-keys"}
          id={hint}
        >
          {stop.armed
            ? t.composer.escAgain
            : stop.stopping
              ? t.composer.stopping
              : working
                ? canSteer
                  ? t.composer.keysSteer
                  : t.composer.keysQueue
                : t.composer.keysSend}
        </span>
        <span className="composer-send">
          {working && (
            <button
              type="button"
              className="button"
              disabled={stop.stopping}
              onClick={() => {
                stop.stop();
                input.current?.focus();
              }}
            >
              {t.composer.stop}
            </button>
          )}
          {isLocked && (
            <button type="button" className="button" onClick={draft.cancelSending}>
              {t.composer.edit}
            </button>
          )}
          {canSteer && (
            <button type="button" className="button" disabled={cannotSend} onClick={() => send("steer")}>
              {t.composer.steerNow}
            </button>
          )}
          <button
            type="button"
            className="button button-main"
            disabled={cannotSend}
            onClick={() => send("queue")}
          >
            {isLocked ? t.composer.sending : working ? t.composer.queue : t.composer.send}
          </button>
        </span>
      </PromptInput>
      {stop.armed && (
        <p className="unseen" role="alert">
          {t.composer.escAgain}
        </p>
      )}
      {problem !== undefined && (
        <p className="composer-note composer-problem" role="alert">
          {problem}
        </p>
      )}
      {stop.problem !== undefined && (
        <p className="composer-note composer-problem" role="alert">
          {stop.problem}
        </p>
      )}
      {lost_images > 0 && images.length === 0 && (
        <p className="composer-note" role="status">
          {t.composer.lostImages(lost_images)}
        </p>
      )}
    </section>
  );
}

/** A queued prompt. Memoized, because the parent re-renders on each delta of the agent and each keystroke. */
const Queued = memo(function Queued({
  message_id,
  text,
  isHeld,
  begin,
  draft,
  input,
  onSend,
}: {
  message_id: string;
  text: string;
  isHeld: boolean;
  /** Starts the prompt; set if it may start now. */
  begin: (() => Promise<ApiResult<unknown>>) | undefined;
  /** The draft that a withdrawn prompt returns to. */
  draft: Draft;
  input: Props["input"];
  onSend: Props["onSend"];
}): ReactNode {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const withdraw = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    // This button is removed together with the prompt.
    input.current?.focus();
    const failure = await draft.withdraw(message_id, () => setProblem(t.composer.notWithdrawn));
    setBusy(false);
    setProblem(failure && failureText(failure));
  };
  const sendNow = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    input.current?.focus();
    onSend();
    const reply = await begin?.();
    setBusy(false);
    if (reply?.ok === false) setProblem(t.composer.notSent(failureText(reply.failure)));
  };
  return (
    <li>
      <span className="queued-word">{isHeld ? t.composer.heldWord : t.composer.queuedWord}</span>
      <span className="queued-text" title={visibleText(text, "prose")}>
        {text.trim() === "" ? t.composer.images : visible(text, "prose")}
      </span>
      {problem !== undefined && (
        <span className="composer-problem" role="alert">
          {problem}
        </span>
      )}
      {begin !== undefined && (
        <button
          type="button"
          className="button"
          disabled={busy}
          aria-label={t.composer.sendNowOf(visibleText(cutShort(text, 60), "prose"))}
          onClick={() => void sendNow()}
        >
          {t.composer.sendNow}
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={busy}
        aria-label={t.composer.withdrawOf(visibleText(cutShort(text, 60), "prose"))}
        onClick={() => void withdraw()}
      >
        {t.composer.withdraw}
      </button>
    </li>
  );
});
