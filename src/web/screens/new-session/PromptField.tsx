import { type ReactNode, useId } from "react";
import { PromptInput } from "../../composer/PromptInput.tsx";
import { t } from "../../text/text.ts";
import type { NewSessionForm } from "./use-new-session.ts";

/** The field for the first prompt, with the button that starts the session. */
export function PromptField({ form, isFixed }: { form: NewSessionForm; isFixed: boolean }): ReactNode {
  const about = useId();
  return (
    <div className="field">
      <span className="field-label" aria-hidden="true">
        {t.composer.prompt}
      </span>
      <PromptInput
        label={t.composer.prompt}
        placeholder={t.start.task}
        text={form.draft.text}
        images={form.draft.images}
        takesImages={form.agent?.takes_images ?? true}
        readOnly={isFixed}
        isReading={form.isReading}
        imageProblems={form.imageProblems}
        input={form.prompt}
        invalid={form.problems.prompt !== undefined}
        describedBy={about}
        onText={(text) => form.write({ text })}
        onImages={(images) => form.write({ images })}
        onAdd={form.addImages}
        onSend={() => void form.start()}
        onEscape={() => (form.isSubmitted ? form.setSubmitted(false) : form.prompt.current?.blur())}
      >
        <span className="composer-hint">{t.start.keys}</span>
        <span className="composer-send">
          <button type="submit" className="button button-main" disabled={form.starting || form.isReading}>
            {form.starting ? t.start.starting : t.start.start}
          </button>
        </span>
      </PromptInput>
      <p
        className={form.problems.prompt === undefined ? "unseen" : "field-problem"}
        id={about}
        role={form.problems.prompt === undefined ? undefined : "alert"}
      >
        {form.problems.prompt ?? t.start.promptAbout}
      </p>
      {form.draft.lost_images > 0 && form.draft.images.length === 0 && (
        <p className="field-about">{t.composer.lostImages(form.draft.lost_images)}</p>
      )}
    </div>
  );
}
