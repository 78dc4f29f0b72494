import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Request } from "../../model/request.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/** Every answer that was given to an agent in a terminal: `attach/answers.jsonl` in the data folder, one JSON object a line. */
export interface AnswerLog {
  /** Throws the system's error: what cannot be logged must not be answered. */
  append(entry: { at: number; asked: TerminalRequest; request: Request; answer: Answer }): void;
}

export function createAnswerLog(data_dir: string): AnswerLog {
  const path = join(data_dir, "attach", "answers.jsonl");
  return {
    append({ at, asked: { agent, session_id, cwd }, request, answer }) {
      const chosen = request.options.filter(({ id }) => answer.option_ids.includes(id));
      const line = {
        at: new Date(at).toISOString(),
        agent,
        session_id,
        ...(cwd !== undefined && { cwd }),
        tool: request.tool_name,
        asked: request.title,
        ...(request.subject !== undefined && { subject: request.subject, sha256: request.digest }),
        answer: chosen.map(({ label }) => label),
        ...(answer.text !== undefined && { text: answer.text }),
      };
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    },
  };
}
