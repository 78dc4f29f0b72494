import type { Hono } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import { type AttachReply, answerBody, type OpenRequestsReply, terminalPromptBody } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { UsageError } from "../usage-error.ts";
import type { AnswerPassphrase } from "./answer-passphrase.ts";
import type { Attach } from "./attach.ts";
import { InputRefused } from "./terminal-input.ts";

/** Routes for the requests of agents in terminals, and for attaching. */
export function addAttachRoutes(
  app: Hono,
  attach: Attach,
  sessions: Sessions,
  passphrase: Pick<AnswerPassphrase, "requireUnlocked">,
): void {
  const { held, attachments } = attach;
  const deliverOnce = createDeliveries();

  app.get("/api/attach", (context) => {
    const reply: AttachReply = { agents: [...attachments.values()].map((each) => each.describe()) };
    return context.json(reply);
  });

  for (const change of ["install", "remove"] as const)
    app.post(`/api/attach/:agent/${change}`, (context) => {
      const agent = context.req.param("agent");
      const attachment = attempt(() => attach.change(agent, change));
      if (attachment === undefined) throw new Refused(404, "agent", daemonText("cannot_attach", { agent }));
      return context.json(attachment.describe());
    });

  app.get("/api/sessions/:id/open-requests", async (context) => {
    const id = context.req.param("id");
    const open = sessions.get(id)?.requests ?? [];
    const isInTranscript = open.some(({ in_terminal }) => in_terminal !== true);
    const transcript = isInTranscript ? (await sessions.open(id))?.transcript : undefined;
    const reply: OpenRequestsReply = {
      requests: open.flatMap(({ request_id }) => {
        const position = transcript && positionOf(transcript, request_id);
        const part = position === undefined ? undefined : transcript?.parts.at(position);
        return held.get(request_id) ?? (part?.type === "request" ? part.request : []);
      }),
    };
    return context.json(reply);
  });

  for (const action of ["prompt", "stop"] as const)
    app.post(`/api/sessions/:id/terminal-${action}`, async (context) => {
      const id = context.req.param("id");
      if (sessions.get(id) === undefined) throw new Refused(404, "no_session", daemonText("session_unknown"));
      try {
        if (action === "stop") await attach.input.stop(id);
        else {
          const { message_id, text } = await readBody(context, terminalPromptBody);
          await deliverOnce(message_id, () => attach.input.prompt(id, text));
        }
      } catch (error) {
        if (error instanceof InputRefused) throw new Refused(409, "not_taken", error.title);
        throw error;
      }
      return context.json({});
    });

  app.post("/api/terminal-requests/:request", async (context) => {
    const { answer, digest, unlock_token } = await readBody(context, answerBody);
    passphrase.requireUnlocked(unlock_token);
    return context.json(
      held.answer(context.req.param("request"), { answer, ...(digest !== undefined && { digest }) }),
    );
  });
}

/** Maximum number of prompts whose delivery is remembered. */
const REMEMBERED = 200;

/**
 * Runs a delivery once, even if its message is sent several times. A failed delivery runs again when its message is sent again.
 */
function createDeliveries(): (message_id: string, deliver: () => Promise<void>) => Promise<void> {
  const deliveries = new Map<string, Promise<void>>();
  return (message_id, deliver) => {
    const known = deliveries.get(message_id);
    if (known) return known;
    const delivery = deliver();
    deliveries.set(message_id, delivery);
    delivery.catch(() => deliveries.delete(message_id));
    const [oldest] = deliveries.keys();
    if (deliveries.size > REMEMBERED && oldest !== undefined) deliveries.delete(oldest);
    return delivery;
  };
}

/** Turns an error about a settings file, which the user has to fix, into a reply. */
function attempt<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof UsageError) throw new Refused(409, "settings", error.title);
    throw error;
  }
}
