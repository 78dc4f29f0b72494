import { asArray, asObject, asStrings, type JsonObject } from "../model/narrow.ts";

/** The properties of an object schema, and which of them are required. */
interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlySet<unknown>>;
  readonly required: ReadonlySet<string>;
}

const NOTHING: Shape = { properties: new Map(), required: new Set() };
/** Keywords that OpenAI or Anthropic reject at the root of a schema. */
const REFUSED = new Set(["anyOf", "oneOf", "allOf", "enum", "not"]);

/**
 * Converts a schema of a tool's arguments to one that all providers accept: with `properties`, which OpenAI requires, and without
 * rejected keywords. Alternatives are merged: the result has the properties of all of them, and requires those that every
 * alternative requires. It is looser than the original, but the tool validates its arguments anyway.
 */
export function offeredSchema(schema: JsonObject): JsonObject {
  const shape = shapeOf(schema, schema, new Map());
  const kept = Object.entries(schema).filter(([keyword]) => !REFUSED.has(keyword) && keyword !== "required");
  const properties = [...shape.properties].map(([name, schemas]) => [name, either(schemas)]);
  return {
    ...Object.fromEntries(kept),
    properties: Object.fromEntries(properties),
    ...(shape.required.size === 0 ? {} : { required: [...shape.required] }),
  };
}

/** The properties of a schema. `known`: resolved references; a recursive reference adds nothing. */
function shapeOf(value: unknown, root: JsonObject, known: Map<string, Shape>): Shape {
  const schema = asObject(value);
  if (schema === undefined) return NOTHING;
  const shapes = (branches: unknown) => asArray(branches).map((branch) => shapeOf(branch, root, known));
  const properties = Object.entries(asObject(schema.properties) ?? {});
  const own: Shape = {
    properties: new Map(properties.map(([name, property]) => [name, new Set([property])])),
    required: new Set(asStrings(schema.required)),
  };
  const all = [own, ...shapes(schema.allOf), ...referred(schema.$ref, root, known)];
  const choices = [shapes(schema.anyOf), shapes(schema.oneOf)];
  return {
    properties: together([...all, ...choices.flat()]),
    required: new Set([
      ...all.flatMap(({ required }) => [...required]),
      ...choices.flatMap(([first = NOTHING, ...others]) =>
        [...first.required].filter((name) => others.every(({ required }) => required.has(name))),
      ),
    ]),
  };
}

/** The properties of the target of a reference within the schema. */
function referred(reference: unknown, root: JsonObject, known: Map<string, Shape>): Shape[] {
  if (typeof reference !== "string") return [];
  const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const shape = known.get(reference);
  if (shape !== undefined) return [shape];
  known.set(reference, NOTHING);
  const found = shapeOf(asObject(root[place])?.[name], root, known);
  known.set(reference, found);
  return [found];
}

function together(shapes: readonly Shape[]): Shape["properties"] {
  const merged = new Map<string, Set<unknown>>();
  for (const { properties } of shapes) {
    for (const [name, schemas] of properties) {
      merged.set(name, new Set([...(merged.get(name) ?? []), ...schemas]));
    }
  }
  return merged;
}

function either(schemas: ReadonlySet<unknown>): unknown {
  const different = [...new Map([...schemas].map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 ? different[0] : { anyOf: different };
}
