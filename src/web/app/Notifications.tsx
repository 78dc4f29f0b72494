import { useEffect, useRef } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { type AttentionItem, attentionItems } from "../screens/sessions/attention.ts";
import { sessionTitle } from "../screens/sessions/session-list.ts";
import { t } from "../text/text.ts";
import { Notifier } from "./notifier.ts";
import { navigate } from "./router.ts";
import { useClient, useSetting } from "./store.ts";

/** Between looks at the list while its rows change, in milliseconds. */
const LOOK_MS = 1_000;

/** Shows notifications of the desktop for what begins to need attention, if the reader wants them. */
export function Notifications({ session_id }: { session_id: string | undefined }): null {
  const { rows } = useClient();
  const [of] = useSetting("notify");
  const here = useRef(session_id);
  useEffect(() => {
    here.current = session_id;
  }, [session_id]);
  useEffect(() => {
    if (of === "off" || !canNotify()) return;
    const notifier = new Notifier();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let looked_at = 0;
    const isSeen = ({ row }: AttentionItem): boolean =>
      row.id === here.current && document.visibilityState === "visible" && document.hasFocus();
    const look = (): void => {
      clearTimeout(timer);
      timer = undefined;
      looked_at = Date.now();
      if (!rows.getState().loaded) return;
      const { show, next } = notifier.take(attentionItems(rows.getState(), looked_at), of, looked_at, isSeen);
      for (const item of show) notify(item);
      if (next !== undefined) timer = setTimeout(look, Math.max(LOOK_MS, next - Date.now()));
    };
    const lookSoon = (): void => {
      const wait = looked_at + LOOK_MS - Date.now();
      if (wait <= 0) look();
      else timer ??= setTimeout(look, wait);
    };
    look();
    const end = rows.subscribe(lookSoon);
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [rows, of]);
  return null;
}

/** Whether this browser shows notifications of this page. */
export const canNotify = (): boolean => "Notification" in globalThis && Notification.permission === "granted";

function notify({ key, kind, row, reason, href }: AttentionItem): void {
  // Of several tabs that say the same, the desktop shows one.
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
