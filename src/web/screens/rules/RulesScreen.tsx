import { translatedText } from "../../text/daemon-text.ts";
import "../../text/screens-text.ts";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import type { Rule, RuleCondition } from "../../../model/rules/rule.ts";
import { apiOf } from "../../api/api.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { newId } from "../../app/new-id.ts";
import { navigate } from "../../app/router.ts";
import { ScreenHeader } from "../../app/ScreenHeader.tsx";
import { useClient, useConnection } from "../../app/store.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { failureText } from "../../text/failure-text.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { RuleForm } from "./RuleForm.tsx";
import { draftOf, emptyDraft, type RuleDraft } from "./rule-draft.ts";
import "./rules.css";

/** Polling interval, in milliseconds: other browsers may change the rules. */
const REFRESH_MS = 5_000;

/** Lists the user's alert rules. They can be added, changed, switched on and off, and deleted. */
export function RulesScreen(): ReactNode {
  const api = apiOf(useClient());
  const { status: connection } = useConnection();
  const [rules, setRules] = useState<readonly Rule[]>();
  const [problem, setProblem] = useState<string>();
  const [draft, setDraft] = useState<RuleDraft>();
  const add = useRef<HTMLButtonElement>(null);
  /** Incremented with each change: replies to requests sent before it are ignored. */
  const changes = useRef(0);
  usePageTitle(t.rules.pageTitle);
  const addRule = (): void => setDraft(emptyDraft(newId()));
  const bindings: KeyBinding[] = [
    { keys: ["n"], label: t.rules.add, run: addRule },
    { keys: ["u"], label: t.usage.back, run: () => navigate("/") },
  ];
  useKeys(bindings);

  const load = useCallback(
    async (signal?: AbortSignal): Promise<void> => {
      const before = changes.current;
      const reply = await api.rules(signal);
      if (signal?.aborted || before !== changes.current) return;
      if (reply.ok) setRules(reply.value.rules);
      setProblem(reply.ok ? undefined : t.rules.notLoaded(failureText(reply.failure)));
    },
    [api],
  );
  useEffect(() => {
    if (connection === "lost" || connection === "unauthorized") return;
    const ended = new AbortController();
    void load(ended.signal);
    const timer = setInterval(() => void load(ended.signal), REFRESH_MS);
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  }, [load, connection]);

  const change = async (work: () => Promise<{ ok: true } | { ok: false; why: string }>): Promise<void> => {
    changes.current += 1;
    const done = await work();
    changes.current += 1;
    await load();
    if (!done.ok) setProblem(t.rules.notSaved(done.why));
  };
  const toggle = ({ id, name, when, scope, is_on }: Rule): Promise<void> =>
    change(async () => {
      // Shown immediately: users press a switch twice if it reacts late.
      setRules((before) => before?.map((rule) => (rule.id === id ? { ...rule, is_on: !is_on } : rule)));
      const body = { name, when, is_on: !is_on, ...(scope !== undefined && { scope }) };
      const reply = await api.putRule(id, body);
      return reply.ok ? reply : { ok: false, why: failureText(reply.failure) };
    });
  const remove = ({ id }: Rule): Promise<void> =>
    change(async () => {
      const reply = await api.deleteRule(id);
      if (!reply.ok) return { ok: false, why: failureText(reply.failure) };
      add.current?.focus();
      return reply;
    });
  const close = (): void => {
    setDraft(undefined);
    add.current?.focus();
  };
  return (
    <main className="rules">
      <ScreenHeader title={t.rules.title} bindings={bindings} />
      <div className="rules-body">
        <p>{t.rules.about}</p>
        {problem !== undefined && (
          <p className="notice notice-warning" role="alert">
            {problem}
          </p>
        )}
        {rules === undefined && problem === undefined && <p aria-busy="true">{t.rules.loading}</p>}
        {rules?.length === 0 && draft === undefined && <p className="dialog-note">{t.rules.none}</p>}
        <ul className="rule-list" aria-label={t.rules.title}>
          {rules?.map((rule) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              onToggle={() => void toggle(rule)}
              onEdit={() => setDraft(draftOf(rule))}
              onDelete={() => void remove(rule)}
            />
          ))}
        </ul>
        <p>
          <button ref={add} type="button" className="button" onClick={addRule}>
            {t.rules.add}
          </button>
        </p>
        {draft !== undefined && (
          <RuleForm
            key={draft.id}
            draft={draft}
            isNew={rules?.every(({ id }) => id !== draft.id) === true}
            onChange={setDraft}
            onSaved={() => {
              close();
              changes.current += 1;
              void load();
            }}
            onCancel={close}
          />
        )}
      </div>
    </main>
  );
}

function RuleRow({
  rule,
  onToggle,
  onEdit,
  onDelete,
}: {
  rule: Rule;
  onToggle(): void;
  onEdit(): void;
  onDelete(): void;
}): ReactNode {
  const { name, is_on, when, scope, problem, problem_code } = rule;
  const [isDeleting, setDeleting] = useState(false);
  return (
    <li className="rule-item">
      <label className="rule-name">
        <input type="checkbox" checked={is_on} onChange={onToggle} />
        {visible(name, "prose")}
      </label>
      <span className="rule-about">
        {visible(
          [conditionText(when), ...(scope === undefined ? [] : [t.rules.in(scope)])].join(", "),
          "prose",
        )}
      </span>
      {problem !== undefined && (
        <span className="request-problem rule-problem">
          {visible(translatedText(problem, problem_code), "prose")}
        </span>
      )}
      <span className="rule-actions">
        <button type="button" className="button" aria-label={t.rules.editOf(name)} onClick={onEdit}>
          {t.common.edit}
        </button>
        {isDeleting ? (
          <>
            <button type="button" className="button" onClick={onDelete}>
              {t.rules.reallyDelete}
            </button>
            <button type="button" className="button" onClick={() => setDeleting(false)}>
              {t.common.keep}
            </button>
          </>
        ) : (
          <button
            type="button"
            className="button"
            aria-label={t.rules.deleteOf(name)}
            onClick={() => setDeleting(true)}
          >
            {t.common.delete}
          </button>
        )}
      </span>
    </li>
  );
}

/** A condition in one line. */
function conditionText(when: RuleCondition): string {
  switch (when.type) {
    case "event":
      return t.rules.whenEvent(when.query);
    case "silence":
      return t.rules.whenSilent(exactNumber(when.minutes));
    case "budget":
      return t.rules.whenSpent(
        t.rules.ofs[when.of],
        when.measure === "tokens" ? `${exactNumber(when.above)} ${t.rules.tokens}` : `$${when.above}`,
      );
    case "status":
      return t.rules.whenStatus(
        t.rules.statuses[when.status],
        when.minutes === undefined ? undefined : exactNumber(when.minutes),
      );
  }
  return when satisfies never;
}
