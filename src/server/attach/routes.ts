import type { Hono } from "hono";
import { type AttachReply, answerBody, type TerminalRequestsReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { UsageError } from "../usage-error.ts";
import type { ClaudeCodeAttachment } from "./claude-code/attachment.ts";
import type { HeldRequests } from "./held-requests.ts";

/** What agents in terminals ask, and how Verbatim is attached to them. */
export function addAttachRoutes(
  app: Hono,
  options: { held: HeldRequests; sessions: Sessions; claude_code: ClaudeCodeAttachment },
): void {
  const { held, sessions, claude_code } = options;

  app.get("/api/attach", (context) => {
    const reply: AttachReply = { agents: [claude_code.describe()] };
    return context.json(reply);
  });

  app.post("/api/attach/claude-code/install", (context) => {
    attempt(() => claude_code.install());
    return context.json(claude_code.describe());
  });

  app.post("/api/attach/claude-code/remove", (context) => {
    attempt(() => claude_code.remove());
    return context.json(claude_code.describe());
  });

  app.get("/api/sessions/:id/terminal-requests", (context) => {
    const row = sessions.get(context.req.param("id"));
    const reply: TerminalRequestsReply = {
      requests: (row?.requests ?? []).flatMap(({ request_id }) => held.get(request_id) ?? []),
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
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) throw new Refused(409, "settings", error.message);
    throw error;
  }
}
