import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { AgentsReply } from "../../../protocol.ts";
import { type Api, apiOf } from "../../api/api.ts";
import { newId } from "../../app/new-id.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { useClient, useConnection } from "../../app/store.ts";
import { appendImages, type ReadImages } from "../../composer/images.ts";
import {
  type Choice,
  emptyDraft,
  loadDraft,
  type SavedDraft,
  saveDraft,
} from "../../composer/saved-draft.ts";
import { failureText } from "../../text/failure-text.ts";
import { check, type Problems, problemsOf, suggested } from "./form.ts";

/** The key under which the draft of a new session is stored. */
const PLACE = "new";
const RETRY_MS = 3_000;

interface Form {
  draft: SavedDraft;
  /** The choices of the draft, and suggestions for the rest. */
  choice: Choice;
  problems: Problems;
  /** The user has submitted the form: the session starts as soon as its images are read. */
  isSubmitted: boolean;
  /** Why some of the latest images were not added. */
  imageProblems: readonly string[];
}

/**
 * Changes the draft and gives it a new session id: a session with the former id may have been started, here or in another tab.
 */
function changed(
  { draft, choice: before, problems, imageProblems }: Form,
  message_id: string,
  chosen: Choice,
  written: Partial<SavedDraft>,
  fields: readonly (keyof Problems)[],
): Form {
  const choice = { ...before, ...chosen };
  const rest = { ...problems };
  for (const field of [...fields, "form" as const]) delete rest[field];
  return {
    draft: { ...draft, ...written, message_id, choice, tried: false },
    choice,
    problems: rest,
    isSubmitted: false,
    imageProblems,
  };
}

/** Suggests an agent and its model if the draft chooses no agent, or one that does not exist. */
function withSuggestions(form: Form, message_id: string, reply: AgentsReply): Form {
  // The choices of the draft take precedence over those used last.
  const { agent, cwd } = form.choice;
  if (agent !== undefined && reply.agents.some(({ id }) => id === agent)) return form;
  const next = { model: "", ...suggested(reply), ...(cwd === undefined ? {} : { cwd }) };
  return form.draft.choice === undefined
    ? { ...form, choice: { ...form.choice, ...next } }
    : changed(form, message_id, next, {}, ["agent", "model"]);
}

/** Adds images, or records why they were not added. */
function withImages(form: Form, message_id: string, read: ReadImages): Form {
  const { images, imageProblems } = appendImages(
    { images: form.draft.images, imageProblems: form.imageProblems },
    read,
  );
  const next = { imageProblems, isSubmitted: form.isSubmitted && imageProblems.length === 0 };
  if (read.images.length === 0) return { ...form, ...next };
  return { ...changed(form, message_id, {}, { images, lost_images: 0 }, ["prompt"]), ...next };
}

/** The request that starts the session. */
function startBody(draft: SavedDraft, choice: Choice): Parameters<Api["startSession"]>[0] {
  const { agent = "", model = "", cwd = "" } = choice;
  return {
    // The session has the id of its prompt, so that no two requests or tabs start the same session twice.
    session_id: draft.message_id,
    agent,
    ...(model.trim() === "" ? {} : { model: model.trim() }),
    cwd: cwd.trim(),
    prompt: {
      message_id: draft.message_id,
      text: draft.text,
      ...(draft.images.length === 0 ? {} : { images: [...draft.images] }),
    },
  };
}

/** The form that starts a session. */
export interface NewSessionForm {
  /** The agents. `undefined`: not loaded yet. */
  readonly reply: AgentsReply | undefined;
  /** Why the agents could not be loaded. */
  readonly loadProblem: string | undefined;
  readonly draft: SavedDraft;
  /** The choices of the draft, and suggestions for the rest. */
  readonly choice: Choice;
  readonly problems: Problems;
  readonly agent: AgentsReply["agents"][number] | undefined;
  /** The user has submitted the form: the session starts as soon as its images are read. */
  readonly isSubmitted: boolean;
  readonly starting: boolean;
  readonly isReading: boolean;
  /** Why some of the latest images were not added. */
  readonly imageProblems: readonly string[];
  readonly prompt: RefObject<HTMLTextAreaElement | null>;
  readonly form: RefObject<HTMLFormElement | null>;
  loadAgents(): Promise<void>;
  choose(chosen: Choice, ...fields: (keyof Problems)[]): void;
  write(written: { text: string } | { images: readonly string[] }): void;
  setSubmitted(isSubmitted: boolean): void;
  addImages(pending: Promise<ReadImages>): Promise<void>;
  start(): Promise<void>;
}

