import "../../text/session-text.ts";
import "../../text/screens-text.ts";
import { type ReactNode, useId, useState } from "react";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { navigate } from "../../app/router.ts";
import { ScreenHeader } from "../../app/ScreenHeader.tsx";
import { usePageTitle, useWaitingKey } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";
import { AgentChoice } from "./AgentChoice.tsx";
import { FolderField } from "./FolderField.tsx";
import { cwdFor, modelFor } from "./form.ts";
import { ModelField } from "./ModelField.tsx";
import { mayHavePast, PastSessions } from "./PastSessions.tsx";
import { PromptField } from "./PromptField.tsx";
import { useNewSession } from "./use-new-session.ts";
import "../../composer/composer.css";
import "./new-session.css";

/** The form that starts a session: the prompt, then the agent, its model and its folder. */
export function NewSessionScreen(): ReactNode {
  const state = useNewSession();
  const { reply, loadProblem, choice, problems, agent, prompt, form, loadAgents, choose, start } = state;
  const [showsPast, setShowsPast] = useState(false);
  const about = useId();
  usePageTitle(t.start.pageTitle);
  const isFixed = state.isSubmitted || state.starting;
  const hasPast = agent !== undefined && mayHavePast(agent);

  const bindings: KeyBinding[] = [
    useWaitingKey(),
    { keys: ["c"], label: t.start.write, run: () => prompt.current?.focus() },
    ...(hasPast ? [{ keys: ["p"], label: t.past.title, run: () => setShowsPast(true) }] : []),
    { keys: ["u", "Escape"], label: t.start.back, run: () => navigate("/") },
  ];
  useKeys(bindings);

  return (
    <div className="new-session">
      <ScreenHeader title={t.common.newSession} bindings={bindings} />
      <main className="new-session-body" tabIndex={-1} aria-label={t.common.newSession}>
        {loadProblem !== undefined && reply === undefined && (
          <p className="notice notice-warning" role="alert">
            {loadProblem}{" "}
            <button type="button" className="button" onClick={() => void loadAgents()}>
              {t.common.tryAgain}
            </button>
          </p>
        )}
        {reply !== undefined && (
          <form
            ref={form}
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              void start();
            }}
          >
            <PromptField form={state} isFixed={isFixed} />
            {problems.form !== undefined && (
              <p className="field-problem" role="alert">
                {t.start.notStarted(problems.form)}
              </p>
            )}
            <fieldset className="field agents" aria-describedby={about} disabled={isFixed}>
              <legend>{t.start.agent}</legend>
              <AgentChoice
                agents={reply.agents}
                chosen={choice.agent}
                invalid={problems.agent !== undefined}
                onChoose={(id) => {
                  const suggested_before = choice.cwd === cwdFor(reply, choice.agent);
                  const cwd = suggested_before ? { cwd: cwdFor(reply, id) } : {};
                  choose({ agent: id, model: modelFor(reply, id) ?? "", ...cwd }, "agent", "model", "cwd");
                }}
              />
              <p
                className={problems.agent === undefined ? "unseen" : "field-problem"}
                id={about}
                role={problems.agent === undefined ? undefined : "alert"}
              >
                {problems.agent ?? t.start.agent}
              </p>
            </fieldset>
            {hasPast && (
              <p>
                <button type="button" className="button" onClick={() => setShowsPast(true)}>
                  {t.past.title}
                </button>
              </p>
            )}
            {agent !== undefined && (
              <ModelField
                key={agent.id}
                agent={agent}
                value={choice.model ?? ""}
                problem={problems.model}
                readOnly={isFixed}
                onChange={(model) => choose({ model }, "model")}
              />
            )}
            <FolderField form={state} isFixed={isFixed} />
          </form>
        )}
        {showsPast && hasPast && (
          <PastSessions agent={agent} cwd={(choice.cwd ?? "").trim()} onClose={() => setShowsPast(false)} />
        )}
      </main>
    </div>
  );
}
