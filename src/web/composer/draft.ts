import { createStore, type StoreApi } from "zustand/vanilla";
import type { PromptBody } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import type { ApiFailure, ApiResult } from "../api/requests.ts";
import { newId } from "../app/new-id.ts";
import type { Client } from "../app/store.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { appendImages, type ReadImages } from "./images.ts";
import { emptyDraft, loadDraft, type SavedDraft, saveDraft } from "./saved-draft.ts";

interface DraftState extends SavedDraft {
  /** Number of image reads in progress. The draft is not sent before they finish. */
  readonly reading: number;
  /** Why some of the latest images were not added. */
  readonly imageProblems: readonly string[];
  /** How to send the draft as soon as its images are read. Until then it cannot be changed. */
  readonly sendWhenRead?: "queue" | "steer";
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
  addImages(pendingImages: Promise<ReadImages>): void;
  /** Sends the draft once its images are read. Retries until the daemon accepts or refuses it. */
  send(when: "queue" | "steer"): void;
  /** Cancels sending. The draft can then be changed, which makes it a different prompt. */
  cancelSending(): void;
  /**
   * Withdraws a queued prompt, retrying until the daemon accepts or refuses. Resolves with the failure, if any. The prompt is
   * inserted before the current text; if the draft is being sent, only after that. `onNoReply`: called each time the daemon
   * does not reply.
   */
  withdraw(message_id: string, onNoReply: () => void): Promise<ApiFailure | undefined>;
  /** Call with the id of a prompt that is in the session. If it is this draft, the draft was sent and is cleared. */
  confirmSent(message_id: string): void;
}

const RETRY_MS = 3_000;

function createDraft(session_id: string, client: Client): Draft {
  const { live } = client;
  const api = apiOf(client);
  const state = createStore<DraftState>(() => ({ ...loadDraft(session_id), reading: 0, imageProblems: [] }));
  state.subscribe((now) => saveDraft(session_id, now));
  let attempt = 0;

  const endSending = (change: Partial<DraftState>): void => {
    const { sendWhenRead: _, sending: __, problem: ___, ...kept } = state.getState();
    state.setState({ ...kept, ...change }, true);
  };
  const clear = (): void => state.setState({ ...emptyDraft(), reading: 0, imageProblems: [] }, true);
  /** Gives a changed draft a new id: the former prompt may have been sent, here or in another tab. */
  const change = (changed: Partial<DraftState>): void =>
    endSending({ ...changed, message_id: newId(), tried: false });

  const deliver = async (this_attempt: number): Promise<void> => {
    const { message_id, text, images, sending } = state.getState();
    if (sending === undefined || this_attempt !== attempt) return;
    const prompt = { message_id, text, ...(images.length === 0 ? {} : { images: [...images] }) };
    const reply = await api.sendPrompt(session_id, prompt, sending);
    // Meanwhile, sending was cancelled, or the draft was found in the session.
    if (this_attempt !== attempt || state.getState().message_id !== message_id) return;
    if (reply.ok) clear();
    else if (reply.failure.code === "offline") {
      state.setState({
        problem: t.composer.notSentYet,
      });
      await backOnline(live);
      await deliver(this_attempt);
    } else endSending({ problem: problemText(reply.failure) });
  };

  const restorePrompt = (prompt: PromptBody): void =>
    whenUnlocked(state, () => {
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
      state.setState({ sendWhenRead: when });
      return;
    }
    if (text.trim() === "" && images.length === 0) return;
    endSending({ tried: true, sending: when });
    attempt += 1;
    void deliver(attempt);
  };

  return {
    state,
    async withdraw(message_id, onNoReply) {
      const prompt = await withdrawPrompt(client, session_id, message_id, onNoReply);
      if (!prompt.ok) return prompt.failure;
      restorePrompt(prompt.value);
      return undefined;
    },
    setText: (text) => change({ text }),
    setImages: (images) => change({ images, lost_images: 0 }),
    async addImages(pending) {
      if (isLocked(state.getState())) return;
      // `change` assigns a new id, so that the draft is not taken for the former prompt while its images are read.
      const { reading: others, imageProblems: previousProblems } = state.getState();
      change({ reading: others + 1, imageProblems: others === 0 ? [] : previousProblems });
      const read = await pending;
      const { reading, sendWhenRead } = state.getState();
      const { images, imageProblems } = appendImages(state.getState(), read);
      // Send only if all images could be added.
      const when = imageProblems.length === 0 ? sendWhenRead : undefined;
      change({
        reading: reading - 1,
        imageProblems,
        ...(read.images.length > 0 && { images, lost_images: 0 }),
        ...(when === undefined ? {} : { sendWhenRead: when }),
      });
      if (when !== undefined) send(when);
    },
    send,
    cancelSending() {
      attempt += 1;
      endSending({});
    },
    confirmSent(message_id) {
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
const isLocked = ({ sendWhenRead, sending }: DraftState): boolean => (sendWhenRead ?? sending) !== undefined;

/** Calls `run` once the text and images can be changed. */
function whenUnlocked(state: StoreApi<DraftState>, run: () => void): void {
  if (!isLocked(state.getState())) {
    run();
    return;
  }
  const stop = state.subscribe((now) => {
    if (isLocked(now)) return;
    stop();
    whenUnlocked(state, run);
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
