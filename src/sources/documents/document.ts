import { asObject, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { OpenStore, SnapshotRecord } from "../contract.ts";

/** A snapshot of a JSON document that its agent rewrites. */
export interface Document {
  readonly path: string;
  readonly value: JsonObject;
  /** Creates a record of the value at `path` (names and indexes; empty for the whole document). */
  record(key: string, path: readonly (string | number)[], value: unknown): SnapshotRecord;
}

/** A JSON document that contains a list. */
export interface ListDocument {
  readonly items: readonly unknown[];
  /** JSON Pointer of an item. */
  pointerOf(index: number): string;
}

/**
 * Reads a document that is a list, or an object with a list as `messages`; `undefined`: it does not exist. Throws otherwise: it
 * may be incomplete, and the daemon reads it again.
 */
export function readList(store: OpenStore, path: string): ListDocument | undefined {
  const text = store.readText(path);
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  const list = Array.isArray(value) ? value : asObject(value)?.messages;
  if (!Array.isArray(list)) throw new Error(`${path} contains JSON, but not a list`);
  const items: unknown[] = list;
  const above = Array.isArray(value) ? [] : ["messages"];
  return { items, pointerOf: (index) => pointerOf([...above, index]) };
}

/**
 * Reads a document; `undefined`: it does not exist. Throws if it is not a JSON object: it may be incomplete, and the daemon reads
 * it again.
 */
export function readDocument(store: OpenStore, path: string): Document | undefined {
  const text = store.readText(path);
  if (text === undefined) return undefined;
  const value = asObject(JSON.parse(text));
  if (value === undefined) throw new Error(`${path} contains JSON, but not an object`);
  // Parsing may change numbers of 16 digits or more.
  const raw = /\d{16}/.test(text) ? new RawJson({ text }) : undefined;
  return {
    path,
    value,
    record: (key, steps, part) => ({
      key,
      place: { kind: "document", file: path, pointer: pointerOf(steps) },
      text: raw?.at(steps) ?? JSON.stringify(part),
    }),
  };
}

/** Formats a JSON Pointer (RFC 6901). */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
