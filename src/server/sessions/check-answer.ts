import type { Answer, Request } from "../../model/request.ts";
import { Refused } from "./refused.ts";

/** Throws `Refused` if an answer does not fit its request, or was given for a subject other than the one shown. */
export function checkAnswer(request: Request, given: { digest?: string; answer: Answer }): void {
  if (request.digest !== given.digest) {
    throw new Refused(
      409,
      "digest",
      "The request has changed since the answer was given.",
      "Reload the page and check it again.",
    );
  }
  const { option_ids, text } = given.answer;
  const known = new Set(request.options.map(({ id }) => id));
  const unknown = option_ids.find((id) => !known.has(id));
  if (unknown !== undefined) {
    throw new Refused(400, "answer", `\`answer.option_ids\`: unknown option ${JSON.stringify(unknown)}.`);
  }
  if (option_ids.length > 1 && request.multiple !== true) {
    throw new Refused(400, "answer", "`answer.option_ids`: only one option can be chosen.");
  }
  if (text !== undefined && request.free_text !== true) {
    throw new Refused(400, "answer", "`answer.text`: this request must be answered with an option.");
  }
  if (option_ids.length === 0 && text === undefined) {
    throw new Refused(400, "answer", "`answer.option_ids`: choose an option.");
  }
}
