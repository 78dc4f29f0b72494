import { randomUUID } from "node:crypto";
import type { CreateElicitationResponse, ElicitationContentValue } from "@agentclientprotocol/sdk";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";

/** The input of a field: a value, nothing, or the problem with it. */
type Entry = { value?: ElicitationContentValue; problem?: undefined } | { problem: string };

interface Field {
  name: string;
  label: string;
  description?: string;
  is_required: boolean;
  options: RequestOption[];
  multiple: boolean;
  free_text: boolean;
  read(answer: Answer): Entry;
}

const ACCEPT: RequestOption = { id: "accept", label: "Accept" };
const SEND: RequestOption = { id: "send", label: "Send" };
const EDIT: RequestOption = { id: "edit", label: "Change the answers" };
const SKIP: RequestOption = { id: "skip", label: "Leave empty" };
const DECLINE: RequestOption = {
  id: "decline",
  label: "Decline",
  description: "The agent continues without this information.",
};
const CANCEL: RequestOption = {
  id: "cancel",
  label: "Cancel",
  description: "The form is closed unanswered.",
};

/**
 * Asks the user what a form of `elicitation/create` asks: one question per field, and a review of the answers if there are
 * several. `undefined`: the form cannot be shown.
 */
export async function answerForm(
  params: JsonObject,
  ask: (request: Request) => Promise<Answer | undefined>,
): Promise<CreateElicitationResponse | undefined> {
  const fields = fieldsOf(params);
  if (fields === undefined) return undefined;
  const message = asText(params.message) ?? "The agent asks for information";
  const tool_call_id = asText(params.toolCallId);
  const question = async (fields: Partial<Request> & Pick<Request, "options">) => {
    const options = [...fields.options, DECLINE, CANCEL];
    const common = tool_call_id === undefined ? {} : { tool_call_id };
    const request = { title: message, ...fields, ...common, options };
    const answer = await ask({ request_id: randomUUID(), kind: "question", ...request });
    if (answer === undefined || has(answer, CANCEL)) return "cancel";
    return has(answer, DECLINE) ? "decline" : answer;
  };

  for (;;) {
    const content: Record<string, ElicitationContentValue> = {};
    for (const [at, field] of fields.entries()) {
      const place = fields.length > 1 ? ` (${at + 1} of ${fields.length})` : "";
      const entry = await enter(field, `${message}${place}: ${field.label}`, question);
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

/** Asks for the value of a field until it is valid. */
async function enter(
  field: Field,
  title: string,
  question: (fields: Partial<Request> & Pick<Request, "options">) => Promise<Answer | "decline" | "cancel">,
): Promise<{ value?: ElicitationContentValue } | "decline" | "cancel"> {
  const { description, multiple, free_text, is_required } = field;
  const options = is_required ? field.options : [...field.options, SKIP];
  let problem: string | undefined;
  for (;;) {
    const subject = [problem, description].filter((line) => line !== undefined).join("\n");
    const answer = await question({
      title,
      options,
      ...(subject !== "" && { subject }),
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

/** The fields of a form. `undefined`: it is no form, or requires a field that cannot be shown. */
function fieldsOf(params: JsonObject): Field[] | undefined {
  const schema = asObject(params.requestedSchema);
  if (params.mode !== "form" || schema === undefined) return undefined;
  const required = new Set(asArray(schema.required));
  const fields: Field[] = [];
  for (const [name, value] of Object.entries(asObject(schema.properties) ?? {})) {
    const property = asObject(value) ?? {};
    const is_required = required.has(name);
    const kind = kindOf(property);
    if (kind === undefined && is_required) return undefined;
    if (kind === undefined) continue;
    const description = asText(property.description);
    const label = asText(property.title) ?? name;
    fields.push({ name, label, is_required, ...(description !== undefined && { description }), ...kind });
  }
  return fields;
}

type Kind = Pick<Field, "options" | "multiple" | "free_text" | "read">;

/** How a field is asked for and parsed. `undefined`: its type is unknown. */
function kindOf(property: JsonObject): Kind | undefined {
  switch (property.type) {
    case "string": {
      const choices = choicesOf(property.oneOf ?? property.enum);
      return choices.length > 0 ? oneOf(choices) : text(property, (said) => readString(property, said));
    }
    case "number":
    case "integer":
      return text(property, (said) => readNumber(property, said));
    case "boolean":
      return oneOf([
        { value: true, label: "Yes" },
        { value: false, label: "No" },
      ]);
    case "array": {
      const items = asObject(property.items);
      const choices = choicesOf(items?.anyOf ?? items?.enum);
      return choices.length > 0 ? several(property, choices) : undefined;
    }
    default:
      return undefined;
  }
}

interface Choice<Value> {
  value: Value;
  label: string;
  description?: string;
}

function choicesOf(values: unknown): Choice<string>[] {
  return asArray(values).flatMap((item) => {
    const option = asObject(item);
    const value = asString(option?.const ?? item);
    const description = asText(option?.description);
    if (value === undefined) return [];
    return [
      { value, label: asText(option?.title) ?? value, ...(description !== undefined && { description }) },
    ];
  });
}

const optionsOf = (choices: readonly Choice<unknown>[]): RequestOption[] =>
  choices.map(({ label, description }, at) => ({
    id: `${at}`,
    label,
    ...(description !== undefined && { description }),
  }));

function oneOf(choices: readonly Choice<string | boolean>[]): Kind {
  return {
    options: optionsOf(choices),
    multiple: false,
    free_text: false,
    read({ option_ids: [id] }) {
      const choice = choices[Number(id)];
      return choice === undefined ? { problem: "Choose an option." } : { value: choice.value };
    },
  };
}

function several(property: JsonObject, choices: readonly Choice<string>[]): Kind {
  const least = asNumber(property.minItems) ?? 0;
  const most = asNumber(property.maxItems) ?? choices.length;
  return {
    options: optionsOf(choices),
    multiple: true,
    free_text: false,
    read({ option_ids }) {
      const value = choices.filter((_, at) => option_ids.includes(`${at}`)).map((choice) => choice.value);
      if (value.length < least) return { problem: `Choose at least ${least}.` };
      if (value.length > most) return { problem: `Choose at most ${most}.` };
      return { value };
    },
  };
}

/** A field for text, with its default as an option. */
function text(property: JsonObject, read: (said: string) => Entry): Kind {
  const standard = asString(property.default) ?? asNumber(property.default)?.toString();
  const hasDefault = standard !== undefined && standard !== "";
  return {
    options: hasDefault ? [{ id: "default", label: standard, description: "Default" }] : [],
    multiple: false,
    free_text: true,
    read: ({ text: said = "" }) => read(said === "" && hasDefault ? standard : said),
  };
}

function readString(property: JsonObject, said: string): Entry {
  const { length } = [...said];
  const least = asNumber(property.minLength) ?? 0;
  const most = asNumber(property.maxLength) ?? length;
  if (length < least) return { problem: `Enter at least ${least} characters.` };
  if (length > most) return { problem: `Enter at most ${most} characters.` };
  return { value: said };
}

function readNumber(property: JsonObject, said: string): Entry {
  const value = said.trim() === "" ? Number.NaN : Number(said);
  const isWhole = property.type === "integer";
  if (!Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value))) {
    return { problem: isWhole ? "Enter a whole number." : "Enter a number." };
  }
  const least = asNumber(property.minimum) ?? value;
  const most = asNumber(property.maximum) ?? value;
  if (value < least) return { problem: `Enter a number of at least ${least}.` };
  if (value > most) return { problem: `Enter a number of at most ${most}.` };
  return { value };
}

function reviewText(
  fields: readonly Field[],
  content: Readonly<Record<string, ElicitationContentValue>>,
): string {
  return fields
    .map(({ name, label }) => {
      const value = Object.hasOwn(content, name) ? content[name] : undefined;
      return `${label}: ${Array.isArray(value) ? value.join(", ") : (value ?? "–")}`;
    })
    .join("\n");
}

const has = ({ option_ids }: Answer, { id }: RequestOption): boolean => option_ids.includes(id);
