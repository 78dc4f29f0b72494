import * as z from "zod";
import { milliseconds, optional, record, uuid } from "../model/record.ts";
import { textCode } from "../model/text/coded-text.ts";

/** Why an agent cannot be used now, and the remedy. */
const unavailable = record({
  message: z.string(),
  message_code: optional(textCode),
  remedy: z.string(),
  remedy_code: optional(textCode),
});
export type Unavailable = z.infer<typeof unavailable>;

/** `GET /api/agents`: the agents that can run a new session. */
export const agentsReply = record({
  /** The folder in which the daemon was started. It is suggested first. */
  cwd: z.string(),
  /** Settings of the last sessions, newest first, at most 10. */
  recent: z.array(record({ agent: z.string(), model: optional(z.string()), cwd: z.string() })),
  agents: z.array(
    record({
      /** The `agent` of `POST /api/sessions`: the id of a provider or of a configured agent. */
      id: z.string(),
      title: z.string(),
      /** `provider`: Verbatim's own agent with that provider. `acp`: an agent that speaks the Agent Client Protocol. */
      kind: z.enum(["provider", "acp"]),
      /** Known models. With `any_model`, other ids are accepted too. The models of a `scripted` agent are its scripts. */
      models: z.array(
        record({
          id: z.string(),
          title: optional(z.string()),
          /** Tokens. */
          context: optional(z.number()),
          /** US dollars per million tokens. */
          price: optional(record({ input: z.number(), output: z.number() })),
        }),
      ),
      any_model: z.boolean(),
      takes_images: z.boolean(),
      scripted: optional(z.boolean()),
      /** A folder to try the agent in, suggested instead of the last one. */
      cwd: optional(z.string()),
      unavailable: optional(unavailable),
    }),
  ),
});
export type AgentsReply = z.infer<typeof agentsReply>;

/** Maximum number of images in a prompt. */
export const MAX_IMAGES = 10;

/**
 * A prompt: text, and images as data URLs (at most `MAX_IMAGES`, 5 MB each).
 *
 * All changes of managed sessions are POST requests with JSON. All but `compact` contain an id, so that a repeated request has no further
 * effect and gets the same response.
 */
export const promptBody = record({
  message_id: uuid,
  text: z.string(),
  images: optional(z.array(z.string())),
});
export type PromptBody = z.infer<typeof promptBody>;

/** `POST /api/sessions`: 201 with `newSessionReply`. The client chooses `session_id`. */
export const newSessionBody = record({
  session_id: uuid,
  agent: z.string(),
  model: optional(z.string()),
  /** Absolute path of an existing folder. */
  cwd: z.string(),
  prompt: promptBody,
});
export type NewSessionBody = z.infer<typeof newSessionBody>;
export const newSessionReply = record({ session_id: uuid });

/** A session that an agent of the kind `acp` stores itself. */
const pastSession = record({
  /** The agent's own id of the session. */
  id: z.string(),
  /** Absolute path of its folder. */
  cwd: z.string(),
  title: optional(z.string()),
  updated_at: optional(milliseconds),
  /** The managed session that continues it. */
  opened_as: optional(uuid),
  /** The session that is read from the agent's files. */
  read_as: optional(uuid),
  /** Another process has it open, so it cannot be opened here. */
  is_open: optional(z.boolean()),
});
export type PastSession = z.infer<typeof pastSession>;

/**
 * `GET /api/agents/:agent/past-sessions[?cwd=][&cursor=]`: starts the agent's program, which lists its sessions, and stops it. `cwd`: only
 * sessions of that folder. `cursor`: `next` of the previous page.
 */
export const pastSessionsReply = record({
  /** Whether the agent can open them, and whether it sends their history. */
  opens: z.enum(["with_history", "without_history", "no"]),
  /** In the agent's order. */
  sessions: z.array(pastSession),
  next: optional(z.string()),
});
export type PastSessionsReply = z.infer<typeof pastSessionsReply>;

/**
 * `POST /api/agents/:agent/past-sessions`: 201 with `newSessionReply`: the managed session that continues the agent's session `id`. It is a
 * new one with `session_id`, unless one exists.
 */
export const openPastBody = record({
  session_id: uuid,
  id: z.string().min(1),
  cwd: z.string(),
  title: optional(z.string()),
});
export type OpenPastBody = z.infer<typeof openPastBody>;

/**
 * `POST /api/sessions/:id/prompts`: `{}`. While the agent works, `queue` sends the prompt after the turn, and `steer` during it.
 * `GET /api/sessions/:id/prompts/:message` returns a queued prompt as `PromptBody`. The row has only its beginning.
 * `POST /api/sessions/:id/prompts/:message/begin` with `{}` starts a prompt that is held although nothing runs.
 */
export const sendPromptBody = record({ prompt: promptBody, when: z.enum(["queue", "steer"]) });
export type SendPromptBody = z.infer<typeof sendPromptBody>;

/**
 * `POST /api/sessions/:id/prompts/:message/withdraw`: `{}`. Removes a queued prompt. The client creates `withdrawal_id`: if two clients
 * withdraw the same prompt, only one succeeds.
 */
export const withdrawBody = record({ withdrawal_id: optional(uuid) });

/**
 * `POST /api/sessions/:id/stop`: `{}`. Interrupts the turn and all runs below it. `turn_id`: only that turn, not one that began in the
 * meantime.
 */
export const stopBody = record({ turn_id: optional(uuid) });
export type StopBody = z.infer<typeof stopBody>;

/** `POST /api/sessions/:id/model`: `{}`. `POST /api/sessions/:id/compact` with `{}` returns `{}` too. */
export const modelBody = record({ model: z.string() });

/**
 * `POST /api/sessions/:id/fork`: 201 with `newSessionReply`: a new session with everything before the prompt `before`, and a new prompt
 * if one is given.
 */
export const forkBody = record({ session_id: uuid, before: uuid, prompt: optional(promptBody) });

/** `POST /api/sessions/:id/rewind`: `{}`. The session continues from before the prompt with this part id. Nothing is deleted. */
export const rewindBody = record({ before: uuid });
