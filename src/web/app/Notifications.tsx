import { useEffect, useRef } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { type AttentionItem, attentionItems } from "../screens/sessions/attention.ts";
import { t } from "../text/text.ts";
import { Notifier } from "./notifier.ts";
import { navigate } from "./router.ts";
import { sessionTitle } from "./session-title.ts";
import { useClient, useSetting } from "./store.ts";

/** Minimum time between two checks of the list while its rows change, in milliseconds. */
const CHECK_MS = 1_000;

/** Shows desktop notifications for sessions that start to need attention, if the user enabled them. */
export function Notifications({ session_id }: { session_id: string | undefined }): null {
  const client = useClient();
  const { rows } = client;
  const [push] = useSetting("push");
  const [of] = useSetting("notify");
  const session_on_screen = useRef(session_id);
  useEffect(() => {
    session_on_screen.current = session_id;
  }, [session_id]);
  useEffect(() => {
    if (!push) return;
    let end: (() => void) | undefined;
    let ended = false;
    void import("./push.ts").then(async ({ subscribePush, unsubscribePush, openClickedSessions }) => {
      if (ended) return;
      end = openClickedSessions();
      // Repeated on each page load: the browser or the daemon may have lost the subscription. Problems are shown in the settings.
      if (of === "off") await unsubscribePush(client);
      else await subscribePush(client, of);
    });
    return () => {
      ended = true;
      end?.();
    };
  }, [client, of, push]);
  useEffect(() => {
    // With push messages, the service worker shows the notifications.
    if (of === "off" || push) return;
    const notifier = new Notifier();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let checked_at = 0;
    const isSeen = ({ row }: AttentionItem): boolean =>
      row.id === session_on_screen.current && document.visibilityState === "visible" && document.hasFocus();
    const check = (): void => {
      clearTimeout(timer);
      timer = undefined;
      checked_at = Date.now();
      if (!rows.getState().loaded) return;
      const { show, next } = notifier.take(
        attentionItems(rows.getState(), checked_at),
        of,
        checked_at,
        isSeen,
      );
      // The user may grant the permission after this effect started.
      if (canNotify()) for (const item of show) notify(item);
      if (next !== undefined) timer = setTimeout(check, Math.max(CHECK_MS, next - Date.now()));
    };
    const checkSoon = (): void => {
      const wait = checked_at + CHECK_MS - Date.now();
      if (wait <= 0) check();
      else timer ??= setTimeout(check, wait);
    };
    check();
    const end = rows.subscribe(checkSoon);
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [rows, of, push]);
  return null;
}

/** Whether the browser lets this page show notifications. */
const canNotify = (): boolean => "Notification" in globalThis && Notification.permission === "granted";

function notify({ key, kind, row, reason, href }: AttentionItem): void {
  // The tag makes the desktop show one notification, even if several tabs are open.
  const notification = new Notification(
    `${t.attention.kinds[kind]}: ${visibleText(sessionTitle(row), "name")}`,
    {
      body: visibleText(reason, "prose"),
      tag: key,
    },
  );
  notification.addEventListener("click", () => {
    window.focus();
    navigate(href);
    notification.close();
  });
}
