import { asObject } from "../json.ts";

/** A piece of a call's arguments, which Vertex streams on request. */
interface PartialArg {
  /** `$.a[0].b` or `$['a'][0]["b"]`. */
  jsonPath?: unknown;
  stringValue?: unknown;
  numberValue?: unknown;
  boolValue?: unknown;
  nullValue?: unknown;
  /** Whether the string at this path continues in a later piece. */
  willContinue?: unknown;
}

/** Assembles arguments that arrive in pieces. */
export interface StreamedArguments {
  add(piece: PartialArg): void;
  /** Adds arguments that arrive complete. */
  merge(args: unknown): void;
  /** The JSON of what was received so far; `undefined`: a piece contradicted the others, so the result would be unreliable. */
  json(): string | undefined;
}

/** Maximum array index. A larger one is an error or an attempt to exhaust memory. */
const MAXIMUM_INDEX = 9_999;

type Container = Record<string, unknown> | unknown[];

export function createStreamedArguments(initial: unknown): StreamedArguments {
  const root = copyOf(initial);
  let isBroken = false;
  /** The path of the string to which the next piece is appended. */
  let growing: string | undefined;

  const add = (piece: PartialArg): void => {
    const path = typeof piece.jsonPath === "string" ? keysOf(piece.jsonPath) : undefined;
    const value = valueIn(piece);
    if (path === undefined || value === undefined) {
      isBroken = true;
      return;
    }
    const place = ensureContainer(root, path);
    if (place === undefined) {
      isBroken = true;
      return;
    }
    const { container, key } = place;
    const before = read(container, key);
    const isContinued = growing === piece.jsonPath && typeof before === "string" && typeof value === "string";
    write(container, key, isContinued ? before + value : value);
    growing = piece.willContinue === true ? String(piece.jsonPath) : undefined;
  };
  return {
    add,
    merge: (args) => {
      Object.assign(root, asObject(args) ?? {});
    },
    json: () => (isBroken ? undefined : JSON.stringify(root)),
  };
}

/** An object without a prototype, so that keys such as `__proto__` are not special. */
function emptyObject(): Record<string, unknown> {
  return Object.create(null);
}

function copyOf(initial: unknown): Record<string, unknown> {
  return Object.assign(emptyObject(), asObject(initial) ?? {});
}

function valueIn(piece: PartialArg): unknown {
  if (typeof piece.stringValue === "string") return piece.stringValue;
  if (typeof piece.numberValue === "number") return piece.numberValue;
  if (typeof piece.boolValue === "boolean") return piece.boolValue;
  return "nullValue" in piece ? null : undefined;
}

const KEY = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

function keysOf(path: string): (string | number)[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const keys: (string | number)[] = [];
  KEY.lastIndex = 1;
  while (KEY.lastIndex < path.length) {
    const found = KEY.exec(path);
    if (found === null) return undefined;
    const [, name, index, single, double] = found;
    if (index !== undefined) {
      const position = Number(index);
      if (position > MAXIMUM_INDEX) return undefined;
      keys.push(position);
    } else keys.push(name ?? (single ?? double ?? "").replaceAll(/\\(.)/g, "$1"));
  }
  return keys.length === 0 ? undefined : keys;
}

/**
 * The container of the path's last key. Missing containers are created. `undefined`: the path leads through a primitive value.
 */
function ensureContainer(
  root: Container,
  path: readonly (string | number)[],
): { container: Container; key: string | number } | undefined {
  let container = root;
  for (const [position, key] of path.entries()) {
    if (Array.isArray(container) !== (typeof key === "number")) return undefined;
    const next = path[position + 1];
    if (next === undefined) return { container, key };
    let inner = read(container, key);
    if (inner === undefined || inner === null) {
      inner = typeof next === "number" ? [] : emptyObject();
      write(container, key, inner);
    }
    if (typeof inner !== "object" || inner === null) return undefined;
    // The cast is safe, because all objects are from `emptyObject` or plain JSON.
    container = inner as Container;
  }
  return undefined;
}

function read(container: Container, key: string | number): unknown {
  if (Array.isArray(container)) return typeof key === "number" ? container[key] : undefined;
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function write(container: Container, key: string | number, value: unknown): void {
  if (Array.isArray(container)) {
    if (typeof key === "number") container[key] = value;
  } else container[key] = value;
}
