import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { type Account, accountOf } from "./account.ts";

export const SESSION = "11111111-1111-4111-8111-111111111111";
export type Fields = Record<string, unknown>;

/** Writes the lines of one session, each with the previous one as parent. */
export function writer(version = "2.1.114") {
  let count = 0;
  let parentUuid: string | null = null;
  const line = (type: string, fields: Fields): Fields => {
    count += 1;
    const uuid = `${count.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
    const timestamp = new Date(Date.UTC(2026, 2, 1, 10, 0, count)).toISOString();
    const written = {
      parentUuid,
      isSidechain: false,
      sessionId: SESSION,
      version,
      type,
      uuid,
      timestamp,
      ...fields,
    };
    parentUuid = uuid;
    return written;
  };
  return {
    line,
    user: (content: unknown, fields: Fields = {}) =>
      line("user", { message: { role: "user", content }, ...fields }),
    assistant: (id: string, content: unknown, stop_reason: string | null = null, fields: Fields = {}) =>
      line("assistant", {
        message: { id, role: "assistant", model: "model-a", content, stop_reason },
        ...fields,
      }),
    queue: (operation: string, content?: string): Fields => ({
      type: "queue-operation",
      operation,
      sessionId: SESSION,
      ...(content === undefined ? {} : { content }),
    }),
  };
}

export const say = (text: string) => ({ type: "text", text });
export const call = (id: string, input: unknown, name = "Bash") => ({ type: "tool_use", id, name, input });
export const result = (id: string, content: unknown, fields: Fields = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...fields,
});

/** The reader's result for these lines as a session. */
export const account = (...lines: readonly (object | string)[]): Account =>
  accountOf(claudeCode, `${SESSION}.jsonl`, lines);
