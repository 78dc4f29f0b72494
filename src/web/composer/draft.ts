import { createStore, type StoreApi } from "zustand/vanilla";
import type { PromptBody } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import type { ApiFailure, ApiResult } from "../api/requests.ts";
import { newId } from "../app/new-id.ts";
import type { Client } from "../app/store.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { joined, type ReadImages } from "./images.ts";
import { emptyDraft, type KeptDraft, loadDraft, saveDraft } from "./kept-draft.ts";

interface DraftState extends KeptDraft {
  /** Number of image reads in progress. The draft is not sent before they finish. */
  readonly reading: number;
  /** Why some of the latest images were not added. */
  readonly refused: readonly string[];
  /** How to send the draft as soon as its images are read. Until then it cannot be changed. */
  readonly asked?: "queue" | "steer";
  /** How the draft is being sent. It cannot be changed until the daemon replies or the user takes it back. */
  readonly sending?: "queue" | "steer";
  /** Why the draft was not sent, and what to do. */
  readonly problem?: string;
}

/** The draft of a prompt for one session. Outlives the screen, so that sending continues after the user leaves it. */
export interface Draft {
  readonly state: StoreApi<DraftState>;
  setText(text: string): void;
  setImages(images: readonly string[]): void;
  /** Adds images once they are read, even if the user has left the screen. */
  addImages(coming: Promise<ReadImages>): void;
  /** Sends the draft once its images are read. Retries until the daemon accepts or refuses it. */
  send(when: "queue" | "steer"): void;
  /** Cancels sending. The draft can then be changed, which makes it a different prompt. */
  takeBack(): void;
  /**
   * Withdraws a queued prompt, retrying until the daemon accepts or refuses. Resolves with the failure, if any. The prompt is
   * inserted before the current text; if the draft is being sent, only after that. `onNoReply`: called each time the daemon
   * does not reply.
   */
  withdraw(message_id: string, onNoReply: () => void): Promise<ApiFailure | undefined>;
  /** Call with the id of a prompt that is in the session. If it is this draft, the draft was sent and is cleared. */
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
  /** Gives a changed draft a new id: the former prompt may have been sent, here or in another tab. */
  const change = (changed: Partial<DraftState>): void =>
    settle({ ...changed, message_id: newId(), tried: false });

  const deliver = async (this_attempt: number): Promise<void> => {
    const { message_id, text, images, sending } = state.getState();
    if (sending === undefined || this_attempt !== attempt) return;
    const prompt = { message_id, text, ...(images.length === 0 ? {} : { images: [...images] }) };
    const reply = await api.sendPrompt(session_id, prompt, sending);
    // Meanwhile, the draft was taken back or found in the session.
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

  const giveBack = (prompt: PromptBody): void =>
    whenFree(state, () => {
      const { text, images } = state.getState();
      change({
        text: [prompt.text, text].filter((words) => words.trim() !== "").join("\n\n"),
        images: [...(prompt.images ?? []), ...images],
      });
    });

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
    async withdraw(message_id, onNoReply) {
      const prompt = await withdrawPrompt(client, session_id, message_id, onNoReply);
      if (!prompt.ok) return prompt.failure;
      giveBack(prompt.value);
      return undefined;
    },
    setText: (text) => change({ text }),
    setImages: (images) => change({ images, lost_images: 0 }),
    async addImages(coming) {
      if (isLeaving(state.getState())) return;
      // `change` assigns a new id, so that the draft is not taken for the former prompt while its images are read.
      const { reading: others, refused: standing } = state.getState();
      change({ reading: others + 1, refused: others === 0 ? [] : standing });
      const read = await coming;
      const { reading, asked } = state.getState();
      const { images, refused } = joined(state.getState(), read);
      // Send only if all images could be added.
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

/** Withdraws a queued prompt, and returns it. */
async function withdrawPrompt(
  client: Client,
  session_id: string,
  message_id: string,
  onNoReply: () => void,
): Promise<ApiResult<PromptBody>> {
  const api = apiOf(client);
  const prompt = await api.waitingPrompt(session_id, message_id);
  if (!prompt.ok) return prompt;
  // If another client withdraws the prompt at the same time, only one of them gets the text.
  const withdrawal_id = newId();
  let reply = await api.withdrawPrompt(session_id, message_id, withdrawal_id);
  // The withdrawal may have succeeded although the reply was lost; then this is the only copy of the text.
  while (!reply.ok && reply.failure.code === "offline") {
    onNoReply();
    await backOnline(client.live);
    reply = await api.withdrawPrompt(session_id, message_id, withdrawal_id);
  }
  return reply.ok ? prompt : reply;
}

/** Whether the text and images cannot be changed now. */
const isLeaving = ({ asked, sending }: DraftState): boolean => (asked ?? sending) !== undefined;

/** Calls `run` once the text and images can be changed. */
function whenFree(state: StoreApi<DraftState>, run: () => void): void {
  if (!isLeaving(state.getState())) {
    run();
    return;
  }
  const stop = state.subscribe((now) => {
    if (isLeaving(now)) return;
    stop();
    whenFree(state, run);
  });
}

const problemText = (failure: ApiFailure): string => t.composer.notSent(failureText(failure));

/** Resolves when the connection is back or after `RETRY_MS`, because a request may fail although the socket is open. */
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

/** Returns the draft of a session: the same object as long as the page is open. */
export function draftOf(client: Client, session_id: string): Draft {
  const known = drafts.get(client) ?? new Map<string, Draft>();
  drafts.set(client, known);
  const draft = known.get(session_id) ?? createDraft(session_id, client);
  known.set(session_id, draft);
  return draft;
}
