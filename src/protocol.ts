/**
 * Messages between daemon and browser: REST requests and responses, and socket messages. `docs/specs/http-api.md` describes them for
 * other clients.
 */
export { GROWING_LIMIT, OUTPUT_END, OUTPUT_LIMIT, TEXT_LIMIT } from "./model/truncate/limits.ts";
export * from "./protocol/answers.ts";
export * from "./protocol/live.ts";
export * from "./protocol/managed.ts";
export * from "./protocol/notes.ts";
export * from "./protocol/opened-files.ts";
export * from "./protocol/push.ts";
export * from "./protocol/rules.ts";
export * from "./protocol/search.ts";
export * from "./protocol/sessions.ts";
export * from "./protocol/sources.ts";
export * from "./protocol/status.ts";
export * from "./protocol/usage.ts";
export * from "./protocol/verify.ts";
export * from "./protocol/views.ts";
