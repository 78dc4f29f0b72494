import { randomUUID } from "node:crypto";
import { type FormField, formFields } from "../../model/forms/form-fields.ts";
import { asObject, type JsonObject } from "../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../model/request.ts";
import { type DisplayText, textFields } from "../../model/text/display-text.ts";
import { requestText } from "../../model/text/request-texts.ts";

/** A form of an MCP server as questions of the page. */
export interface ElicitationForm {
  requests: Request[];
  /** Why an answer to one of the questions cannot be sent. `undefined`: it can. */
  problemOf(request_id: string, answer: Answer): DisplayText | undefined;
  /** Whether every question is answered, or one answer declines the form. */
  isComplete(answers: ReadonlyMap<string, Answer>): boolean;
  /** The values by field name. `undefined`: the user declined. */
  contentOf(answers: ReadonlyMap<string, Answer>): JsonObject | undefined;
}

const DECLINE: RequestOption = {
  id: "decline",
  ...textFields("label", requestText("option_decline")),
};
const LEAVE_EMPTY: RequestOption = {
  id: "empty",
  ...textFields("label", requestText("option_leave_empty")),
};

/**
 * Reads a form of an MCP server, or a plain confirmation. `schema`: its `requestedSchema`. `undefined`: a form with fields or rules
 * that the page does not know, which is left to the terminal.
 */
export function readElicitationForm(
  server: string,
  message: string,
  schema: unknown,
): ElicitationForm | undefined {
  const form = asObject(schema);
  if (form?.type !== "object") return undefined;
  const { fields, unknown } = formFields(form);
  const title = `${server}: ${message}`;
  if (unknown.length > 0 || fields.some(({ is_partial }) => is_partial === true)) return undefined;
  if (fields.length === 0) return confirmationOf(title);
  const decline =
    fields.length === 1
      ? DECLINE
      : { ...DECLINE, ...textFields("label", requestText("option_decline_form")) };
  const asked = fields.map((field) => ({ field, request: requestOf(field, title, decline) }));
  const isEmptied = ({ option_ids, text }: Answer): boolean =>
    // Other chosen options and typed text take precedence over `LEAVE_EMPTY`.
    option_ids.includes(LEAVE_EMPTY.id) && option_ids.length === 1 && (text ?? "") === "";
  return {
    requests: asked.map(({ request }) => request),
    problemOf(request_id, answer) {
      const field = asked.find(({ request }) => request.request_id === request_id)?.field;
      if (field === undefined || answer.option_ids.includes(DECLINE.id) || isEmptied(answer))
        return undefined;
      return field.read(answer).problem;
    },
    isComplete: (answers) => answers.size === fields.length || isDeclined(answers),
    contentOf(answers) {
      if (isDeclined(answers)) return undefined;
      const content = asked.flatMap(({ field, request }) => {
        const answer = answers.get(request.request_id);
        if (answer === undefined || isEmptied(answer)) return [];
        const entry = field.read(answer);
        return entry.problem === undefined ? [[field.name, entry.value] as const] : [];
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
    options: [{ id: "accept", ...textFields("label", requestText("option_accept")) }, DECLINE],
  };
  return {
    requests: [request],
    problemOf: () => undefined,
    isComplete: (answers) => answers.size === 1,
    contentOf: (answers) => (answers.get(request.request_id)?.option_ids[0] === "accept" ? {} : undefined),
  };
}

function requestOf(field: FormField, title: string, decline: RequestOption): Request {
  const { label, description, options, multiple, free_text, rule, is_required } = field;
  return {
    request_id: randomUUID(),
    kind: "question",
    title: `${title} – ${description === undefined ? label : `${label}: ${description}`}`,
    options: [...options, ...(is_required ? [] : [LEAVE_EMPTY]), decline],
    ...(rule !== undefined && textFields("subject", rule)),
    ...(free_text && { free_text }),
    ...(multiple && { multiple }),
  };
}
