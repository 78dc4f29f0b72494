import { createStore, type StoreApi } from "zustand/vanilla";
import type { AnswerLockReply, UnlockReply } from "../../protocol.ts";
import { t } from "../text/text.ts";
import type { ApiResult, Requests } from "./requests.ts";

/**
 * Whether this page may answer agents, if a passphrase is required for that. The token is kept only in memory, because other
 * programs of the user can read what browsers store.
 */
export interface AnswerLock {
  readonly token?: string;
  /** Set while an answer waits for the passphrase. Call it with the token, or without one if the user cancels. */
  readonly waiting?: (token: string | undefined) => void;
}

export const createAnswerLock = (): StoreApi<AnswerLock> => createStore<AnswerLock>(() => ({}));

/** Sends an answer. If a passphrase is set and this page is not unlocked, waits until the user has entered it. */
export async function sendUnlocked<Value>(
  lock: StoreApi<AnswerLock>,
  { get }: Pick<Requests, "get">,
  send: (token: { unlock_token?: string }) => Promise<ApiResult<Value>>,
): Promise<ApiResult<Value>> {
  const { token } = lock.getState();
  if (token === undefined) {
    const state = await get<AnswerLockReply>("/api/answer-passphrase");
    return state.ok && state.value.is_set ? await sendOnceUnlocked(lock, send) : await send({});
  }
  const reply = await send({ unlock_token: token });
  // The token is invalid after a restart of the daemon or a change of the passphrase.
  const isLocked = !reply.ok && reply.failure.code === "refused" && reply.failure.reason === "answer_locked";
  return isLocked ? await sendOnceUnlocked(lock, send) : reply;
}

async function sendOnceUnlocked<Value>(
  lock: StoreApi<AnswerLock>,
  send: (token: { unlock_token?: string }) => Promise<ApiResult<Value>>,
): Promise<ApiResult<Value>> {
  // If another answer is already waiting, both are sent with the same token.
  const before = lock.getState().waiting;
  const token = await new Promise<string | undefined>((resolve) =>
    lock.setState({
      waiting(entered) {
        before?.(entered);
        resolve(entered);
      },
    }),
  );
  if (token !== undefined) return await send({ unlock_token: token });
  return { ok: false, failure: { code: "refused", status: 403, message: t.failure.locked } };
}

/** Exchanges the passphrase for a token, and sends the answers that are waiting for it. */
export async function unlock(
  lock: StoreApi<AnswerLock>,
  { post }: Pick<Requests, "post">,
  passphrase: string,
): Promise<ApiResult<UnlockReply>> {
  const reply = await post<UnlockReply>("/api/answer-passphrase/unlock", { passphrase });
  if (!reply.ok) return reply;
  const { waiting } = lock.getState();
  lock.setState({ token: reply.value.token }, true);
  waiting?.(reply.value.token);
  return reply;
}

/** Cancels the answers that are waiting for the passphrase. */
export function giveUpUnlocking(lock: StoreApi<AnswerLock>): void {
  const { token, waiting } = lock.getState();
  lock.setState(token === undefined ? {} : { token }, true);
  waiting?.(undefined);
}
