import { asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { messageFields } from "../../model/text/titles.ts";
import type { Disposition } from "../contract.ts";
import { splitErrorText } from "../error-text.ts";
import { textOf } from "./content.ts";
import type { Line, Session } from "./session-types.ts";

/** Whether an answer is the text of an error. The output of `claude -p` only names the kind of error. */
export function isApiError({ isApiErrorMessage, error }: JsonObject, model: string | undefined): boolean {
  return isApiErrorMessage === true || (model === "<synthetic>" && asText(error) !== undefined);
}

/** Reads an error that the program recorded in place of an answer. */
export function readApiError(session: Session, line: Line, blocks: readonly JsonObject[]): Disposition {
  const text = textOf(blocks).trim();
  const { message, answer } = splitErrorText(text);
  session.endStep(line);
  session.turnFailed = true;
  const data: JsonObject = {};
  for (const key of ["error", "apiErrorStatus", "errorDetails"]) {
    if (line.value[key] !== undefined && line.value[key] !== null) data[key] = line.value[key];
  }
  if (answer !== undefined) data.answer = answer;
  session.push(line, {
    type: "error",
    part_id: session.recordPart(line).part_id,
    ...messageFields(text === "" ? claudeCodeTitle("claude_api_error") : message),
    ...(Object.keys(data).length > 0 && { data }),
  });
  return { kind: "shown" };
}
