import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SessionSummary } from "../../../src/model/session.ts";
import type { PushMessage, PushSubscriptionBody } from "../../../src/protocol.ts";
import { addPushRoutes, openPush } from "../../../src/server/notify/push.ts";
import { openPushSubscriptions } from "../../../src/server/notify/push-subscriptions.ts";
import { Refused, refusal } from "../../../src/server/sessions/refused.ts";
import { eventually } from "../../eventually.ts";
import { uuidOf } from "../../uuid-of.ts";
import { asks, row, rowsOf } from "./rows.ts";

/** A browser's subscription, with the key that decrypts messages to its endpoint. */
function createBrowser(endpoint: string, of: "waiting" | "all") {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  const secret = randomBytes(16);
  const subscription: PushSubscriptionBody = {
    endpoint,
    keys: { p256dh: ecdh.getPublicKey("base64url"), auth: secret.toString("base64url") },
    of,
    words: { waiting: "Waiting", failed: "Failed", unknown: "No end", finished: "Finished" },
  };
  /** RFC 8291, section 3.4, and RFC 8188, section 2.1: one record. */
  function decrypt(body: Buffer): PushMessage {
    const salt = body.subarray(0, 16);
    const length = body.readUInt8(20);
    const sender = body.subarray(21, 21 + length);
    const sealed = body.subarray(21 + length);
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), ecdh.getPublicKey(), sender]);
    const input = Buffer.from(hkdfSync("sha256", ecdh.computeSecret(sender), secret, info, 32));
    const key = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: aes128gcm\0", 16));
    const nonce = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: nonce\0", 12));
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString());
  }
  return { subscription, decrypt };
}

let folder: string;
let server: Server;
let origin: string;
let received: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
/** Statuses of the next replies; 201 afterwards. */
let answers: number[];
let failures: string[];
let push: { close(): void } | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-push-"));
  received = [];
  answers = [];
  failures = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = answers.shift() ?? 201;
    if (status === 201)
      received.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  push?.close();
  server.close();
  rmSync(folder, { recursive: true });
});

function open(first: SessionSummary, ...browsers: { subscription: PushSubscriptionBody }[]) {
  const subscriptions = openPushSubscriptions(folder);
  for (const { subscription } of browsers) subscriptions.put(subscription);
  const sessions = rowsOf(first);
  push = openPush({
    ...{ sessions, subscriptions, dwell: 0, retries: [0, 0] },
    onFailure: (problem) => failures.push(problem),
  });
  return { sessions, subscriptions };
}

it("sends what only the browser can read, signed with the daemon's key", async () => {
  const browser = createBrowser(`${origin}/desk`, "waiting");
  const { sessions, subscriptions } = open(row("a"), browser);
  sessions.set(asks("a", "Run npm test?"));
  await eventually(() => expect(received).toHaveLength(1));
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = received;
  expect(body.includes("npm test")).toBe(false);
  expect(browser.decrypt(body)).toEqual({
    kind: "waiting",
    session_id: uuidOf("a"),
    title: "Waiting: a",
    body: "Run npm test?",
    tag: `${uuidOf("a")} waiting 42`,
  });
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "86400", urgency: "high" });

  // VAPID: a JWT for the push service's origin (RFC 8292, section 2).
  const [, jwt = "", key] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization ?? "") ?? [];
  expect(key).toBe(subscriptions.keys.publicKey);
  const [head = "", claims = "", signature = ""] = jwt.split(".");
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({ aud: origin });
  const point = Buffer.from(subscriptions.keys.publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  const signer = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
  const signed = Buffer.from(`${head}.${claims}`);
  const given = Buffer.from(signature, "base64url");
  expect(verify("sha256", signed, { key: signer, dsaEncoding: "ieee-p1363" }, given)).toBe(true);
});

it("sends each browser what it asked for, and retries only those that failed", async () => {
  const desk = createBrowser(`${origin}/desk`, "all");
  const phone = createBrowser(`${origin}/phone`, "waiting");
  const { sessions } = open(row("a"), desk, phone);
  sessions.set(row("a", { status: "failed" }));
  await eventually(() => expect(received.map(({ path }) => path)).toEqual(["/desk"]));
  answers = [500];
  sessions.set(asks("a", "Which one?"));
  await eventually(() => expect(received).toHaveLength(3));
  expect(received.map(({ path }) => path).sort()).toEqual(["/desk", "/desk", "/phone"]);
  expect(failures).toEqual([]);
});

