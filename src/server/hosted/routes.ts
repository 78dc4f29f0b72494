import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Context, Hono } from "hono";
import type * as z from "zod";
import type { Prompt } from "../../agent/agent.ts";
import { isUuid } from "../../model/is-uuid.ts";
import {
  type AgentsReply,
  answerBody,
  type ErrorReply,
  forkBody,
  MOST_IMAGES,
  modelBody,
  newSessionBody,
  type PromptBody,
  rewindBody,
  sendPromptBody,
  stopBody,
  withdrawBody,
} from "../../protocol.ts";
import type { HostedSessions } from "./hosted.ts";
import { createIngestion, PushRefused } from "./ingest.ts";
import { Refused } from "./refused.ts";

/** Of a prompt. */
const IMAGE_LIMIT = 5 * 1024 * 1024;
const TEXT_LIMIT = 1024 * 1024;

/** What a person does with the sessions that this daemon runs. */
export function addHostedRoutes(app: Hono, hosted: HostedSessions, cwd: string): void {
  const ingestion = createIngestion(hosted, Date.now);

  app.get("/api/agents", (context) => {
    const reply: AgentsReply = {
      cwd,
      recent: hosted.recent(),
      agents: hosted.agents.list().map(({ entry }) => entry),
    };
    return context.json(reply);
  });

  app.post("/api/sessions", async (context) => {
    const { session_id, agent, model, cwd, prompt } = await read(context, newSessionBody);
    await checkFolder(cwd);
    await hosted.start(session_id, {
      agent,
      ...(model === undefined ? {} : { model }),
      cwd,
      prompt: promptOf(prompt),
    });
    return context.json({ session_id }, 201);
  });

  app.post("/api/sessions/:id/prompts", async (context) => {
    const { prompt, when } = await read(context, sendPromptBody);
    await hosted.send(context.req.param("id"), promptOf(prompt), when);
    return context.json({});
  });

  app.get("/api/sessions/:id/prompts/:message", (context) =>
    context.json(bodyOf(hosted.waiting(context.req.param("id"), context.req.param("message")))),
  );

  app.post("/api/sessions/:id/prompts/:message/withdraw", async (context) => {
    const { withdrawal_id } = await read(context, withdrawBody);
    await hosted.withdraw(context.req.param("id"), context.req.param("message"), withdrawal_id);
    return context.json({});
  });

  app.post("/api/sessions/:id/prompts/:message/begin", async (context) => {
    await hosted.beginHeld(context.req.param("id"), context.req.param("message"));
    return context.json({});
  });

  app.post("/api/sessions/:id/stop", async (context) => {
    const { turn_id } = await read(context, stopBody);
    await hosted.stop(context.req.param("id"), turn_id);
    return context.json({});
  });

  app.post("/api/sessions/:id/compact", async (context) => {
    await hosted.compact(context.req.param("id"));
    return context.json({});
  });

  app.post("/api/sessions/:id/model", async (context) => {
    const { model } = await read(context, modelBody);
    if (model.trim() === "") throw new Refused(400, "body", "`model`: name a model.");
    await hosted.setModel(context.req.param("id"), model);
    return context.json({});
  });

  app.post("/api/sessions/:id/requests/:request", async (context) => {
    const given = await read(context, answerBody);
    return context.json(await hosted.answer(context.req.param("id"), context.req.param("request"), given));
  });

  app.post("/api/sessions/:id/fork", async (context) => {
    const { session_id, before, prompt } = await read(context, forkBody);
    await hosted.fork(context.req.param("id"), {
      session_id,
      before,
      ...(prompt === undefined ? {} : { prompt: promptOf(prompt) }),
    });
    return context.json({ session_id }, 201);
  });

  app.post("/api/sessions/:id/rewind", async (context) => {
    const { before } = await read(context, rewindBody);
    await hosted.rewind(context.req.param("id"), before);
    return context.json({});
  });

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
      // Whatever the sender still sends is not read.
      context.header("connection", "close");
      if (!(error instanceof PushRefused)) return refusal(context, error);
      const { line, expected, pushed } = error;
      return refusal(context, error, { line, ...(expected === undefined ? {} : { expected }), ...pushed });
    }
  });
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** The answer that says why something was refused; `more` stands beside its code. */
export function refusal(
  context: Context,
  { status, code, message, remedy }: Refused,
  more: object = {},
): Response {
  const error = remedy === undefined ? { code, message } : { code, message, remedy };
  const reply: ErrorReply = { error: { ...error, ...more } };
  return context.json(reply, status);
}

async function read<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>> {
  let value: unknown;
  try {
    value = JSON.parse(await context.req.text());
  } catch {
    throw new Refused(400, "body", "The body is no JSON.");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".");
  throw new Refused(
    400,
    "body",
    `\`${field || "body"}\`: ${issue?.message ?? "this is not what is expected"}.`,
  );
}

async function checkFolder(cwd: string): Promise<void> {
  const found = isAbsolute(cwd) ? await stat(cwd).catch(() => undefined) : undefined;
  if (found?.isDirectory()) return;
  throw new Refused(
    400,
    "cwd",
    isAbsolute(cwd)
      ? `\`cwd\`: there is no folder ${cwd}.`
      : "`cwd`: name the folder by its whole path, from the root.",
  );
}

function promptOf({ message_id, text, images = [] }: PromptBody): Prompt {
  if (!isUuid(message_id)) throw new Refused(400, "body", "`prompt.message_id`: this is no UUID.");
  if (text.trim() === "" && images.length === 0) {
    throw new Refused(400, "body", "`prompt.text`: say what is to be done.");
  }
  if (text.length > TEXT_LIMIT) {
    throw new Refused(400, "body", `\`prompt.text\`: a prompt may have ${TEXT_LIMIT} characters.`);
  }
  if (images.length > MOST_IMAGES) {
    throw new Refused(400, "body", `\`prompt.images\`: a prompt may have ${MOST_IMAGES} images.`);
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

/** A prompt as it was typed. */
const bodyOf = ({ message_id, parts }: Prompt): PromptBody => ({
  message_id,
  text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
  images: parts.flatMap((part) => (part.type === "image_url" ? [part.url] : [])),
});

function checkImage(url: string, field: string): void {
  const head = /^data:image\/(?:png|jpeg|gif|webp);base64,/.exec(url)?.[0];
  // Looked at in pieces: a pattern over megabytes would exhaust the stack.
  if (head === undefined || /[^A-Za-z0-9+/=]/.test(url.slice(head.length))) {
    throw new Refused(400, "body", `\`${field}\`: give a data URL of a PNG, JPEG, GIF or WebP image.`);
  }
  if (((url.length - head.length) * 3) / 4 > IMAGE_LIMIT + 2) {
    throw new Refused(400, "body", `\`${field}\`: an image may have ${IMAGE_LIMIT} bytes.`);
  }
}
