// Shows push messages when no page is open. Messages: `PushMessage` in src/protocol.ts.

addEventListener("push", (event) => {
  const { session_id, title, body, tag } = event.data.json();
  event.waitUntil(
    (async () => {
      const windows = await clients.matchAll({ type: "window" });
      const path = pathOf(session_id);
      const isOnScreen = windows.some(({ url, focused }) => focused && new URL(url).pathname === path);
      if (!isOnScreen) await registration.showNotification(title, { body, tag, data: { path } });
    })(),
  );
});

addEventListener("notificationclick", (event) => {
  const { path } = event.notification.data;
  event.notification.close();
  event.waitUntil(
    (async () => {
      const [page] = await clients.matchAll({ type: "window" });
      if (page === undefined) return await clients.openWindow(path);
      await page.focus();
      return page.postMessage({ type: "open", path });
    })(),
  );
});

const pathOf = (session_id) => `/session/${encodeURIComponent(session_id)}`;
