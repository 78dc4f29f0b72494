import { asArray, asString, asStrings } from "../model/narrow.ts";
import { Recent } from "./recent.ts";

/**
 * Converts objects to plain JSON and back, for state in which one object is referenced from several places: in the copy, the same
 * places reference one object. Takes plain objects, arrays, `Recent`, and instances of the given classes, whose fields are data.
 * Functions and `undefined` members are omitted. The output is compact: member names are written once for all objects with the
 * same members, which halves the size compared with a library for this (devalue).
 */
export interface ObjectGraph {
  toJson(root: object): unknown[];
  fromJson(json: unknown): unknown;
}

/** A class whose constructor needs no arguments. Private fields must be TypeScript's, not JavaScript's. */
type SavedClass = new () => object;

/** First item of an array in the JSON: the type of the rest. Numbers from 0 are shapes of objects. */
const ARRAY = -1;
/** The number of an object that occurred before. Objects are numbered in the order of their starts. */
const SEEN = -2;
/** A number that JSON cannot represent. */
const NUMBER = -3;
const RECENT = -4;

/** The class of an object ("": none), then the names of its members. */
type Shape = string[];

/**
 * The limits for saving a list: the maximum number of its newest items and of characters of their JSON text. At least one item is
 * saved.
 */
export interface ListLimit {
  items: number;
  characters?: number;
}

/** `classes`: by the name under which their instances are saved. `limits`: for lists, by member name. */
export function createObjectGraph(
  classes: Readonly<Record<string, SavedClass>>,
  limits: Readonly<Record<string, ListLimit>> = {},
): ObjectGraph {
  const classNames = new Map(Object.entries(classes).map(([name, type]) => [type.prototype as object, name]));

  function toJson(root: object): unknown[] {
    const numbers = new Map<object, number>();
    const shapes: Shape[] = [];
    const shapeNumbers = new Map<string, number>();

    const shapeOf = (shape: Shape): number => {
      const key = shape.join("\n");
      const known = shapeNumbers.get(key);
      if (known !== undefined) return known;
      shapeNumbers.set(key, shapes.length);
      return shapes.push(shape) - 1;
    };
    const newestOf = (name: string, member: unknown): unknown => {
      const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
      return limit !== undefined && Array.isArray(member) ? newestItems(member, limit) : member;
    };
    const encode = (value: unknown): unknown => {
      if (typeof value === "number" && !Number.isFinite(value)) return [NUMBER, String(value)];
      if (value === null || typeof value !== "object") return value;
      const known = numbers.get(value);
      if (known !== undefined) return [SEEN, known];
      numbers.set(value, numbers.size);
      if (Array.isArray(value)) return [ARRAY, ...value.map(encode)];
      if (value instanceof Recent) {
        const { most, entries } = value.save();
        return [RECENT, most, encode(entries)];
      }
      const members = Object.entries(value).filter(
        ([, member]) => member !== undefined && typeof member !== "function",
      );
      const className = classNames.get(Object.getPrototypeOf(value) as object) ?? "";
      const shape = shapeOf([className, ...members.map(([name]) => name)]);
      return [shape, ...members.map(([name, member]) => encode(newestOf(name, member)))];
    };
    const encoded = encode(root);
    return [shapes, encoded];
  }

  function fromJson(json: unknown): unknown {
    const [shapes, encoded] = asArray(json);
    const all = asArray(shapes).map(asStrings);
    const visited: unknown[] = [];
    const decode = (value: unknown): unknown => {
      if (!Array.isArray(value)) return value;
      const [mark, ...items]: unknown[] = value;
      switch (mark) {
        case SEEN:
          return visited[Number(items[0])];
        case NUMBER:
          return Number(items[0]);
        case ARRAY: {
          const array: unknown[] = [];
          visited.push(array);
          for (const item of items) array.push(decode(item));
          return array;
        }
        case RECENT: {
          // Numbered before its entries, none of which references it.
          const index = visited.push(undefined) - 1;
          const [most, entries] = items;
          const recent = Recent.restore({ most: Number(most), entries: entriesOf(decode(entries)) });
          visited[index] = recent;
          return recent;
        }
        default: {
          const [className = "", ...names] = all[Number(mark)] ?? [];
          const type = Object.hasOwn(classes, className) ? classes[className] : undefined;
          const object = type === undefined ? {} : new type();
          visited.push(object);
          for (const [index, name] of names.entries()) {
            const member = {
              value: decode(items[index]),
              writable: true,
              enumerable: true,
              configurable: true,
            };
            Object.defineProperty(object, name, member);
          }
          return object;
        }
      }
    };
    return decode(encoded);
  }

  return { toJson, fromJson };
}

function newestItems(list: readonly unknown[], { items, characters }: ListLimit): readonly unknown[] {
  let from = Math.max(0, list.length - items);
  if (characters === undefined) return list.slice(from);
  let room = characters;
  for (let index = list.length - 1; index >= from; index -= 1) {
    room -= JSON.stringify(list[index])?.length ?? 0;
    if (room < 0) from = Math.min(index + 1, list.length - 1);
  }
  return list.slice(from);
}

function entriesOf(value: unknown): string | [unknown, unknown][] {
  return asString(value) ?? asArray(value).map((entry) => [asArray(entry)[0], asArray(entry)[1]]);
}
