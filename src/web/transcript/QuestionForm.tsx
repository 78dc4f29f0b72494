import "../text/session-text.ts";
import { type ReactNode, useId } from "react";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { textWithLines, titleText } from "../text/title-text.ts";
import { isComposing } from "../ui/composing.ts";
import { visible } from "../ui/hidden-text.tsx";
import { nameOfRequest, optionLabel, titleOfRequest } from "./describe-part.ts";
import { Expiry } from "./Expiry.tsx";
import type { Answering } from "./use-answer.ts";
import { useIntendedClicks } from "./use-intended-clicks.ts";

/** A question of the agent, with options, a text field, or both. */
export function QuestionForm({
  part,
  answering,
}: {
  part: TranscriptPartOf<"request">;
  answering: Answering;
}): ReactNode {
  const { request } = part;
  const { draft, setDraft, busy, problem, send } = answering;
  const name = useId();
  const { buttons, isNew, isIntended } = useIntendedClicks();
  const multiple = request.multiple === true;
  const hasText = request.free_text === true || request.options.length === 0;
  const text = draft.text.trim();
  const isEmpty = draft.option_ids.length === 0 && text === "";

  const choose = (id: string, chosen: boolean): void => {
    const others = multiple ? draft.option_ids.filter((other) => other !== id) : [];
    setDraft({ ...draft, option_ids: chosen ? [...others, id] : others });
  };
  const answer = (): void => {
    if (isEmpty || busy) return;
    // In the order of the options, not of the clicks.
    const option_ids = request.options.map(({ id }) => id).filter((id) => draft.option_ids.includes(id));
    send?.({ option_ids, ...(text === "" ? {} : { text }) });
  };

  return (
    <form
      className="request"
      aria-label={nameOfRequest(request)}
      onSubmit={(event) => {
        event.preventDefault();
        answer();
      }}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent) || event.key !== "Enter" || !(event.ctrlKey || event.metaKey))
          return;
        event.preventDefault();
        answer();
      }}
    >
      <fieldset className="request-options" disabled={send === undefined || busy}>
        <legend className="request-title">
          <span className="needs-you">{t.waiting.name}</span> {visible(titleOfRequest(request), "prose")}
        </legend>
        {request.subject !== undefined && (
          <p className="request-said">
            {visible(textWithLines(request.subject, request.subject_code), "prose")}
          </p>
        )}
        {request.options.map((option) => (
          <label key={option.id} className="request-option">
            <input
              type={multiple ? "checkbox" : "radio"}
              name={name}
              checked={draft.option_ids.includes(option.id)}
              onChange={(event) => choose(option.id, event.target.checked)}
            />
            <span>
              {visible(optionLabel(option), "prose")}
              {option.description !== undefined && (
                <span className="request-about">
                  {" "}
                  {visible(titleText(option.description, option.description_code), "prose")}
                </span>
              )}
            </span>
          </label>
        ))}
        {hasText && (
          <textarea
            className="answer-text"
            rows={2}
            aria-label={request.options.length > 0 ? t.request.ownWords : t.request.yourAnswer}
            placeholder={request.options.length > 0 ? t.request.ownWords : t.request.yourAnswer}
            value={draft.text}
            onChange={(event) => setDraft({ ...draft, text: event.target.value })}
          />
        )}
      </fieldset>
      {send === undefined ? (
        <p className="note">{t.request.elsewhere}</p>
      ) : (
        <div ref={buttons} className="request-answers">
          <button
            type="submit"
            className="answer"
            disabled={isEmpty || busy}
            aria-disabled={isNew}
            onClick={(event) => {
              if (!isIntended(event)) event.preventDefault();
            }}
          >
            {t.request.answer}
            <span className="key" aria-hidden="true">
              Ctrl+Enter
            </span>
          </button>
          {multiple && <span className="request-facts">{t.request.several}</span>}
          {!multiple && draft.option_ids.length > 0 && (
            <button type="button" className="action" onClick={() => setDraft({ ...draft, option_ids: [] })}>
              {t.request.chooseNone}
            </button>
          )}
          <Expiry expires_at={request.expires_at} />
        </div>
      )}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {t.request.notAnswered} {visible(problem, "prose")}
        </p>
      )}
    </form>
  );
}
