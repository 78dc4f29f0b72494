import "../text/session-text.ts";
import { type ReactNode, type RefObject, useId, useRef, useState } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { RequestOption } from "../../model/request.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import { ExactText } from "../ui/ExactText.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { nameOfRequest, namesTool, optionLabel, titleOfRequest } from "./describe-part.ts";
import { Expiry } from "./Expiry.tsx";
import type { Answering } from "./use-answer.ts";
import { useIntendedClicks } from "./use-intended-clicks.ts";
import { useRowsBelow } from "./use-rows-below.ts";

type Kind = NonNullable<RequestOption["kind"]>;

/** Shortcut keys. They are upper case and work only while the row is focused, so that nobody presses them by accident. */
const KEYS: Record<Kind, string | undefined> = {
  allow_once: "Y",
  allow_always: "A",
  reject_once: "N",
  reject_always: undefined,
};

const descriptionOf = ({ description, description_code }: RequestOption): string | undefined =>
  description && visibleText(titleText(description, description_code), "prose");

const isReject = ({ kind }: RequestOption): boolean => kind === "reject_once" || kind === "reject_always";

/** Asks whether a call may run. Shows exactly what would run, and the possible answers. */
export function ApprovalForm({
  part,
  answering,
}: {
  part: TranscriptPartOf<"request">;
  answering: Answering;
}): ReactNode {
  const { request } = part;
  const { draft, setDraft, busy, problem, send } = answering;
  const { subject } = request;
  const { buttons, isNew, isIntended } = useIntendedClicks();
  const lines = subject === undefined ? 0 : subject.split("\n").length;
  const box = useRef<HTMLDivElement>(null);
  const rowsBelow = useRowsBelow(box);
  const [hadBelow, setHadBelow] = useState(false);
  if (rowsBelow > 0 && !hadBelow) setHadBelow(true);
  const below = useId();

  const answer = async (option: RequestOption): Promise<void> => {
    if (send === undefined) return;
    const reason = isReject(option) ? draft.text.trim() : "";
    const digest = subject === undefined ? undefined : await digestOf(subject, request.digest);
    send({ option_ids: [option.id], ...(reason === "" ? {} : { text: reason }) }, digest);
  };

  return (
    <section className="request" aria-label={nameOfRequest(request)}>
      <p className={`request-title${subject === undefined ? "" : " is-short"}`}>
        <span className="needs-you">{t.waiting.name}</span>{" "}
        {namesTool(request) && (
          <span className="request-tool">{visible(request.tool_name ?? "", "name")} </span>
        )}
        {visible(titleOfRequest(request), "prose")}
      </p>
      {subject !== undefined && (
        <>
          <ExactText text={subject} label={t.request.exact} box={box} />
          <p className="request-facts">
            {t.request.size(lines, subject.length)}
            {request.expires_at !== undefined && " · "}
            <Expiry expires_at={request.expires_at} />
            {hadBelow && (
              <span className={rowsBelow > 0 ? undefined : "request-below-gone"}>
                {" · "}
                <button type="button" className="request-below" id={below} onClick={() => toEnd(box)}>
                  {t.request.rowsBelow(rowsBelow)}
                </button>
              </span>
            )}
          </p>
        </>
      )}
      {subject === undefined && (
        <p className="request-facts">
          <Expiry expires_at={request.expires_at} />
        </p>
      )}
      {send === undefined ? (
        <p className="note">{t.request.elsewhere}</p>
      ) : (
        <div ref={buttons} className="request-answers">
          {request.options.map((option) => (
            <button
              key={option.id}
              type="button"
              className={`answer${isReject(option) ? " answer-reject" : ""}`}
              disabled={busy}
              aria-disabled={isNew}
              title={descriptionOf(option)}
              {...(rowsBelow > 0 ? { "aria-describedby": below } : {})}
              onClick={(event) => {
                if (isIntended(event)) void answer(option);
              }}
              {...(option.kind === undefined ? {} : { "data-answer": option.kind })}
            >
              {visible(optionLabel(option), "prose")}
              <AnswerKey option={option} options={request.options} />
            </button>
          ))}
          {request.free_text && (
            <input
              type="text"
              className="answer-text"
              aria-label={t.request.reason}
              placeholder={t.request.reason}
              value={draft.text}
              disabled={busy}
              onChange={(event) => setDraft({ ...draft, text: event.target.value })}
            />
          )}
        </div>
      )}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {t.request.notAnswered} {visible(problem, "prose")}
        </p>
      )}
    </section>
  );
}

/** The shortcut key of an answer. Only the first option of each kind has one. */
function AnswerKey({
  option,
  options,
}: {
  option: RequestOption;
  options: readonly RequestOption[];
}): ReactNode {
  const key = option.kind && KEYS[option.kind];
  if (key === undefined || options.find(({ kind }) => kind === option.kind) !== option) return null;
  return (
    <span className="key" aria-hidden="true">
      {key}
    </span>
  );
}

/** Maximum number of animation frames to keep scrolling while content near the viewport is marked and grows. */
const MAX_FRAMES = 60;
/** Number of consecutive frames at the end after which the scroll position counts as settled. */
const STABLE_FRAMES = 5;

/** Events that mean that the user wants to scroll elsewhere, which stops the scrolling to the end. */
const USER_SCROLLS = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Scrolls to the end. Moves the focus into the box, because the button disappears at the end. */
function toEnd({ current: box }: RefObject<HTMLDivElement | null>): void {
  if (box === null) return;
  box.focus({ preventScroll: true });
  const ended = new AbortController();
  for (const type of USER_SCROLLS) {
    box.addEventListener(type, () => ended.abort(), { signal: ended.signal, passive: true });
  }
  let frames = 0;
  let stableFrames = 0;
  const go = (): void => {
    if (ended.signal.aborted) return;
    stableFrames = box.scrollHeight - box.clientHeight - box.scrollTop < 1 ? stableFrames + 1 : 0;
    box.scrollTo(0, box.scrollHeight);
    if (++frames < MAX_FRAMES && stableFrames < STABLE_FRAMES) requestAnimationFrame(go);
    else ended.abort();
  };
  go();
}

/**
 * SHA-256 of the subject on screen, in hex. Outside a secure context browsers cannot compute it; then the digest that was sent
 * with the subject is returned.
 */
async function digestOf(subject: string, given: string | undefined): Promise<string | undefined> {
  try {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  } catch {
    return given;
  }
}
