import { type AttentionMessage, type AttentionScope, sendAttentionMessages } from "./attention-messages.ts";
import { post } from "./post.ts";

/** The `webhook` setting of config.json. */
export interface WebhookConfig {
  url: string;
  of: AttentionScope;
}

/** The posted JSON. `text` and `content` contain the same sentence, for Slack and Discord. */
export type WebhookMessage = AttentionMessage & { text: string; content: string };

type WebhookOptions = WebhookConfig & Omit<Parameters<typeof sendAttentionMessages>[0], "deliver">;

/** Posts sessions that begin to need attention to a URL. */
export function openWebhook({ url, ...options }: WebhookOptions): { close(): void } {
  return sendAttentionMessages({
    ...options,
    async deliver(message, signal) {
      const text = sentenceOf(message);
      const posted: WebhookMessage = { ...message, text, content: text };
      const status = await post(url, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(posted),
        signal,
      });
      if (typeof status === "string") return status;
      return status >= 200 && status < 300 ? undefined : `it answered ${status}`;
    },
  });
}

const VERBS = {
  waiting: "Waiting for you",
  failed: "Failed",
  unknown: "No end recorded",
  finished: "Finished",
} as const;

function sentenceOf({ kind, title, agent, request, rule, detail }: AttentionMessage): string {
  const what = kind === "rule" ? (rule ?? "") : VERBS[kind];
  const more = request ?? detail;
  return `${what}: ${title ?? agent}${more === undefined ? "" : ` – ${more}`}`;
}
