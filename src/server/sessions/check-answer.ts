import type { Answer, Request } from "../../model/request.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { Refused } from "./refused.ts";

/** Throws `Refused` if an answer does not fit its request, or was given for a subject other than the one shown. */
export function checkAnswer(request: Request, given: { digest?: string; answer: Answer }): void {
  if (request.digest !== given.digest) {
    throw new Refused(409, "digest", daemonText("request_changed"), daemonText("reload_and_check"));
  }
  const { option_ids, text } = given.answer;
  const known = new Set(request.options.map(({ id }) => id));
  const unknown = option_ids.find((id) => !known.has(id));
  if (unknown !== undefined) {
    throw new Refused(400, "answer", daemonText("option_unknown", { option: unknown }));
  }
  if (option_ids.length > 1 && request.multiple !== true) {
    throw new Refused(400, "answer", daemonText("one_option"));
  }
  if (text !== undefined && request.free_text !== true) {
    throw new Refused(400, "answer", daemonText("answer_with_option"));
  }
  if (option_ids.length === 0 && text === undefined) {
    throw new Refused(400, "answer", daemonText("option_missing"));
  }
}
