import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Hono } from "hono";
import type { Prompt } from "../../agent/agent.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import {
  type AgentsReply,
  answerBody,
  forkBody,
  MAX_IMAGES,
  modelBody,
  newSessionBody,
  openPastBody,
  type PromptBody,
  rewindBody,
  sendPromptBody,
  stopBody,
  withdrawBody,
} from "../../protocol.ts";
import { Refused, refusal } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import { createIngestion } from "./ingest.ts";
import type { ManagedSessions } from "./managed-sessions.ts";
import { PushRefused } from "./push/push.ts";

/** Maximum size of an image in a prompt, in bytes. */
const IMAGE_LIMIT = 5 * 1024 * 1024;
const TEXT_LIMIT = 1024 * 1024;

/** Routes for the actions of users on managed sessions. */
export function addManagedRoutes(
  app: Hono,
  managed: ManagedSessions,
  cwd: string,
  passphrase: { requireUnlocked(unlock_token: string | undefined): void },
): void {
  app.get("/api/agents", (context) => {
    const reply: AgentsReply = {
      cwd,
      recent: managed.recent(),
      agents: managed.agents.list().map(({ entry }) => entry),
    };
    return context.json(reply);
  });

  addPastSessionRoutes(app, managed);

  app.post("/api/sessions", async (context) => {
    const { session_id, agent, model, cwd, prompt } = await readBody(context, newSessionBody);
    await checkFolder(cwd);
    await managed.start(session_id, {
      agent,
      ...(model === undefined ? {} : { model }),
      cwd,
      prompt: promptOf(prompt),
    });
    return context.json({ session_id }, 201);
  });

  app.post("/api/sessions/:id/prompts", async (context) => {
    const { prompt, when } = await readBody(context, sendPromptBody);
    await managed.send(context.req.param("id"), promptOf(prompt), when);
    return context.json({});
  });

  app.get("/api/sessions/:id/prompts/:message", async (context) =>
    context.json(bodyOf(await managed.waiting(context.req.param("id"), context.req.param("message")))),
  );

  app.post("/api/sessions/:id/prompts/:message/withdraw", async (context) => {
    const { withdrawal_id } = await readBody(context, withdrawBody);
    await managed.withdraw(context.req.param("id"), context.req.param("message"), withdrawal_id);
    return context.json({});
  });

  app.post("/api/sessions/:id/prompts/:message/begin", async (context) => {
    await managed.beginHeld(context.req.param("id"), context.req.param("message"));
    return context.json({});
  });

  app.post("/api/sessions/:id/stop", async (context) => {
    const { turn_id } = await readBody(context, stopBody);
    await managed.stop(context.req.param("id"), turn_id);
    return context.json({});
  });

  app.post("/api/sessions/:id/compact", async (context) => {
    await managed.compact(context.req.param("id"));
    return context.json({});
  });

  app.post("/api/sessions/:id/model", async (context) => {
    const { model } = await readBody(context, modelBody);
    if (model.trim() === "") throw new Refused(400, "body", daemonText("model_missing"));
    await managed.setModel(context.req.param("id"), model);
    return context.json({});
  });

  app.post("/api/sessions/:id/requests/:request", async (context) => {
    const { unlock_token, ...given } = await readBody(context, answerBody);
    passphrase.requireUnlocked(unlock_token);
    return context.json(await managed.answer(context.req.param("id"), context.req.param("request"), given));
  });

  app.post("/api/sessions/:id/fork", async (context) => {
    const { session_id, before, prompt } = await readBody(context, forkBody);
    await managed.fork(context.req.param("id"), {
      session_id,
      before,
      ...(prompt === undefined ? {} : { prompt: promptOf(prompt) }),
    });
    return context.json({ session_id }, 201);
  });

  app.post("/api/sessions/:id/rewind", async (context) => {
    const { before } = await readBody(context, rewindBody);
    await managed.rewind(context.req.param("id"), before);
    return context.json({});
  });

  addIngestRoute(app, managed);
}

/** Routes for sessions that external agents store themselves. */
function addPastSessionRoutes(app: Hono, managed: ManagedSessions): void {
  app.get("/api/agents/:agent/past-sessions", async (context) => {
    const { cwd, cursor } = context.req.query();
    if (cwd !== undefined) await checkFolder(cwd);
    const { signal } = context.req.raw;
    return context.json(await managed.past.list(context.req.param("agent"), { cwd, cursor }, signal));
  });

  app.post("/api/agents/:agent/past-sessions", async (context) => {
    const body = await readBody(context, openPastBody);
    await checkFolder(body.cwd);
    const session_id = await managed.past.open(context.req.param("agent"), body);
    return context.json({ session_id }, 201);
  });
}

/** The route to which other programs push sessions. */
function addIngestRoute(app: Hono, managed: ManagedSessions): void {
  const ingestion = createIngestion(managed, Date.now);

  app.post("/api/ingest/:session", async (context) => {
    const { agent, format, epoch } = context.req.query();
    const options = {
      session_id: context.req.param("session"),
      ...(agent === undefined ? {} : { agent }),
      ...(format === undefined ? {} : { format }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    try {
      return context.json(await ingestion.push(options, context.req.raw.body ?? emptyBody()));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // The rest of the request is not read.
      context.header("connection", "close");
      if (!(error instanceof PushRefused)) return refusal(context, error);
      const { line, expected, pushed } = error;
      return refusal(context, error, { line, ...(expected === undefined ? {} : { expected }), ...pushed });
    }
  });
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

async function checkFolder(cwd: string): Promise<void> {
  const found = isAbsolute(cwd) ? await stat(cwd).catch(() => undefined) : undefined;
  if (found?.isDirectory()) return;
  throw new Refused(
    400,
    "cwd",
    isAbsolute(cwd) ? daemonText("folder_unknown", { folder: cwd }) : daemonText("folder_not_absolute"),
  );
}

function promptOf({ message_id, text, images = [] }: PromptBody): Prompt {
  if (!isUuid(message_id)) throw new Refused(400, "body", daemonText("prompt_id_not_uuid"));
  if (text.trim() === "" && images.length === 0) {
    throw new Refused(400, "body", daemonText("prompt_empty"));
  }
  if (text.length > TEXT_LIMIT) {
    throw new Refused(400, "body", daemonText("prompt_too_long", { limit: TEXT_LIMIT }));
  }
  if (images.length > MAX_IMAGES) {
    throw new Refused(400, "body", daemonText("too_many_images", { limit: MAX_IMAGES }));
  }
  for (const [index, image] of images.entries()) checkImage(image, `prompt.images.${index}`);
  return {
    message_id,
    parts: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...images.map((url) => ({ type: "image_url" as const, url })),
    ],
  };
}

/** The prompt as the user typed it. */
const bodyOf = ({ message_id, parts }: Prompt): PromptBody => ({
  message_id,
  text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
  images: parts.flatMap((part) => (part.type === "image_url" ? [part.url] : [])),
});

function checkImage(url: string, field: string): void {
  const head = /^data:image\/(?:png|jpeg|gif|webp);base64,/.exec(url)?.[0];
  // Checked in parts: a pattern over megabytes would overflow the stack.
  if (head === undefined || /[^A-Za-z0-9+/=]/.test(url.slice(head.length))) {
    throw new Refused(400, "body", daemonText("not_an_image", { field }));
  }
  if (((url.length - head.length) * 3) / 4 > IMAGE_LIMIT + 2) {
    throw new Refused(400, "body", daemonText("image_too_large", { field, limit: IMAGE_LIMIT }));
  }
}