it("sends alerts of rules to every browser, by the names of the rules", async () => {
  const phone = createBrowser(`${origin}/phone`, "waiting");
  const { sessions } = open(row("a"), phone);
  const alert = { rule_id: uuidOf("rule"), name: "Deletes", since: 42, at: 42, count: 1, text: "rm -rf x" };
  sessions.set(row("a", { alerts: [alert] }));
  await eventually(() => expect(received).toHaveLength(1));
  expect(phone.decrypt(received[0]?.body ?? Buffer.alloc(0))).toMatchObject({
    kind: "rule",
    session_id: uuidOf("a"),
    title: "Deletes: a",
    body: "rm -rf x",
  });
});

it("forgets a browser whose subscription ended, and reports a service that keeps refusing", async () => {
  const { sessions, subscriptions } = open(row("a"), createBrowser(`${origin}/gone`, "all"));
  answers = [410];
  sessions.set(asks("a", "One?"));
  await eventually(() => expect(subscriptions.all).toEqual([]));
  subscriptions.put(createBrowser(`${origin}/busy`, "all").subscription);
  answers = [503, 503, 503];
  sessions.set(asks("a", "Two?"));
  await eventually(() => expect(failures).toEqual([`${origin} answered 503`]));
  expect(subscriptions.all).toHaveLength(1);
});

it("shows hidden characters of a title, and truncates what would not fit", async () => {
  const browser = createBrowser(`${origin}/desk`, "all");
  const { sessions } = open(row("a"), browser);
  sessions.set({ ...asks("a", `rm ${"x".repeat(5_000)}`), title: "\u202Egnp.exe" });
  await eventually(() => expect(received).toHaveLength(1));
  const { title, body } = browser.decrypt(received[0]?.body ?? Buffer.alloc(0));
  expect(title).not.toContain("\u202E");
  expect(body).toHaveLength(300);
});

it("keeps keys and subscriptions over a restart, readable only by the owner", () => {
  const { subscription } = createBrowser(`${origin}/desk`, "all");
  const first = openPushSubscriptions(folder);
  first.put(subscription);
  first.put({ ...subscription, of: "waiting" });
  const again = openPushSubscriptions(folder);
  expect(again.keys).toEqual(first.keys);
  expect(again.all).toEqual([{ ...subscription, of: "waiting" }]);
  expect(statSync(join(folder, "push.json")).mode & 0o077).toBe(0);
  expect(again.remove(subscription.endpoint)).toBe(true);
  expect(openPushSubscriptions(folder).all).toEqual([]);
});

it("quarantines a damaged file and says so", () => {
  writeFileSync(join(folder, "push.json"), "{");
  const opened = openPushSubscriptions(folder);
  expect(opened.notices[0]?.text).toContain("push.json was damaged");
  expect(readFileSync(join(folder, "push.json.damaged"), "utf8")).toBe("{");
});

it("refuses keys with which nothing can be encrypted", async () => {
  const app = new Hono();
  app.onError((error, context) => {
    if (error instanceof Refused) return refusal(context, error);
    throw error;
  });
  const subscriptions = openPushSubscriptions(folder);
  addPushRoutes(app, subscriptions);
  const post = (body: unknown) => app.request("/api/push", { method: "POST", body: JSON.stringify(body) });
  const { subscription } = createBrowser(`${origin}/desk`, "all");
  const refused = await post({ ...subscription, keys: { p256dh: "AAAA", auth: "AAAA" } });
  expect(refused.status).toBe(400);
  expect((await post({ ...subscription, endpoint: "file:///etc/passwd" })).status).toBe(400);
  expect(subscriptions.all).toEqual([]);
  expect((await post(subscription)).status).toBe(200);
  expect(await (await app.request("/api/push")).json()).toEqual({ public_key: subscriptions.keys.publicKey });
});
