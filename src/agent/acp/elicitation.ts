import { randomUUID } from "node:crypto";
import type { CreateElicitationResponse } from "@agentclientprotocol/sdk";
import { type FormField, type FormValue, formFields } from "../../model/forms/form-fields.ts";
import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { codeOf, textFields } from "../../model/text/display-text.ts";
import { requestText } from "../../model/text/request-texts.ts";
import { titleFields } from "../../model/text/titles.ts";

const option = (id: string, label: CodedText, description?: CodedText): RequestOption => ({
  id,
  ...textFields("label", label),
  ...(description !== undefined && textFields("description", description)),
});

const ACCEPT = option("accept", requestText("option_accept"));
const SEND = option("send", requestText("option_send"));
const EDIT = option("edit", requestText("option_edit"));
const SKIP = option("skip", requestText("option_leave_empty"));
const DECLINE = option(
  "decline",
  requestText("option_decline"),
  requestText("continues_without_information"),
);
const CANCEL = option("cancel", requestText("option_cancel"), requestText("closes_form"));

/**
 * Asks the user the questions of an `elicitation/create` form: one per field, and a review of the answers if there are several.
 * `undefined`: the form cannot be shown.
 */
export async function answerForm(
  params: JsonObject,
  ask: (request: Request) => Promise<Answer | undefined>,
): Promise<CreateElicitationResponse | undefined> {
  const fields = fieldsOf(params);
  if (fields === undefined) return undefined;
  const message = asText(params.message);
  const tool_call_id = asText(params.toolCallId);
  const question = async (fields: Partial<Request> & Pick<Request, "options">) => {
    const options = [...fields.options, DECLINE, CANCEL];
    const common = tool_call_id === undefined ? {} : { tool_call_id };
    const title = titleFields(message ?? requestText("asks_for_information"));
    const request = { ...title, ...fields, ...common, options };
    const answer = await ask({ request_id: randomUUID(), kind: "question", ...request });
    if (answer === undefined || has(answer, CANCEL)) return "cancel";
    return has(answer, DECLINE) ? "decline" : answer;
  };

  for (;;) {
    const content: Record<string, FormValue> = {};
    for (const [at, field] of fields.entries()) {
      const place = { at: at + 1, of: fields.length };
      const title = requestText("form_field", { message, ...place, label: field.label });
      const entry = await enter(field, title, question);
      if (typeof entry === "string") return { action: entry };
      if (entry.value !== undefined) content[field.name] = entry.value;
    }
    if (fields.length === 1) return { action: "accept", content };
    const review = await question({
      ...(fields.length > 0 && { subject: reviewText(fields, content) }),
      options: fields.length > 0 ? [SEND, EDIT] : [ACCEPT],
    });
    if (typeof review === "string") return { action: review };
    if (!has(review, EDIT)) return { action: "accept", content };
  }
}

/** Asks for the value of a field until the answer is valid. */
async function enter(
  field: FormField,
  title: CodedText,
  question: (fields: Partial<Request> & Pick<Request, "options">) => Promise<Answer | "decline" | "cancel">,
): Promise<{ value?: FormValue } | "decline" | "cancel"> {
  const { description, multiple, free_text, is_required } = field;
  const options = is_required ? field.options : [...field.options, SKIP];
  let problem: CodedText | undefined;
  for (;;) {
    const subject = [problem?.text, description].filter((line) => line !== undefined).join("\n");
    const answer = await question({
      ...titleFields(title),
      options,
      ...(subject !== "" && { subject }),
      ...(problem !== undefined && { subject_code: codeOf(problem) }),
      ...(multiple && { multiple }),
      ...(free_text && { free_text }),
    });
    if (typeof answer === "string") return answer;
    if (has(answer, SKIP)) return {};
    const entry = field.read(answer);
    if (entry.problem === undefined) return entry;
    problem = entry.problem;
  }
}

/** The fields of a form; `undefined`: it is not a form, or requires a field that cannot be shown. */
function fieldsOf(params: JsonObject): FormField[] | undefined {
  const schema = asObject(params.requestedSchema);
  if (params.mode !== "form" || schema === undefined) return undefined;
  const { fields, unknown } = formFields(schema);
  return unknown.some(({ is_required }) => is_required) ? undefined : fields;
}

function reviewText(fields: readonly FormField[], content: Readonly<Record<string, FormValue>>): string {
  return fields
    .map(({ name, label }) => {
      const value = Object.hasOwn(content, name) ? content[name] : undefined;
      return `${label}: ${Array.isArray(value) ? value.join(", ") : (value ?? "–")}`;
    })
    .join("\n");
}

const has = ({ option_ids }: Answer, { id }: RequestOption): boolean => option_ids.includes(id);
