import "../text/screens-text.ts";
import { apiOf } from "../api/api.ts";
import type { ApiClient } from "../api/in-flight-requests.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { scriptUrl } from "../ui/script-url.ts";
import { navigate } from "./router.ts";

const WORKER = "/push-worker.js";

/** Whether this browser can receive push messages from this page. Requires HTTPS, or localhost. */
export const canPush = (): boolean => "serviceWorker" in navigator && "PushManager" in globalThis;

/**
 * Subscribes this browser to push messages, or updates what it is notified of. Call after the user has granted permission.
 * Returns an error message if it failed.
 */
export async function subscribePush(client: ApiClient, of: "waiting" | "all"): Promise<string | undefined> {
  if (!canPush()) return t.settings.cannotNotify;
  const api = apiOf(client);
  const reply = await api.pushKey();
  if (!reply.ok) return failureText(reply.failure);
  let subscription: PushSubscriptionJSON;
  try {
    subscription = await subscribeWith(reply.value.public_key);
  } catch {
    return Notification.permission === "denied" ? t.settings.blockedNotify : t.settings.noPushService;
  }
  const { endpoint, keys: { p256dh, auth } = {} } = subscription;
  if (endpoint === undefined || p256dh === undefined || auth === undefined) return t.settings.noPushService;
  const { waiting, failed, unknown, finished } = t.attention.kinds;
  const put = await api.subscribePush({
    endpoint,
    keys: { p256dh, auth },
    of,
    words: { waiting, failed, unknown, finished },
  });
  return put.ok ? undefined : failureText(put.failure);
}

async function subscribeWith(public_key: string): Promise<PushSubscriptionJSON> {
  await navigator.serviceWorker.register(scriptUrl(WORKER));
  const { pushManager } = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: public_key };
  try {
    return (await pushManager.subscribe(options)).toJSON();
  } catch (error) {
    const outdated = await pushManager.getSubscription();
    if (outdated === null) throw error;
    // The existing subscription is bound to the key of another daemon.
    await outdated.unsubscribe();
    return (await pushManager.subscribe(options)).toJSON();
  }
}

/**
 * Ends this browser's push subscription. Returns an error message if the daemon did not confirm it; either way, this browser no
 * longer shows messages.
 */
export async function unsubscribePush(client: ApiClient): Promise<string | undefined> {
  const registration = canPush() ? await navigator.serviceWorker.getRegistration(WORKER) : undefined;
  const subscription = await registration?.pushManager.getSubscription();
  await registration?.unregister();
  if (!subscription) return undefined;
  await subscription.unsubscribe();
  const reply = await apiOf(client).unsubscribePush(subscription.endpoint);
  return reply.ok ? undefined : failureText(reply.failure);
}

/** Opens the session of a notification that was clicked while a page was open. Returns a function that unsubscribes. */
export function openClickedSessions(): () => void {
  if (!("serviceWorker" in navigator)) return () => {};
  const onMessage = ({ data }: MessageEvent<unknown>): void => {
    if (typeof data !== "object" || data === null || !("path" in data)) return;
    if (typeof data.path === "string" && data.path.startsWith("/session/")) navigate(data.path);
  };
  navigator.serviceWorker.addEventListener("message", onMessage);
  return () => navigator.serviceWorker.removeEventListener("message", onMessage);
}
