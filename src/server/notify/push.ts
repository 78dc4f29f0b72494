import type { Hono } from "hono";
import webPush from "web-push";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import {
  type PushMessage,
  type PushReply,
  type PushSubscriptionBody,
  pushEndpointBody,
  pushSubscriptionBody,
} from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import { type AttentionMessage, sendAttentionMessages } from "./attention-messages.ts";
import { post } from "./post.ts";
import type { PushSubscriptions } from "./push-subscriptions.ts";

/** Time for which a push service stores a message for an offline browser, in seconds. After that it is outdated. */
const TTL_S = 24 * 60 * 60;
/**
 * Push services ask for a contact (RFC 8292, section 2.1). A daemon on the user's own machine has none, and Apple's service
 * refuses local addresses.
 */
const CONTACT = "mailto:verbatim@example.com";
/** Length of a title and of a body, in UTF-16 code units: the encrypted message can have at most 4,096 bytes. */
const TEXT_LIMIT = 300;
/** Statuses of a push service for a subscription that no longer exists (RFC 8030, section 7.3). */
const GONE: ReadonlySet<number> = new Set([404, 410]);

interface PushOptions
  extends Pick<Parameters<typeof sendAttentionMessages>[0], "sessions" | "dwell" | "retries"> {
  subscriptions: PushSubscriptions;
  onFailure(problem: string): void;
}

/**
 * Sends push messages (Web Push, RFC 8030) to the subscribed browsers for sessions that begin to need attention. Messages are
 * encrypted for the browser (RFC 8291): the push service learns only when something is sent.
 */
export function openPush({ subscriptions, ...options }: PushOptions): { close(): void } {
  /** Endpoints that already received a message that is being retried for others. */
  const delivered = new WeakMap<AttentionMessage, Set<string>>();
  return sendAttentionMessages({
    ...options,
    of: "all",
    async deliver(message, signal) {
      const done = delivered.get(message) ?? new Set();
      delivered.set(message, done);
      const missing = subscriptions.all.filter(
        ({ endpoint, of }) => !done.has(endpoint) && (of === "all" || isUrgent(message)),
      );
      const problems = await Promise.all(
        missing.map(async (subscription) => {
          const problem = await send(subscription, message, signal);
          if (problem === undefined) done.add(subscription.endpoint);
          return problem;
        }),
      );
      return problems.find((problem) => problem !== undefined);
    },
  });

  async function send(
    subscription: PushSubscriptionBody,
    message: AttentionMessage,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { headers, body } = webPush.generateRequestDetails(
      subscription,
      JSON.stringify(pushMessage(message, subscription)),
      {
        vapidDetails: { subject: CONTACT, ...subscriptions.keys },
        TTL: TTL_S,
        urgency: isUrgent(message) ? "high" : "normal",
      },
    );
    const status = await post(subscription.endpoint, {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: new Uint8Array(body ?? []),
      signal,
    });
    if (typeof status === "string") return `${originOf(subscription)}: ${status}`;
    if (GONE.has(status)) {
      subscriptions.remove(subscription.endpoint);
      return undefined;
    }
    return status >= 200 && status < 300 ? undefined : `${originOf(subscription)} answered ${status}`;
  }
}

/** Whether a message is sent to all subscriptions and delivered at once: questions, and alerts of rules. */
const isUrgent = ({ kind }: AttentionMessage): boolean => kind === "waiting" || kind === "rule";

const originOf = ({ endpoint }: PushSubscriptionBody): string => new URL(endpoint).origin;

function pushMessage(
  { kind, session_id, title, agent, request, cwd, since, rule = "", detail }: AttentionMessage,
  { words }: PushSubscriptionBody,
): PushMessage {
  return {
    kind,
    session_id,
    title: short(`${kind === "rule" ? rule : words[kind]}: ${title ?? agent}`),
    body: short(request ?? detail ?? cwd ?? agent),
    tag: `${session_id} ${kind} ${rule}${since}`,
  };
}

/** Notifications show plain text: hidden characters are spelled out as on the page. */
function short(text: string): string {
  const shown = visibleText(text.slice(0, TEXT_LIMIT * 2), "name");
  return shown.length > TEXT_LIMIT ? `${shown.slice(0, TEXT_LIMIT - 1).toWellFormed()}…` : shown;
}

/** Adds the routes with which browsers subscribe to push messages. */
export function addPushRoutes(app: Hono, subscriptions: PushSubscriptions): void {
  app.get("/api/push", (context) => {
    const reply: PushReply = { public_key: subscriptions.keys.publicKey };
    return context.json(reply);
  });

  app.post("/api/push", async (context) => {
    const subscription = await readBody(context, pushSubscriptionBody);
    checkKeys(subscription, subscriptions);
    onDisk(() => subscriptions.put(subscription));
    return context.json({});
  });

  app.post("/api/push/remove", async (context) => {
    const { endpoint } = await readBody(context, pushEndpointBody);
    onDisk(() => subscriptions.remove(endpoint));
    return context.json({});
  });
}

function onDisk(change: () => void): void {
  try {
    change();
  } catch (error) {
    throw new Refused(
      503,
      "disk",
      daemonText("push_not_stored", { error: messageOf(error) }),
      daemonText("free_data_folder_try_again"),
    );
  }
}

/** Throws `Refused` if nothing can be encrypted for these keys, before they are stored. */
function checkKeys(subscription: PushSubscriptionBody, { keys }: PushSubscriptions): void {
  try {
    webPush.generateRequestDetails(subscription, "{}", { vapidDetails: { subject: CONTACT, ...keys } });
  } catch (error) {
    throw new Refused(400, "keys", `\`keys\`: ${messageOf(error)}`);
  }
}
