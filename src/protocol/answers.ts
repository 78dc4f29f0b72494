import * as z from "zod";
import { optional, record, uuid } from "../model/record.ts";
import { answer, request, requestOutcome } from "../model/request.ts";
import { textCode } from "../model/text/coded-text.ts";

/** Minimum length of the passphrase for answers, in UTF-16 code units. */
export const MIN_PASSPHRASE = 8;
const passphrase = z.string().max(1_000);

/** `POST /api/answer-passphrase/unlock` */
export const unlockBody = record({ passphrase });
export const unlockReply = record({ token: z.string() });
export type UnlockReply = z.infer<typeof unlockReply>;

/** `POST /api/answer-passphrase`: sets the passphrase, or removes it if `next` is absent. `current`: the present passphrase. */
export const changePassphraseBody = record({ current: optional(passphrase), next: optional(passphrase) });

/** Response to `POST` and `GET /api/answer-passphrase`. */
export const answerLockReply = record({ is_set: z.boolean() });
export type AnswerLockReply = z.infer<typeof answerLockReply>;

/** `POST /api/sessions/:id/requests/:request`: `answerReply`. The first answer counts. */
export const answerBody = record({
  /** For an approval: the digest of the subject that was shown. */
  digest: optional(z.string()),
  /** The `token` of `unlockReply`, required if a passphrase is set. Otherwise the answer is refused with `answer_locked`. */
  unlock_token: optional(z.string()),
  answer,
});

/** The outcome of a request, and the answer that counted. */
export const answerReply = record({ outcome: requestOutcome, answer: optional(answer) });

/** `GET /api/sessions/:id/open-requests`: the complete `requests` of the session's row. */
export const openRequestsReply = record({ requests: z.array(request) });
export type OpenRequestsReply = z.infer<typeof openRequestsReply>;

/**
 * `POST /api/sessions/:id/terminal-prompt`: `{}`. Sends text to an agent in a terminal whose row has `takes_prompts`. It is delivered once
 * per `message_id`. `POST /api/sessions/:id/terminal-stop` with `{}` interrupts its turn.
 */
export const terminalPromptBody = record({ message_id: uuid, text: z.string().min(1).max(200_000) });

/** An agent whose sessions in terminals can be answered here, and the response to `POST /api/attach/:agent/install` and `/remove`. */
export const attachment = record({
  agent: z.string(),
  name: z.string(),
  /** A hook in the settings `file`, the agent's own server with the socket `file`, or a plugin that is `file`. */
  by: z.enum(["hook", "server", "plugin"]),
  /** What can be answered: all requests, approvals, or approvals before every command. `none`: only the state is shown. */
  answers: z.enum(["requests", "approvals", "commands", "none"]),
  /** Open sessions are attached immediately. `false`: only sessions that start later. */
  in_open_sessions: z.boolean(),
  file: z.string(),
  is_installed: z.boolean(),
  /** The change of `file` by installing or removing, as lines with a sign. */
  diff: z.string(),
  /** Why it cannot be changed. */
  problem: optional(z.string()),
  problem_code: optional(textCode),
});
export type Attachment = z.infer<typeof attachment>;

/** `GET /api/attach` */
export const attachReply = record({ agents: z.array(attachment) });
export type AttachReply = z.infer<typeof attachReply>;
