import type { Hono } from "hono";
import { type AnswerLockReply, changePassphraseBody, type UnlockReply, unlockBody } from "../../protocol.ts";
import { readBody } from "../sessions/request-body.ts";
import type { AnswerPassphrase } from "./answer-passphrase.ts";

/** Routes of the passphrase for answers. */
export function addAnswerRoutes(app: Hono, passphrase: AnswerPassphrase): void {
  const state = (): AnswerLockReply => ({ is_set: passphrase.isSet() });

  app.get("/api/answer-passphrase", (context) => context.json(state()));

  app.post("/api/answer-passphrase", async (context) => {
    const { current, next } = await readBody(context, changePassphraseBody);
    await passphrase.change(current, next);
    return context.json(state());
  });

  app.post("/api/answer-passphrase/unlock", async (context) => {
    const { passphrase: given } = await readBody(context, unlockBody);
    const reply: UnlockReply = { token: await passphrase.unlock(given) };
    return context.json(reply);
  });
}
