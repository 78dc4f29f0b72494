import "../../text/session-text.ts";
import "../../text/screens-text.ts";
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react";
import type { AgentsReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { newId } from "../../app/new-id.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { ScreenHeader } from "../../app/ScreenHeader.tsx";
import { useClient, useConnection } from "../../app/store.ts";
import { usePageTitle, useWaitingKey } from "../../app/waiting.ts";
import { joined, type ReadImages } from "../../composer/images.ts";
import { type Choice, emptyDraft, type KeptDraft, loadDraft, saveDraft } from "../../composer/kept-draft.ts";
import { PromptInput } from "../../composer/PromptInput.tsx";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { AgentChoice } from "./AgentChoice.tsx";
import { check, cwdFor, modelFor, type Problems, problemsOf, suggested } from "./form.ts";
import { ModelField } from "./ModelField.tsx";
import { mayHavePast, PastSessions } from "./PastSessions.tsx";
import "../../composer/composer.css";
import "./new-session.css";

/** Where the prompt of a session that does not exist yet is kept. */
const PLACE = "new";
const RETRY_MS = 3_000;

interface Form {
  draft: KeptDraft;
  /** The choices of the draft, and suggestions for the rest. */
  choice: Choice;
  problems: Problems;
  /** It is to be started as it is, as soon as its pictures are read. */
  asked: boolean;
  /** Why some pictures were not taken, of those that were read last, or beside them. */
  refused: readonly string[];
}

/** Gives a changed draft a new session id: the former one may have been started, here or in another tab. */
function changed(
  { draft, choice: before, problems, refused }: Form,
  message_id: string,
  chosen: Choice,
  written: Partial<KeptDraft>,
  fields: readonly (keyof Problems)[],
): Form {
  const choice = { ...before, ...chosen };
  const rest = { ...problems };
  for (const field of [...fields, "form" as const]) delete rest[field];
  return {
    draft: { ...draft, ...written, message_id, choice, tried: false },
    choice,
    problems: rest,
    asked: false,
    refused,
  };
}

/** Starts a session: who is to work, where, and at what. All that is chosen and typed survives a reload. */
export function NewSessionScreen(): ReactNode {
  const api = apiOf(useClient());
  const connection = useConnection();
  const [reply, setReply] = useState<AgentsReply>();
  const [unread, setUnread] = useState<string>();
  const [{ draft, choice, problems, asked, refused }, setForm] = useState<Form>(() => {
    const kept = loadDraft(PLACE);
    return { draft: kept, choice: kept.choice ?? {}, problems: {}, asked: false, refused: [] };
  });
  const [starting, setStarting] = useState(false);
  const [showsPast, setShowsPast] = useState(false);
  /** How often pictures are being read just now. */
  const [reading, setReading] = useState(0);
  /** Number of failed requests since the last reply. */
  const [tries, setTries] = useState(0);
  const prompt = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const ids = { agents: useId(), cwd: useId(), cwdAbout: useId(), folders: useId(), promptAbout: useId() };
  usePageTitle(t.start.pageTitle);

  const look = useCallback(async () => {
    const answer = await api.agents();
    if (!answer.ok) {
      setUnread(failureText(answer.failure));
      return;
    }
    setUnread(undefined);
    setReply(answer.value);
    const message_id = newId();
    // The choices of the draft take precedence over those used last.
    setForm((form) => {
      const { agent, cwd } = form.choice;
      if (agent !== undefined && answer.value.agents.some(({ id }) => id === agent)) return form;
      const next = { model: "", ...suggested(answer.value), ...(cwd === undefined ? {} : { cwd }) };
      return form.draft.choice === undefined
        ? { ...form, choice: { ...form.choice, ...next } }
        : changed(form, message_id, next, {}, ["agent", "model"]);
    });
  }, [api]);
  // Repeat when the connection is back, and when the user returns from setting a key elsewhere.
  const live = connection.status === "live";
  useEffect(() => {
    void look();
    const again = (): void => void look();
    window.addEventListener("focus", again);
    return () => window.removeEventListener("focus", again);
  }, [look, live]);
  useEffect(() => saveDraft(PLACE, draft), [draft]);
  const ready = reply !== undefined;
  useEffect(() => {
    if (ready) prompt.current?.focus();
  }, [ready]);

  const pictures = draft.images.length;
  useEffect(() => {
    // The problems are shown above the input, and could move it below the buttons.
    if (pictures > 0) prompt.current?.scrollIntoView({ block: "nearest" });
  }, [pictures]);

  const isFixed = asked || starting;
  const agent = reply?.agents.find(({ id }) => id === choice.agent);
  const hasPast = agent !== undefined && mayHavePast(agent);
  const choose = (chosen: Choice, ...fields: (keyof Problems)[]): void => {
    const message_id = newId();
    setForm((form) => changed(form, message_id, chosen, {}, fields));
  };
  const write = (written: { text: string } | { images: readonly string[] }): void => {
    const message_id = newId();
    setForm((form) => changed(form, message_id, {}, { ...written, lost_images: 0 }, ["prompt"]));
  };
  const wait = (isAsked: boolean): void => setForm((form) => ({ ...form, asked: isAsked }));
  const addImages = async (coming: Promise<ReadImages>): Promise<void> => {
    if (reading === 0) setForm((form) => ({ ...form, refused: [] }));
    setReading((count) => count + 1);
    const read = await coming;
    setReading((count) => count - 1);
    // Whoever has left finds them where the rest is.
    if (form.current === null) {
      const kept = loadDraft(PLACE);
      const { images } = joined({ images: kept.images, refused: [] }, read);
      saveDraft(PLACE, { ...kept, images, message_id: newId(), tried: false });
      return;
    }
    const message_id = newId();
    setForm((form) => {
      const { images, refused } = joined({ images: form.draft.images, refused: form.refused }, read);
      const next = { refused, asked: form.asked && refused.length === 0 };
      if (read.images.length === 0) return { ...form, ...next };
      return { ...changed(form, message_id, {}, { images, lost_images: 0 }, ["prompt"]), ...next };
    });
  };

  const start = async (): Promise<void> => {
    if (starting) return;
    wait(reading > 0);
    if (reading > 0) return;
    const found = check(agent, choice, draft);
    setForm((form) => ({ ...form, problems: found }));
    if (Object.keys(found).length > 0) {
      // The first field with a problem, once it says so.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
      return;
    }
    setStarting(true);
    const tried = { ...draft, choice, tried: true };
    setForm((form) => ({ ...form, draft: tried }));
    saveDraft(PLACE, tried);
    const { agent: id = "", model = "", cwd = "" } = choice;
    const answer = await api.startSession({
      // Its own id and its prompt's are one: no tab starts another's session, or one twice.
      session_id: draft.message_id,
      agent: id,
      ...(model.trim() === "" ? {} : { model: model.trim() }),
      cwd: cwd.trim(),
      prompt: {
        message_id: draft.message_id,
        text: draft.text,
        ...(draft.images.length === 0 ? {} : { images: [...draft.images] }),
      },
    });
    setStarting(false);
    if (answer.ok) {
      // Who has left meanwhile finds it in the list, and may have come back to write another one.
      if (loadDraft(PLACE).message_id === tried.message_id) saveDraft(PLACE, emptyDraft());
      if (form.current !== null) navigate(sessionHref(answer.value.session_id), "replace");
      return;
    }
    setTries((count) => (answer.failure.code === "refused" ? 0 : count + 1));
    // Of what took its place meanwhile it says nothing, and starts nothing of it.
    setForm((form) =>
      form.draft.message_id === tried.message_id ? { ...form, problems: problemsOf(answer.failure) } : form,
    );
  };
  // Retry when the connection is back. Requests with the same id start only one session.
  const unsent = problems.form !== undefined && tries > 0 && reading === 0;
  const begin = useRef(start);
  begin.current = start;
  useEffect(() => {
    if (!live || !unsent) return;
    const timer = setTimeout(() => void begin.current(), tries > 1 ? RETRY_MS : 0);
    return () => clearTimeout(timer);
  }, [live, unsent, tries]);
  useEffect(() => {
    if (asked && reading === 0) void begin.current();
  }, [asked, reading]);

  const bindings: KeyBinding[] = [
    useWaitingKey(),
    { keys: ["c"], does: t.start.write, run: () => prompt.current?.focus() },
    ...(hasPast ? [{ keys: ["p"], does: t.past.title, run: () => setShowsPast(true) }] : []),
    { keys: ["u", "Escape"], does: t.start.back, run: () => navigate("/") },
  ];
  useKeys(bindings);

  const folders = [...new Set([...(reply?.recent.map(({ cwd }) => cwd) ?? []), reply?.cwd ?? ""])].filter(
    Boolean,
  );

  return (
    <div className="new-session">
      <ScreenHeader title={t.common.newSession} bindings={bindings} />
      <main className="new-session-body" tabIndex={-1} aria-label={t.common.newSession}>
        {unread !== undefined && reply === undefined && (
          <p className="notice notice-warning" role="alert">
            {unread}{" "}
            <button type="button" className="button" onClick={() => void look()}>
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
            <fieldset className="field agents" aria-describedby={ids.agents} disabled={isFixed}>
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
                id={ids.agents}
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
            <div className="field">
              <label htmlFor={ids.cwd}>{t.start.folderLabel}</label>
              <input
                id={ids.cwd}
                className="field-input field-mono"
                type="text"
                list={ids.folders}
                spellCheck={false}
                autoCapitalize="off"
                autoComplete="off"
                value={choice.cwd ?? ""}
                readOnly={isFixed}
                aria-invalid={problems.cwd !== undefined || undefined}
                aria-describedby={ids.cwdAbout}
                onChange={(event) => choose({ cwd: event.target.value }, "cwd")}
              />
              <datalist id={ids.folders}>
                {folders.map((folder) => (
                  <option key={folder} value={folder} />
                ))}
              </datalist>
              <p
                className={problems.cwd === undefined ? "field-about" : "field-problem"}
                id={ids.cwdAbout}
                role={problems.cwd === undefined ? undefined : "alert"}
              >
                {problems.cwd ?? t.start.folder}
              </p>
            </div>
            <div className="field">
              <span className="field-label" aria-hidden="true">
                {t.composer.prompt}
              </span>
              <PromptInput
                label={t.composer.prompt}
                placeholder={t.start.task}
                text={draft.text}
                images={draft.images}
                takesImages={agent?.takes_images ?? true}
                readOnly={isFixed}
                isReading={reading > 0}
                refused={refused}
                input={prompt}
                invalid={problems.prompt !== undefined}
                describedBy={ids.promptAbout}
                onText={(text) => write({ text })}
                onImages={(images) => write({ images })}
                onAdd={addImages}
                onSend={() => void start()}
                onEscape={() => (asked ? wait(false) : prompt.current?.blur())}
              >
                <span className="composer-hint">{t.start.keys}</span>
                <span className="composer-send">
                  <button type="submit" className="button button-main" disabled={starting || reading > 0}>
                    {starting ? t.start.starting : t.start.start}
                  </button>
                </span>
              </PromptInput>
              <p
                className={problems.prompt === undefined ? "unseen" : "field-problem"}
                id={ids.promptAbout}
                role={problems.prompt === undefined ? undefined : "alert"}
              >
                {problems.prompt ?? t.start.promptAbout}
              </p>
              {draft.lost_images > 0 && draft.images.length === 0 && (
                <p className="field-about">{t.composer.lostImages(draft.lost_images)}</p>
              )}
            </div>
            {problems.form !== undefined && (
              <p className="field-problem" role="alert">
                {t.start.notStarted(problems.form)}
              </p>
            )}
          </form>
        )}
        {showsPast && hasPast && (
          <PastSessions agent={agent} cwd={(choice.cwd ?? "").trim()} onClose={() => setShowsPast(false)} />
        )}
      </main>
    </div>
  );
}
