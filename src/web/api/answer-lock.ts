import { createStore, type StoreApi } from "zustand/vanilla";
import type { AnswerLockReply, UnlockReply } from "../../protocol.ts";
import { t } from "../text/text.ts";
import type { ApiResult, Requests } from "./requests.ts";

/**
 * Whether this page may answer agents, if a passphrase is set for that. The token is kept in memory only: what browsers store can be
 * read by other programs of the user.
 */
export interface AnswerLock {
  readonly token?: string;
  /** An answer waits for the passphrase. Called with the token, or without one if the person gives up. */
  readonly waiting?: (token: string | undefined) => void;
}

export const createAnswerLock = (): StoreApi<AnswerLock> => createStore<AnswerLock>(() => ({}));

/** Sends an answer, after the passphrase was entered if one is set and this page is not unlocked. */
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
  // The daemon was restarted, or the passphrase changed.
  const isLocked = !reply.ok && reply.failure.code === "refused" && reply.failure.reason === "answer_locked";
  return isLocked ? await sendOnceUnlocked(lock, send) : reply;
}

async function sendOnceUnlocked<Value>(
  lock: StoreApi<AnswerLock>,
  send: (token: { unlock_token?: string }) => Promise<ApiResult<Value>>,
): Promise<ApiResult<Value>> {
  // Another answer may wait already: both go on with the same token.
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

/** Gets a token for the page, and sends the answers that wait for it. */
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

/** Gives up the answers that wait. */
export function giveUpUnlocking(lock: StoreApi<AnswerLock>): void {
  const { token, waiting } = lock.getState();
  lock.setState(token === undefined ? {} : { token }, true);
  waiting?.(undefined);
}
