import { randomUUID } from "node:crypto";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";

/** A form of an MCP server as questions of the page. */
export interface ElicitationForm {
  requests: Request[];
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

/**
 * Reads a form with text, choice and yes/no fields, or a plain confirmation (`elicitation/create` of the Model Context Protocol
 * 2025-11-25). `schema`: its `requestedSchema`. `undefined`: another form (numbers, texts with a format, multiple choice), which
 * is left to the terminal.
 */
export function readElicitationForm(
  server: string,
  message: string,
  schema: unknown,
): ElicitationForm | undefined {
  const { type, properties } = asObject(schema) ?? {};
  if (type !== "object") return undefined;
  const named = Object.entries(asObject(properties) ?? {});
  const title = `${server}: ${message}`;
  if (named.length === 0) return confirmationOf(title);
  const isAlone = named.length === 1;
  const fields = named.flatMap(
    ([name, property]) => fieldOf(name, asObject(property) ?? {}, title, isAlone) ?? [],
  );
  if (fields.length < named.length) return undefined;
  return {
    requests: fields.map(({ request }) => request),
    contentOf(answers) {
      const given = fields.map((field) => ({ ...field, answer: answers.get(field.request.request_id) }));
      if (given.some(({ answer }) => answer?.option_ids.includes(DECLINE.id))) return undefined;
      const content = given.flatMap(({ name, answer, readAnswer }) => {
        const value = answer && readAnswer(answer);
        return value === undefined ? [] : [[name, value] as const];
      });
      return Object.fromEntries(content);
    },
  };
}

function confirmationOf(title: string): ElicitationForm {
  const request: Request = {
    request_id: randomUUID(),
    kind: "question",
    title,
    options: [{ id: "accept", label: "Accept" }, DECLINE],
  };
  return {
    requests: [request],
    contentOf: (answers) => (answers.get(request.request_id)?.option_ids[0] === "accept" ? {} : undefined),
  };
}

/** `undefined`: a field that the page has no form for. */
function fieldOf(name: string, property: JsonObject, title: string, isAlone: boolean): Field | undefined {
  const values = valuesOf(property);
  if (values === undefined) return undefined;
  const label = asText(property.title) ?? name;
  const description = asText(property.description);
  const request: Request = {
    request_id: randomUUID(),
    kind: "question",
    title: `${title} – ${description === undefined ? label : `${label}: ${description}`}`,
    options: [
      ...values.map(({ label: text }, at): RequestOption => ({ id: `${at}`, label: text })),
      ...(isAlone ? [DECLINE] : []),
    ],
    ...(values.length === 0 && { free_text: true }),
  };
  return {
    name,
    request,
    readAnswer: ({ option_ids, text }) =>
      values.length === 0 ? asString(text) : values[Number(option_ids[0])]?.value,
  };
}

/** The values that a field can have; empty: any text. `undefined`: the field takes something else. */
function valuesOf(property: JsonObject): { label: string; value: string | boolean }[] | undefined {
  if (property.type === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  if (property.type !== "string") return undefined;
  if (property.enum !== undefined) {
    const names = asArray(property.enumNames);
    return choicesOf(asArray(property.enum).map((value, at) => ({ value, name: names[at] })));
  }
  if (property.oneOf !== undefined)
    return choicesOf(
      asArray(property.oneOf).map((each) => ({ value: asObject(each)?.const, name: asObject(each)?.title })),
    );
  const isPlain = ["format", "pattern", "minLength", "maxLength"].every((rule) => property[rule] == null);
  return isPlain ? [] : undefined;
}

/** `undefined`: not all of them can be offered. */
function choicesOf(
  choices: readonly { value: unknown; name: unknown }[],
): { label: string; value: string }[] | undefined {
  const known = choices.flatMap(({ value, name }) => {
    const text = asString(value);
    return text === undefined ? [] : [{ label: asText(name) ?? text, value: text }];
  });
  return known.length === choices.length && known.length > 0 ? known : undefined;
}
