import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Answer, Request } from "../../model/request.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/**
 * Logs every answer, prompt and stop that was sent to an agent in a terminal, in `attach/answers.jsonl` in the data folder, one JSON
 * object per line.
 */
export interface AnswerLog {
  /** Throws the system's error. An answer that cannot be logged must not be sent. */
  append(entry: { at: number; asked: TerminalRequest; request: Request; answer: Answer }): void;
  /** Logs a prompt, or a stop if `prompt` is absent. Throws the system's error, like `append`. */
  appendInput(entry: { at: number; agent: string; session_id: string; prompt?: string }): void;
}

export function createAnswerLog(data_dir: string): AnswerLog {
  const path = join(data_dir, "attach", "answers.jsonl");
  const write = (line: object): void => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(path, "a", 0o600);
    const { size } = fstatSync(file);
    try {
      writeFileSync(file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      // If the disk is full, part of the line may have been written.
      ftruncateSync(file, size);
      throw error;
    } finally {
      closeSync(file);
    }
  };
  return {
    appendInput({ at, prompt, ...session }) {
      write({
        at: new Date(at).toISOString(),
        ...session,
        ...(prompt === undefined ? { stop: true } : { prompt }),
      });
    },
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
      write(line);
    },
  };
}
