import { createECDH, randomBytes } from "node:crypto";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { generateClaudeSession } from "../generate-session.ts";
import { createHome, type Daemon, enter, type Home, openBrowser, startDaemon } from "./harness.ts";

let home: Home;
let daemon: Daemon;
let browser: Browser;
let page: Page;
let complaints: string[];
let file: string;
/** A local push service, because the machine may have no internet access. */
let service: Server;
let sent: string[];
const session = generateClaudeSession({ parts: 20, turns: 1, seed: 17 });

beforeEach(async () => {
  home = await createHome();
  const folder = join(home.claude, "projects/-home-ada-push");
  await mkdir(folder, { recursive: true });
  file = join(folder, `${session.session_id}.jsonl`);
  await writeFile(file, session.lines.map((line) => `${line}\n`).join(""));
  sent = [];
  service = createServer((request, response) => {
    sent.push(String(request.headers["content-encoding"]));
    request.resume();
    response.writeHead(201).end();
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  daemon = await startDaemon(home, ["--no-samples"]);
  browser = await openBrowser();
  const context = await browser.newContext();
  await context.grantPermissions(["notifications"], { origin: daemon.origin });
  ({ page, complaints } = await enter(context, daemon));
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  service.close();
  await home.remove();
});

/** Chromium subscribes to a service on the internet. The subscription is replaced by one to the local service. */
async function subscribeHere() {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  const subscription = {
    endpoint: `http://127.0.0.1:${(service.address() as AddressInfo).port}/desk`,
    keys: { p256dh: ecdh.getPublicKey("base64url"), auth: randomBytes(16).toString("base64url") },
  };
  await page.evaluate((given) => {
    const subscribed = {
      endpoint: given.endpoint,
      toJSON: () => given,
      unsubscribe: async () => true,
    } as unknown as PushSubscription;
    PushManager.prototype.subscribe = async () => subscribed;
    PushManager.prototype.getSubscription = async () => subscribed;
  }, subscription);
}

const openSettings = () => page.getByRole("button", { name: "Settings" }).click();
const choice = (name: string) => page.getByRole("radio", { name });
const push = () => page.getByRole("checkbox", { name: "Also when no page is open" });

it("sends a message to a subscribed browser when a session finishes, until switched off", async () => {
  await page.locator(`[data-session="${session.session_id}"]`).waitFor();
  await subscribeHere();
  await openSettings();
  expect(await push().count()).toBe(0);
  await choice("Also when one fails or finishes").check();
  const subscribed = page.waitForResponse(
    (response) => response.url().endsWith("/api/push") && response.request().method() === "POST",
  );
  await push().check();
  await subscribed;
  await expect
    .poll(() => page.evaluate(async () => (await navigator.serviceWorker.ready).active?.scriptURL))
    .toBe(`${daemon.origin}/push-worker.js`);
  const last = JSON.parse(session.lines.at(-1) ?? "{}");
  // A new turn, because a second end of the same turn sends nothing.
  const prompt_id = "eeeeeeee-0000-4000-8000-000000000001";
  const now = { ...last, timestamp: new Date().toISOString() };
  const prompt = { ...now, uuid: prompt_id, type: "user", message: { role: "user", content: "Go on" } };
  const answer = {
    ...now,
    uuid: "eeeeeeee-0000-4000-8000-000000000002",
    parentUuid: prompt_id,
    message: { ...last.message, id: "msg_push" },
  };
  await appendFile(file, `${JSON.stringify(prompt)}\n${JSON.stringify(answer)}\n`);
  await expect.poll(() => sent, { timeout: 90_000 }).toEqual(["aes128gcm"]);

  await push().uncheck();
  await expect
    .poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length))
    .toBe(0);
  expect(complaints).toEqual([]);
});

it("explains an unreachable push service", async () => {
  await openSettings();
  await choice("When a session waits for you").check();
  await push().click();
  await page.getByText("This browser cannot reach its push service.").waitFor();
  expect(await push().isChecked()).toBe(false);
});

it("shows a notification for a message", async () => {
  const devtools = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [registration] = registrations;
      if (registration) resolve(registration.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  await subscribeHere();
  await openSettings();
  await choice("When a session waits for you").check();
  await push().check();
  const registrationId = await registered;
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  const message = { session_id: session.session_id, title: "Finished: A", body: "/home/ada", tag: "a" };
  await devtools.send("ServiceWorker.deliverPushMessage", {
    origin: daemon.origin,
    registrationId,
    data: JSON.stringify({ kind: "finished", ...message }),
  });
  const shown = () =>
    page.evaluate(async () => {
      const { getNotifications } = ServiceWorkerRegistration.prototype;
      const notifications = await getNotifications.call(await navigator.serviceWorker.ready);
      return notifications.map(({ title, body }) => ({ title, body }));
    });
  await expect.poll(shown).toEqual([{ title: "Finished: A", body: "/home/ada" }]);
  expect(complaints).toEqual([]);
});
