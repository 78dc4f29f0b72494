import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { AgentsReply } from "../../../protocol.ts";
import { type Api, apiOf } from "../../api/api.ts";
import { newId } from "../../app/new-id.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import { useClient, useConnection } from "../../app/store.ts";
import { joined, type ReadImages } from "../../composer/images.ts";
import { type Choice, emptyDraft, type KeptDraft, loadDraft, saveDraft } from "../../composer/kept-draft.ts";
import { failureText } from "../../text/failure-text.ts";
import { check, type Problems, problemsOf, suggested } from "./form.ts";

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

/** Suggests an agent and its model where the draft chooses none that there is. */
function withSuggestions(form: Form, message_id: string, reply: AgentsReply): Form {
  // The choices of the draft take precedence over those used last.
  const { agent, cwd } = form.choice;
  if (agent !== undefined && reply.agents.some(({ id }) => id === agent)) return form;
  const next = { model: "", ...suggested(reply), ...(cwd === undefined ? {} : { cwd }) };
  return form.draft.choice === undefined
    ? { ...form, choice: { ...form.choice, ...next } }
    : changed(form, message_id, next, {}, ["agent", "model"]);
}

/** Adds pictures, or says why they were not taken. */
function withImages(form: Form, message_id: string, read: ReadImages): Form {
  const { images, refused } = joined({ images: form.draft.images, refused: form.refused }, read);
  const next = { refused, asked: form.asked && refused.length === 0 };
  if (read.images.length === 0) return { ...form, ...next };
  return { ...changed(form, message_id, {}, { images, lost_images: 0 }, ["prompt"]), ...next };
}

/** What the daemon is asked to start. */
function startBody(draft: KeptDraft, choice: Choice): Parameters<Api["startSession"]>[0] {
  const { agent = "", model = "", cwd = "" } = choice;
  return {
    // Its own id and its prompt's are one: no tab starts another's session, or one twice.
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

/** The form of a session that is about to start. */
export interface NewSessionForm {
  /** The agents; `undefined`: not loaded. */
  readonly reply: AgentsReply | undefined;
  /** Why the agents could not be loaded. */
  readonly unread: string | undefined;
  readonly draft: KeptDraft;
  /** The choices of the draft, and suggestions for the rest. */
  readonly choice: Choice;
  readonly problems: Problems;
  readonly agent: AgentsReply["agents"][number] | undefined;
  /** It starts as soon as its pictures are read. */
  readonly asked: boolean;
  readonly starting: boolean;
  readonly isReading: boolean;
  /** Why some pictures were not taken. */
  readonly refused: readonly string[];
  readonly prompt: RefObject<HTMLTextAreaElement | null>;
  readonly form: RefObject<HTMLFormElement | null>;
  look(): Promise<void>;
  choose(chosen: Choice, ...fields: (keyof Problems)[]): void;
  write(written: { text: string } | { images: readonly string[] }): void;
  wait(isAsked: boolean): void;
  addImages(coming: Promise<ReadImages>): Promise<void>;
  start(): Promise<void>;
}

/** The state of the form. All that is chosen and typed survives a reload. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the state of one form: each of its actions changes the same draft
export function useNewSession(): NewSessionForm {
  const api = apiOf(useClient());
  const connection = useConnection();
  const [reply, setReply] = useState<AgentsReply>();
  const [unread, setUnread] = useState<string>();
  const [{ draft, choice, problems, asked, refused }, setForm] = useState<Form>(() => {
    const kept = loadDraft(PLACE);
    return { draft: kept, choice: kept.choice ?? {}, problems: {}, asked: false, refused: [] };
  });
  const [starting, setStarting] = useState(false);
  /** How often pictures are being read just now. */
  const [reading, setReading] = useState(0);
  /** Number of failed requests since the last reply. */
  const [tries, setTries] = useState(0);
  const prompt = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const look = useCallback(async () => {
    const answer = await api.agents();
    if (!answer.ok) {
      setUnread(failureText(answer.failure));
      return;
    }
    setUnread(undefined);
    setReply(answer.value);
    const message_id = newId();
    setForm((form) => withSuggestions(form, message_id, answer.value));
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

  const agent = reply?.agents.find(({ id }) => id === choice.agent);
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
    setForm((form) => withImages(form, message_id, read));
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
    const answer = await api.startSession(startBody(draft, choice));
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

  return {
    reply,
    unread,
    draft,
    choice,
    problems,
    agent,
    asked,
    starting,
    isReading: reading > 0,
    refused,
    prompt,
    form,
    look,
    choose,
    write,
    wait,
    addImages,
    start,
  };
}
