import { createHash, randomUUID } from "node:crypto";
import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { titleFields } from "../../model/text/titles.ts";

/** A request for approval to run exactly `subject`. */
export function approvalRequest({
  title,
  ...fields
}: Pick<Request, "tool_name" | "options" | "free_text"> & { title: DisplayText; subject: string }): Request {
  const digest = createHash("sha256").update(fields.subject, "utf8").digest("hex");
  return { request_id: randomUUID(), kind: "approval", ...titleFields(title), ...fields, digest };
}

/**
 * A question with the options of `question.options`, `[{label, description?}]`, a format that agents share. `undefined`: it has
 * no text.
 */
export function questionRequest(
  question: JsonObject,
  fields: Pick<Request, "tool_name" | "multiple" | "free_text">,
): Request | undefined {
  const title = asText(question.question);
  if (title === undefined) return undefined;
  const options = asArray(question.options).flatMap((each, at): RequestOption[] => {
    const label = asText(asObject(each)?.label);
    const description = asText(asObject(each)?.description);
    return label === undefined
      ? []
      : [{ id: `${at}`, label, ...(description !== undefined && { description }) }];
  });
  return { request_id: randomUUID(), kind: "question", title, options, ...fields };
}

/** A user's answer as text: the labels of the chosen options and the user's own text. */
export function answerTexts({ options }: Request, answer: Answer | undefined): string[] {
  const chosen = options.filter(({ id }) => answer?.option_ids.includes(id)).map(({ label }) => label);
  const own = answer?.text?.trim() ?? "";
  return own === "" ? chosen : [...chosen, own];
}