/** The state of the form. Everything that the user chose and typed survives a reload. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the state of one form: each of its actions changes the same draft
export function useNewSession(): NewSessionForm {
  const api = apiOf(useClient());
  const connection = useConnection();
  const [reply, setReply] = useState<AgentsReply>();
  const [loadProblem, setLoadProblem] = useState<string>();
  const [{ draft, choice, problems, isSubmitted, imageProblems }, setForm] = useState<Form>(() => {
    const stored = loadDraft(PLACE);
    return {
      draft: stored,
      choice: stored.choice ?? {},
      problems: {},
      isSubmitted: false,
      imageProblems: [],
    };
  });
  const [starting, setStarting] = useState(false);
  /** Number of image reads in progress. */
  const [reading, setReading] = useState(0);
  /** Number of failed requests since the last reply. */
  const [failureCount, setFailureCount] = useState(0);
  const prompt = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const loadAgents = useCallback(async () => {
    const answer = await api.agents();
    if (!answer.ok) {
      setLoadProblem(failureText(answer.failure));
      return;
    }
    setLoadProblem(undefined);
    setReply(answer.value);
    const message_id = newId();
    setForm((form) => withSuggestions(form, message_id, answer.value));
  }, [api]);
  // Repeat when the connection is back, and when the user returns from setting a key elsewhere.
  const live = connection.status === "live";
  useEffect(() => {
    void loadAgents();
    const reload = (): void => void loadAgents();
    window.addEventListener("focus", reload);
    return () => window.removeEventListener("focus", reload);
  }, [loadAgents, live]);
  useEffect(() => saveDraft(PLACE, draft), [draft]);
  const ready = reply !== undefined;
  useEffect(() => {
    if (ready) prompt.current?.focus();
  }, [ready]);

  const imageCount = draft.images.length;
  useEffect(() => {
    // Images are shown above the input, and could move it below the sticky buttons.
    if (imageCount > 0) prompt.current?.scrollIntoView({ block: "nearest" });
  }, [imageCount]);

  const agent = reply?.agents.find(({ id }) => id === choice.agent);
  const choose = (chosen: Choice, ...fields: (keyof Problems)[]): void => {
    const message_id = newId();
    setForm((form) => changed(form, message_id, chosen, {}, fields));
  };
  const write = (written: { text: string } | { images: readonly string[] }): void => {
    const message_id = newId();
    setForm((form) => changed(form, message_id, {}, { ...written, lost_images: 0 }, ["prompt"]));
  };
  const setSubmitted = (isSubmitted: boolean): void => setForm((form) => ({ ...form, isSubmitted }));
  const addImages = async (pending: Promise<ReadImages>): Promise<void> => {
    if (reading === 0) setForm((form) => ({ ...form, imageProblems: [] }));
    setReading((count) => count + 1);
    const read = await pending;
    setReading((count) => count - 1);
    // The user has left the screen: add the images to the stored draft.
    if (form.current === null) {
      const stored = loadDraft(PLACE);
      const { images } = appendImages({ images: stored.images, imageProblems: [] }, read);
      saveDraft(PLACE, { ...stored, images, message_id: newId(), tried: false });
      return;
    }
    const message_id = newId();
    setForm((form) => withImages(form, message_id, read));
  };

  const start = async (): Promise<void> => {
    if (starting) return;
    setSubmitted(reading > 0);
    if (reading > 0) return;
    const found = check(agent, choice, draft);
    setForm((form) => ({ ...form, problems: found }));
    if (Object.keys(found).length > 0) {
      // Focus the first invalid field, once it is rendered as invalid.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
      return;
    }
    setStarting(true);
    const attempt = { ...draft, choice, tried: true };
    setForm((form) => ({ ...form, draft: attempt }));
    saveDraft(PLACE, attempt);
    const answer = await api.startSession(startBody(draft, choice));
    setStarting(false);
    if (answer.ok) {
      // If the user has left meanwhile, the new session is in the list, and the stored draft may be a different one.
      if (loadDraft(PLACE).message_id === attempt.message_id) saveDraft(PLACE, emptyDraft());
      if (form.current !== null) navigate(sessionHref(answer.value.session_id), "replace");
      return;
    }
    setFailureCount((count) => (answer.failure.code === "refused" ? 0 : count + 1));
    // If the draft has changed meanwhile, the failure does not apply to it, and must not cause a retry.
    setForm((form) =>
      form.draft.message_id === attempt.message_id ? { ...form, problems: problemsOf(answer.failure) } : form,
    );
  };
  // Retry when the connection is back. Requests with the same id start only one session.
  const canRetry = problems.form !== undefined && failureCount > 0 && reading === 0;
  const latestStart = useRef(start);
  latestStart.current = start;
  useEffect(() => {
    if (!live || !canRetry) return;
    const timer = setTimeout(() => void latestStart.current(), failureCount > 1 ? RETRY_MS : 0);
    return () => clearTimeout(timer);
  }, [live, canRetry, failureCount]);
  useEffect(() => {
    if (isSubmitted && reading === 0) void latestStart.current();
  }, [isSubmitted, reading]);

  return {
    reply,
    loadProblem,
    draft,
    choice,
    problems,
    agent,
    isSubmitted,
    starting,
    isReading: reading > 0,
    imageProblems,
    prompt,
    form,
    loadAgents,
    choose,
    write,
    setSubmitted,
    addImages,
    start,
  };
}
