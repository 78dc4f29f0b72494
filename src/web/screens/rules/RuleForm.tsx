import { type FormEvent, type ReactNode, useId, useState } from "react";
import { RULE_TYPES } from "../../../model/rules/rule-types.ts";
import type { RuleTrialReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { RuleTrial } from "./RuleTrial.tsx";
import { bodyOf, conditionOf, type RuleDraft } from "./rule-draft.ts";

const STATUSES = ["waiting", "failed", "interrupted", "completed"] as const;

/** The form of an alert rule: its kind and condition, and a trial on past sessions. */
export function RuleForm({
  draft,
  isNew,
  onChange,
  onSaved,
  onCancel,
}: {
  draft: RuleDraft;
  isNew: boolean;
  onChange(draft: RuleDraft): void;
  onSaved(): void;
  onCancel(): void;
}): ReactNode {
  const api = apiOf(useClient());
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<"trying" | "saving">();
  /** The last trial and the condition that it belongs to: after a change, its result is not shown. */
  const [lastTrial, setLastTrial] = useState<{ of: string; reply: RuleTrialReply }>();
  const condition = conditionOf(draft);
  const key = JSON.stringify([condition, draft.scope]);

  const runTrial = async (): Promise<void> => {
    if (condition === undefined) return setProblem(t.rules.incomplete);
    setBusy("trying");
    setProblem(undefined);
    const { when, scope } = bodyOf(draft, condition);
    const reply = await api.tryRule({ when, ...(scope !== undefined && { scope }) });
    setBusy(undefined);
    if (reply.ok) setLastTrial({ of: key, reply: reply.value });
    else setProblem(failureText(reply.failure));
  };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (draft.name.trim() === "") return setProblem(t.rules.noName);
    if (condition === undefined) return setProblem(t.rules.incomplete);
    setBusy("saving");
    setProblem(undefined);
    const reply = await api.putRule(draft.id, bodyOf(draft, condition));
    setBusy(undefined);
    if (reply.ok) onSaved();
    else setProblem(t.rules.notSaved(failureText(reply.failure)));
  };
  return (
    <form className="rule-form" aria-label={isNew ? t.rules.addTitle : t.rules.editTitle} onSubmit={save}>
      <h2>{isNew ? t.rules.addTitle : t.rules.editTitle}</h2>
      <Field
        label={t.rules.name}
        hint={t.rules.nameHint}
        value={draft.name}
        maxLength={100}
        takesFocus
        onChange={(name) => onChange({ ...draft, name })}
      />
      <fieldset className="rule-kinds">
        <legend>{t.rules.kind}</legend>
        {RULE_TYPES.map((type) => (
          <label key={type}>
            <input
              type="radio"
              name="rule-type"
              checked={draft.type === type}
              onChange={() => onChange({ ...draft, type })}
            />
            {t.rules.kinds[type]}
          </label>
        ))}
      </fieldset>
      <ConditionFields draft={draft} onChange={onChange} />
      <Field
        label={t.rules.scope}
        hint={t.rules.scopeHint}
        value={draft.scope}
        maxLength={1_000}
        onChange={(scope) => onChange({ ...draft, scope })}
      />
      <p className="rule-buttons">
        <button
          type="button"
          className="button"
          disabled={busy !== undefined}
          onClick={() => void runTrial()}
        >
          {busy === "trying" ? t.rules.trying : t.rules.tryIt}
        </button>
        <button type="submit" className="button button-main" disabled={busy !== undefined}>
          {busy === "saving" ? t.common.saving : t.rules.save}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          {t.common.cancel}
        </button>
      </p>
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {problem}
        </p>
      )}
      {lastTrial?.of === key && <RuleTrial trial={lastTrial.reply} />}
    </form>
  );
}

function ConditionFields({
  draft,
  onChange,
}: {
  draft: RuleDraft;
  onChange(draft: RuleDraft): void;
}): ReactNode {
  switch (draft.type) {
    case "event":
      return (
        <Field
          label={t.rules.query}
          hint={t.rules.queryHint}
          value={draft.query}
          maxLength={1_000}
          onChange={(query) => onChange({ ...draft, query })}
        />
      );
    case "silence":
      return (
        <Field
          label={t.rules.minutes}
          hint={t.rules.silenceHint}
          value={draft.minutes}
          isNumber
          onChange={(minutes) => onChange({ ...draft, minutes })}
        />
      );
    case "budget":
      return (
        <div className="rule-row">
          <Choice
            label={t.rules.of}
            value={draft.of}
            options={["session", "turn"]}
            names={t.rules.ofs}
            onChange={(of) => onChange({ ...draft, of })}
          />
          <Choice
            label={t.rules.measure}
            value={draft.measure}
            options={["tokens", "cost"]}
            names={t.rules.measures}
            onChange={(measure) => onChange({ ...draft, measure })}
          />
          <Field
            label={t.rules.above}
            value={draft.above}
            isNumber
            onChange={(above) => onChange({ ...draft, above })}
          />
        </div>
      );
    case "status":
      return (
        <div className="rule-row">
          <Choice
            label={t.rules.status}
            value={draft.status}
            options={STATUSES}
            names={t.rules.statuses}
            onChange={(status) => onChange({ ...draft, status })}
          />
          {draft.status === "waiting" && (
            <Field
              label={t.rules.waits}
              value={draft.waits}
              isNumber
              onChange={(waits) => onChange({ ...draft, waits })}
            />
          )}
        </div>
      );
  }
  return draft.type satisfies never;
}

function Field({
  label,
  hint,
  value,
  maxLength,
  isNumber,
  takesFocus,
  onChange,
}: {
  label: string;
  hint?: string;
  value: string;
  maxLength?: number;
  isNumber?: boolean;
  takesFocus?: boolean;
  onChange(value: string): void;
}): ReactNode {
  const id = useId();
  return (
    <p className="rule-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field-input"
        value={value}
        maxLength={maxLength}
        inputMode={isNumber ? "decimal" : undefined}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        // The user has just opened the form with "Add" or "Edit".
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus={takesFocus}
        onChange={({ target }) => onChange(target.value)}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} className="dialog-note">
          {hint}
        </span>
      )}
    </p>
  );
}

function Choice<Value extends string>({
  label,
  value,
  options,
  names,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly Value[];
  names: Readonly<Record<Value, string>>;
  onChange(value: Value): void;
}): ReactNode {
  const id = useId();
  return (
    <p className="rule-field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ target }) => {
          const chosen = options.find((each) => each === target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {options.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </p>
  );
}
