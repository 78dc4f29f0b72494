import type { Hono } from "hono";
import { positionOf } from "../../model/transcript/accumulate.ts";
import { type AttachReply, answerBody, type OpenRequestsReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { UsageError } from "../usage-error.ts";
import type { Attach } from "./attach.ts";

/** What agents in terminals ask, and how Verbatim is attached to them. */
export function addAttachRoutes(app: Hono, attach: Attach, sessions: Sessions): void {
  const { held, attachments } = attach;

  app.get("/api/attach", (context) => {
    const reply: AttachReply = { agents: [...attachments.values()].map((each) => each.describe()) };
    return context.json(reply);
  });

  for (const change of ["install", "remove"] as const)
    app.post(`/api/attach/:agent/${change}`, (context) => {
      const agent = context.req.param("agent");
      const attachment = attempt(() => attach.change(agent, change));
      if (attachment === undefined) throw new Refused(404, "agent", `There is no agent ${agent} to attach.`);
      return context.json(attachment.describe());
    });

  app.get("/api/sessions/:id/open-requests", async (context) => {
    const id = context.req.param("id");
    const open = sessions.get(id)?.requests ?? [];
    const isElsewhere = open.some(({ in_terminal }) => in_terminal !== true);
    const transcript = isElsewhere ? (await sessions.open(id))?.transcript : undefined;
    const reply: OpenRequestsReply = {
      requests: open.flatMap(({ request_id }) => {
        const position = transcript && positionOf(transcript, request_id);
        const part = position === undefined ? undefined : transcript?.parts.at(position);
        return held.get(request_id) ?? (part?.type === "request" ? part.request : []);
      }),
    };
    return context.json(reply);
  });

  app.post("/api/terminal-requests/:request", async (context) => {
    const { answer, digest } = await readBody(context, answerBody);
    return context.json(
      held.answer(context.req.param("request"), { answer, ...(digest !== undefined && { digest }) }),
    );
  });
}

/** A settings file that cannot be changed is for the person to correct. */
function attempt<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof UsageError) throw new Refused(409, "settings", error.message);
    throw error;
  }
}
