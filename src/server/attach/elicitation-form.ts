import { randomUUID } from "node:crypto";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";

/** A form of an MCP server as questions of the page. */
export interface ElicitationForm {
  requests: Request[];
  /** Whether every question is answered, or one answer declines the form. */
  isComplete(answers: ReadonlyMap<string, Answer>): boolean;
  /** The values by field name. `undefined`: the user declined. */
  contentOf(answers: ReadonlyMap<string, Answer>): JsonObject | undefined;
}

/** A field of a form as a question. */
interface Field {
  name: string;
  request: Request;
  /** The field's value. `undefined`: it stays empty. */
  readAnswer(answer: Answer): unknown;
}

const DECLINE: RequestOption = { id: "decline", label: "Decline" };
const LEAVE_EMPTY: RequestOption = { id: "empty", label: "Leave empty" };

/**
 * Reads a form with text, choice and yes/no fields, or a plain confirmation (`elicitation/create` of the Model Context Protocol
 * 2025-11-25). `schema`: its `requestedSchema`. `undefined`: another form (numbers, texts with a format, a limited number of
 * choices), which is left to the terminal.
 */
export function readElicitationForm(
  server: string,
  message: string,
  schema: unknown,
): ElicitationForm | undefined {
  const { type, properties, required } = asObject(schema) ?? {};
  if (type !== "object") return undefined;
  const named = Object.entries(asObject(properties) ?? {});
  const title = `${server}: ${message}`;
  if (named.length === 0) return confirmationOf(title);
  const decline = named.length === 1 ? DECLINE : { ...DECLINE, label: "Decline the whole form" };
  const fields = named.flatMap(([name, property]) => {
    const others = asArray(required).includes(name) ? [decline] : [LEAVE_EMPTY, decline];
    return fieldOf(name, asObject(property) ?? {}, title, others) ?? [];
  });
  if (fields.length < named.length) return undefined;
  return {
    requests: fields.map(({ request }) => request),
    isComplete: (answers) => answers.size === fields.length || isDeclined(answers),
    contentOf(answers) {
      if (isDeclined(answers)) return undefined;
      const given = fields.map((field) => ({ ...field, answer: answers.get(field.request.request_id) }));
      const content = given.flatMap(({ name, answer, readAnswer }) => {
        const value = answer && readAnswer(answer);
        return value === undefined ? [] : [[name, value] as const];
      });
      return Object.fromEntries(content);
    },
  };
}

const isDeclined = (answers: ReadonlyMap<string, Answer>): boolean =>
  [...answers.values()].some(({ option_ids }) => option_ids.includes(DECLINE.id));

function confirmationOf(title: string): ElicitationForm {
  const request: Request = {
    request_id: randomUUID(),
    kind: "question",
    title,
    options: [{ id: "accept", label: "Accept" }, DECLINE],
  };
  return {
    requests: [request],
    isComplete: (answers) => answers.size === 1,
    contentOf: (answers) => (answers.get(request.request_id)?.option_ids[0] === "accept" ? {} : undefined),
  };
}

/** `others`: options besides the field's values. `undefined`: a field that the page has no form for. */
function fieldOf(
  name: string,
  property: JsonObject,
  title: string,
  others: readonly RequestOption[],
): Field | undefined {
  const values = valuesOf(property);
  if (values === undefined) return undefined;
  const label = asText(property.title) ?? name;
  const description = asText(property.description);
  const isMultiple = property.type === "array";
  const request: Request = {
    request_id: randomUUID(),
    kind: "question",
    title: `${title} – ${description === undefined ? label : `${label}: ${description}`}`,
    options: [
      ...values.map(({ label: text }, at): RequestOption => ({ id: `${at}`, label: text })),
      ...others,
    ],
    ...(values.length === 0 && { free_text: true }),
    ...(isMultiple && { multiple: true }),
  };
  return {
    name,
    request,
    // What was chosen or typed beside "Leave empty" is kept.
    readAnswer({ option_ids, text }) {
      if (values.length === 0) return asString(text);
      const chosen = option_ids.flatMap((id) => values[Number(id)]?.value ?? []);
      return isMultiple && chosen.length > 0 ? chosen : chosen[0];
    },
  };
}

/** The values that a field can have; empty: any text. `undefined`: the field takes something else. */
function valuesOf(property: JsonObject): { label: string; value: string | boolean }[] | undefined {
  if (property.type === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  if (property.type === "array") {
    const items = asObject(property.items);
    const hasLimits = ["minItems", "maxItems"].some((rule) => property[rule] != null);
    return hasLimits || items === undefined ? undefined : choicesOf(items);
  }
  if (property.type !== "string") return undefined;
  if (property.enum !== undefined || property.oneOf !== undefined) return choicesOf(property);
  const isPlain = ["format", "pattern", "minLength", "maxLength"].every((rule) => property[rule] == null);
  return isPlain ? [] : undefined;
}

/** The choices of a schema, with or without titles. `undefined`: not all of them can be offered. */
function choicesOf({
  enum: named,
  enumNames,
  oneOf,
  anyOf,
}: JsonObject): { label: string; value: string }[] | undefined {
  const names = asArray(enumNames);
  const choices =
    named === undefined
      ? asArray(oneOf ?? anyOf).map((each) => ({ value: asObject(each)?.const, name: asObject(each)?.title }))
      : asArray(named).map((value, at) => ({ value, name: names[at] }));
  const known = choices.flatMap(({ value, name }) => {
    const text = asString(value);
    return text === undefined ? [] : [{ label: asText(name) ?? text, value: text }];
  });
  return known.length === choices.length && known.length > 0 ? known : undefined;
}
