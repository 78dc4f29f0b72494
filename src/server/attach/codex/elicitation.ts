import { randomUUID } from "node:crypto";
import { asArray, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../../model/request.ts";
import { argumentsText } from "../arguments-text.ts";
import { approvalRequest } from "../request-forms.ts";
import type { Asked } from "./asked.ts";

/** A field of a form as a question. */
interface Field {
  name: string;
  request: Request;
  /** The field's value. `undefined`: it stays empty. */
  readAnswer(answer: Answer): unknown;
}

const DECLINE: RequestOption = { id: "decline", label: "Decline" };

/**
 * Reads an MCP server's request that comes through Codex: a form with text, choice and yes/no fields, or a plain confirmation
 * (`elicitation/create` of the Model Context Protocol 2025-11-25). `undefined`: another form (URLs to open, numbers, texts with a
 * format, multiple choice), which the user fills in in the terminal.
 */
export function readElicitation(params: JsonObject): Asked | undefined {
  const message = asText(params.message);
  const server = asText(params.serverName);
  const schema = asObject(params.requestedSchema);
  const meta = asObject(params._meta);
  if (params.mode !== "form" || message === undefined || server === undefined) return undefined;
  if (schema?.type !== "object") return undefined;
  if (meta?.codex_approval_kind !== undefined) return callApprovalOf(server, message, meta);
  const properties = Object.entries(asObject(schema.properties) ?? {});
  const isAlone = properties.length < 2;
  const title = `${server}: ${message}`;
  if (properties.length === 0) return confirmationOf(title);
  const fields = properties.flatMap(
    ([name, property]) => fieldOf(name, asObject(property) ?? {}, title, isAlone) ?? [],
  );
  if (fields.length < properties.length) return undefined;
  return {
    requests: fields.map(({ request }) => request),
    resultOf(answers) {
      const given = fields.map((field) => ({ ...field, answer: answers.get(field.request.request_id) }));
      if (given.some(({ answer }) => answer?.option_ids.includes(DECLINE.id))) return DECLINED;
      const content = given.flatMap(({ name, answer, readAnswer }) => {
        const value = answer && readAnswer(answer);
        return value === undefined ? [] : [[name, value] as const];
      });
      return { action: "accept", content: Object.fromEntries(content), _meta: null };
    },
  };
}

/** Codex's own request to run a tool of a server has this form (seen with 0.169). `undefined`: it asks for something else. */
function callApprovalOf(server: string, message: string, meta: JsonObject): Asked | undefined {
  const tool = asText(meta.tool_name);
  const input = asObject(meta.tool_params);
  if (meta.codex_approval_kind !== "mcp_tool_call" || tool === undefined || input === undefined)
    return undefined;
  const options = [
    ALLOW,
    ...ALLOW_LONGER.filter(({ id }) => asArray(meta.persist).includes(id)),
    { id: DECLINE.id, label: "Deny", kind: "reject_once" } satisfies RequestOption,
  ];
  const request = approvalRequest({
    title: message,
    tool_name: tool,
    subject: [`${server}.${tool}`, argumentsText(input)].filter((text) => text !== "").join("\n"),
    options,
  });
  return {
    requests: [request],
    resultOf(answers) {
      const id = answers.get(request.request_id)?.option_ids[0];
      const persist = ALLOW_LONGER.find((option) => option.id === id)?.id;
      if (id !== ALLOW.id && persist === undefined) return DECLINED;
      return { action: "accept", content: {}, _meta: persist === undefined ? null : { persist } };
    },
  };
}

const ALLOW: RequestOption = { id: "accept", label: "Allow", kind: "allow_once" };
/** Options that allow more than one call, with Codex's own names for their duration. */
const ALLOW_LONGER: readonly RequestOption[] = [
  { id: "session", label: "Allow for this session", kind: "allow_always" },
  { id: "always", label: "Always allow", kind: "allow_always" },
];
const DECLINED: JsonObject = { action: "decline", content: null, _meta: null };

function confirmationOf(title: string): Asked {
  const request: Request = {
    request_id: randomUUID(),
    kind: "question",
    title,
    options: [{ id: "accept", label: "Accept" }, DECLINE],
  };
  return {
    requests: [request],
    resultOf: (answers) =>
      answers.get(request.request_id)?.option_ids[0] === "accept"
        ? { action: "accept", content: {}, _meta: null }
        : DECLINED,
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
