import { createStore, type StoreApi } from "zustand/vanilla";
import type { PromptBody } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import type { ApiFailure } from "../api/requests.ts";
import { newId } from "../app/new-id.ts";
import type { Client } from "../app/store.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { joined, type ReadImages } from "./images.ts";
import { emptyDraft, type KeptDraft, loadDraft, saveDraft } from "./kept-draft.ts";

interface DraftState extends KeptDraft {
  /** How often images are being read for it just now: it is not sent without them. */
  readonly reading: number;
  /** Why some were not taken, of those that were read last, or beside them. */
  readonly refused: readonly string[];
  /** It is to be sent as soon as they are read, and cannot be changed until then. */
  readonly asked?: "queue" | "steer";
  /** On its way: it cannot be changed until the daemon answered, or the reader takes it back. */
  readonly sending?: "queue" | "steer";
  /** Why it is still here, and what to do. */
  readonly problem?: string;
}

/** The prompt that is being written for one session. It outlives the screen, so that what is on its way arrives. */
export interface Draft {
  readonly state: StoreApi<DraftState>;
  setText(text: string): void;
  setImages(images: readonly string[]): void;
  /** Adds images once they are read, wherever the reader is by then. */
  addImages(coming: Promise<ReadImages>): void;
  /** Sends it once its images are read, and again whenever the connection is back, until the daemon took or refused it. */
  send(when: "queue" | "steer"): void;
  /** Stops sending, or waiting to: it may be changed, and is then another prompt. */
  takeBack(): void;
  /**
   * Takes back a prompt that waits in the queue, and asks again until the daemon did or refused to; gives why it could not.
   * It goes before what is written here; what is on its way leaves first. `unheard`: called while the daemon does not answer.
   */
  withdraw(message_id: string, unheard: () => void): Promise<ApiFailure | undefined>;
  /** The daemon shows a prompt of this id: if that is this one, it has arrived. */
  seen(message_id: string): void;
}

const RETRY_MS = 3_000;

function createDraft(session_id: string, client: Client): Draft {
  const { live } = client;
  const api = apiOf(client);
  const state = createStore<DraftState>(() => ({ ...loadDraft(session_id), reading: 0, refused: [] }));
  state.subscribe((now) => saveDraft(session_id, now));
  let attempt = 0;

  const settle = (change: Partial<DraftState>): void => {
    const { asked: _, sending: __, problem: ___, ...kept } = state.getState();
    state.setState({ ...kept, ...change }, true);
  };
  const clear = (): void => state.setState({ ...emptyDraft(), reading: 0, refused: [] }, true);
  /** What is changed is another prompt: this one may have been sent, here or in a tab that has it too. */
  const change = (changed: Partial<DraftState>): void =>
    settle({ ...changed, message_id: newId(), tried: false });

  const deliver = async (this_attempt: number): Promise<void> => {
    const { message_id, text, images, sending } = state.getState();
    if (sending === undefined || this_attempt !== attempt) return;
    const prompt = { message_id, text, ...(images.length === 0 ? {} : { images: [...images] }) };
    const reply = await api.sendPrompt(session_id, prompt, sending);
    // Taken back, or seen in the session meanwhile.
    if (this_attempt !== attempt || state.getState().message_id !== message_id) return;
    if (reply.ok) clear();
    else if (reply.failure.code === "offline") {
      state.setState({
        problem: t.composer.notSentYet,
      });
      await backOnline(live);
      await deliver(this_attempt);
    } else settle({ problem: problemText(reply.failure) });
  };

  const giveBack = (prompt: PromptBody): void => {
    const { text, images } = state.getState();
    if (!isLeaving(state.getState())) {
      change({
        text: [prompt.text, text].filter((words) => words.trim() !== "").join("\n\n"),
        images: [...(prompt.images ?? []), ...images],
      });
      return;
    }
    const stop = state.subscribe((now) => {
      if (isLeaving(now)) return;
      stop();
      giveBack(prompt);
    });
  };

  const send = (when: "queue" | "steer"): void => {
    const { text, images, reading, sending } = state.getState();
    if (sending !== undefined) return;
    if (reading > 0) {
      state.setState({ asked: when });
      return;
    }
    if (text.trim() === "" && images.length === 0) return;
    settle({ tried: true, sending: when });
    attempt += 1;
    void deliver(attempt);
  };

  return {
    state,
    async withdraw(message_id, unheard) {
      const prompt = await api.waitingPrompt(session_id, message_id);
      if (!prompt.ok) return prompt.failure;
      // Whoever withdraws it at the same moment is another one: the words go to one of both.
      const withdrawal_id = newId();
      let reply = await api.withdrawPrompt(session_id, message_id, withdrawal_id);
      // It may be withdrawn all the same: then here are its only words.
      while (!reply.ok && reply.failure.code === "offline") {
        unheard();
        await backOnline(live);
        reply = await api.withdrawPrompt(session_id, message_id, withdrawal_id);
      }
      if (!reply.ok) return reply.failure;
      giveBack(prompt.value);
      return undefined;
    },
    setText: (text) => change({ text }),
    setImages: (images) => change({ images, lost_images: 0 }),
    async addImages(coming) {
      if (isLeaving(state.getState())) return;
      // Another prompt from now on: neither sent nor found in the session before they are read, it is still here then.
      const { reading: others, refused: standing } = state.getState();
      change({ reading: others + 1, refused: others === 0 ? [] : standing });
      const read = await coming;
      const { reading, asked } = state.getState();
      const { images, refused } = joined(state.getState(), read);
      // It was meant to go with all of them.
      const when = refused.length === 0 ? asked : undefined;
      change({
        reading: reading - 1,
        refused,
        ...(read.images.length > 0 && { images, lost_images: 0 }),
        ...(when === undefined ? {} : { asked: when }),
      });
      if (when !== undefined) send(when);
    },
    send,
    takeBack() {
      attempt += 1;
      settle({});
    },
    seen(message_id) {
      const now = state.getState();
      if (!now.tried || now.message_id !== message_id) return;
      attempt += 1;
      clear();
    },
  };
}

/** Neither the words nor the images are the reader's to change. */
const isLeaving = ({ asked, sending }: DraftState): boolean => (asked ?? sending) !== undefined;

const problemText = (failure: ApiFailure): string => t.composer.notSent(failureText(failure));

/** Resolves when the daemon is heard again, or after a while: the socket may be up where a request failed. */
function backOnline({ connection }: Client["live"]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, RETRY_MS);
    const stop = connection.subscribe((now, before) => {
      if (now.status === "live" && before.status !== "live") done();
    });
  });
}

const drafts = new WeakMap<Client, Map<string, Draft>>();

/** The draft of a session, made at the first call; the same while the page lives. */
export function draftOf(client: Client, session_id: string): Draft {
  const known = drafts.get(client) ?? new Map<string, Draft>();
  drafts.set(client, known);
  const draft = known.get(session_id) ?? createDraft(session_id, client);
  known.set(session_id, draft);
  return draft;
}
