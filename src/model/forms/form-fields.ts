import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../narrow.ts";
import type { Answer, RequestOption } from "../request.ts";
import type { CodedText } from "../text/catalog.ts";
import { daemonText } from "../text/daemon-texts.ts";
import { type DisplayText, textFields } from "../text/display-text.ts";
import { requestText } from "../text/request-texts.ts";
import { hasFormat, isKnownFormat } from "./text-format.ts";

/** The value of a field in a filled-in form. */
export type FormValue = string | number | boolean | string[];

/** The input of a field: a value, or the problem with it. */
export type FieldEntry = { value: FormValue; problem?: undefined } | { problem: CodedText };

/** How a field is presented as a question, and how its answer is parsed. */
interface FieldKind {
  /** The possible values, or the default of a text field. */
  options: RequestOption[];
  multiple: boolean;
  free_text: boolean;
  /** The constraint on the value, in words. Absent: any value is valid. */
  rule?: CodedText;
  /** The schema has constraints that `read` does not check, or values that are not in `options`. */
  is_partial?: boolean;
  read(answer: Answer): FieldEntry;
}

/** A field of a form as a question. */
export interface FormField extends FieldKind {
  name: string;
  label: string;
  description?: string;
  is_required: boolean;
}

/**
 * Reads the fields of a form of the Model Context Protocol 2025-11-25 (`requestedSchema` of `elicitation/create`), which the Agent
 * Client Protocol uses too. `unknown`: the fields of other types.
 */
export function formFields(schema: JsonObject): {
  fields: FormField[];
  unknown: { name: string; is_required: boolean }[];
} {
  const required = new Set(asArray(schema.required));
  const fields: FormField[] = [];
  const unknown: { name: string; is_required: boolean }[] = [];
  for (const [name, value] of Object.entries(asObject(schema.properties) ?? {})) {
    const property = asObject(value) ?? {};
    const is_required = required.has(name);
    const kind = kindOf(property);
    if (kind === undefined) {
      unknown.push({ name, is_required });
      continue;
    }
    const description = asText(property.description);
    const label = asText(property.title) ?? name;
    fields.push({ name, label, is_required, ...(description !== undefined && { description }), ...kind });
  }
  return { fields, unknown };
}

function kindOf(property: JsonObject): FieldKind | undefined {
  switch (property.type) {
    case "string": {
      const { choices, is_partial } = choicesOf(property);
      if (choices.length > 0) return singleChoice(choices, is_partial);
      return is_partial ? { ...textKind(property), is_partial } : textKind(property);
    }
    case "number":
    case "integer":
      return numberKind(property);
    case "boolean":
      return singleChoice([
        { value: true, label: requestText("option_yes") },
        { value: false, label: requestText("option_no") },
      ]);
    case "array": {
      const { choices, is_partial } = choicesOf(asObject(property.items) ?? {});
      return choices.length > 0 ? multipleChoice(property, choices, is_partial) : undefined;
    }
    default:
      return undefined;
  }
}

interface Choice<Value> {
  value: Value;
  label: DisplayText;
  description?: string;
}

/** The choices of a schema, with or without titles. `is_partial`: some choices are not strings and are left out. */
function choicesOf({ enum: named, enumNames, oneOf: titled, anyOf }: JsonObject): {
  choices: Choice<string>[];
  is_partial: boolean;
} {
  const names = asArray(enumNames);
  const items = asArray(titled ?? anyOf ?? named);
  const choices = items.flatMap((item, at): Choice<string>[] => {
    const option = asObject(item);
    const value = asString(option?.const ?? item);
    if (value === undefined) return [];
    const label = asText(option?.title) ?? asText(names[at]) ?? value;
    const description = asText(option?.description);
    return [{ value, label, ...(description !== undefined && { description }) }];
  });
  const isGiven = (titled ?? anyOf ?? named) !== undefined;
  return { choices, is_partial: choices.length < items.length || (isGiven && choices.length === 0) };
}

const optionsOf = (choices: readonly Choice<unknown>[]): RequestOption[] =>
  choices.map(({ label, description }, at) => ({
    id: `${at}`,
    ...textFields("label", label),
    ...(description !== undefined && { description }),
  }));

function singleChoice(choices: readonly Choice<string | boolean>[], is_partial = false): FieldKind {
  return {
    options: optionsOf(choices),
    multiple: false,
    free_text: false,
    ...(is_partial && { is_partial }),
    read({ option_ids: [id] }) {
      const choice = choices[Number(id)];
      return choice === undefined ? { problem: daemonText("choose_option") } : { value: choice.value };
    },
  };
}

function multipleChoice(
  property: JsonObject,
  choices: readonly Choice<string>[],
  is_partial: boolean,
): FieldKind {
  const least = asNumber(property.minItems);
  const most = asNumber(property.maxItems);
  return {
    options: optionsOf(choices),
    multiple: true,
    free_text: false,
    ...((least !== undefined || most !== undefined) && {
      rule: requestText("rule_choices", { least, most }),
    }),
    ...(is_partial && { is_partial }),
    read({ option_ids }) {
      const value = choices.filter((_, at) => option_ids.includes(`${at}`)).map((choice) => choice.value);
      if (least !== undefined && value.length < least)
        return { problem: daemonText("choose_least", { least }) };
      if (most !== undefined && value.length > most) return { problem: daemonText("choose_most", { most }) };
      return { value };
    },
  };
}

function textKind(property: JsonObject): FieldKind {
  const { format } = property;
  const least = asNumber(property.minLength);
  const most = asNumber(property.maxLength);
  const known = isKnownFormat(format) ? format : undefined;
  const hasRule = known !== undefined || least !== undefined || most !== undefined;
  return {
    ...typed(property, (text) => {
      const { length } = [...text];
      if (least !== undefined && length < least)
        return { problem: daemonText("enter_least_characters", { least }) };
      if (most !== undefined && length > most)
        return { problem: daemonText("enter_most_characters", { most }) };
      if (known !== undefined && !hasFormat(text, known))
        return { problem: daemonText("enter_format", { format: known }) };
      return { value: text };
    }),
    ...(hasRule && { rule: requestText("rule_text", { format: known, least, most }) }),
    // A server's pattern could take forever to match.
    ...((property.pattern != null || (format != null && known === undefined)) && { is_partial: true }),
  };
}

function numberKind(property: JsonObject): FieldKind {
  const isWhole = property.type === "integer";
  const least = asNumber(property.minimum);
  const most = asNumber(property.maximum);
  const isOtherwiseLimited = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"].some(
    (name) => property[name] != null,
  );
  return {
    ...typed(property, (text) => {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      if (!Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value)))
        return { problem: daemonText(isWhole ? "enter_whole_number" : "enter_number") };
      if (least !== undefined && value < least) return { problem: daemonText("enter_least", { least }) };
      if (most !== undefined && value > most) return { problem: daemonText("enter_most", { most }) };
      return { value };
    }),
    rule: requestText(isWhole ? "rule_whole_number" : "rule_number", { least, most }),
    ...(isOtherwiseLimited && { is_partial: true }),
  };
}

/** A text field, with its default as an option. */
function typed(property: JsonObject, read: (text: string) => FieldEntry): FieldKind {
  const standard = asString(property.default) ?? asNumber(property.default)?.toString();
  const hasDefault = standard !== undefined && standard !== "";
  return {
    options: hasDefault
      ? [{ id: "default", label: standard, ...textFields("description", requestText("option_default")) }]
      : [],
    multiple: false,
    free_text: true,
    read: ({ text = "" }) => read(text === "" && hasDefault ? standard : text),
  };
}
