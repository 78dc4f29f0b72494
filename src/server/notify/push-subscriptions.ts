import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import webPush from "web-push";
import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type PushSubscriptionBody, pushSubscriptionBody } from "../../protocol.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";

/** The key pair that identifies this daemon to push services (VAPID, RFC 8292), as base64url. */
const keyPair = z.object({ publicKey: z.string().min(1), privateKey: z.string().min(1) });
type KeyPair = z.infer<typeof keyPair>;

const stored = z.object({ keys: keyPair, subscriptions: z.array(pushSubscriptionBody) });

/** More browsers than one user has. The oldest subscription is removed first. */
const MAX_SUBSCRIPTIONS = 50;

/** The browsers that receive push messages, in `push.json` of the data folder. */
export interface PushSubscriptions {
  readonly keys: KeyPair;
  readonly all: readonly PushSubscriptionBody[];
  readonly notices: readonly Notice[];
  /** Adds or replaces the subscription with this endpoint. On disk when it returns; throws a system error otherwise. */
  put(subscription: PushSubscriptionBody): void;
  /** Returns whether there was one. Throws like `put`. */
  remove(endpoint: string): boolean;
}

/** Reads the file, or starts with new keys. A damaged file is kept as `push.json.damaged`. Creates no file before `put`. */
export function openPushSubscriptions(data_dir: string): PushSubscriptions {
  const path = join(data_dir, "push.json");
  const notices: Notice[] = [];
  let { keys, subscriptions } = read(path, notices) ?? {
    keys: webPush.generateVAPIDKeys(),
    subscriptions: [],
  };

  function write(next: PushSubscriptionBody[]): void {
    const draft = `${path}.new`;
    writeFileSync(draft, `${JSON.stringify({ keys, subscriptions: next })}\n`, { mode: 0o600, flush: true });
    renameSync(draft, path);
    subscriptions = next;
  }

  return {
    get keys() {
      return keys;
    },
    get all() {
      return subscriptions;
    },
    notices,
    put(subscription) {
      // Two daemons on one data folder must not replace each other's keys: browsers are bound to them.
      const known = read(path, []);
      if (known) ({ keys, subscriptions } = known);
      const others = subscriptions.filter(({ endpoint }) => endpoint !== subscription.endpoint);
      write([...others, subscription].slice(-MAX_SUBSCRIPTIONS));
    },
    remove(endpoint) {
      const others = subscriptions.filter((one) => one.endpoint !== endpoint);
      if (others.length === subscriptions.length) return false;
      write(others);
      return true;
    },
  };
}

function read(path: string, notices: Notice[]): z.infer<typeof stored> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    notices.push(
      noticeOf(
        "warning",
        daemonText("push_unreadable", { path, error: messageOf(error) }),
        daemonText("check_permissions"),
      ),
    );
    return undefined;
  }
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    renameSync(path, `${path}.damaged`);
    notices.push(
      noticeOf(
        "warning",
        daemonText("push_damaged", { path, moved_to: `${path}.damaged` }),
        daemonText("push_on_again"),
      ),
    );
    return undefined;
  }
}
