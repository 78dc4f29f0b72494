import { asObject, asText } from "../../model/narrow.ts";

/**
 * Bytes as base64, in the forms in which agents write them as JSON: base64 text, `{$base64}`, a list of numbers, or an object with
 * them (a `Uint8Array` as JSON). `undefined`: it is not bytes.
 */
export function base64Of(value: unknown): string | undefined {
  const text = asText(value);
  if (text !== undefined) return text;
  const object = asObject(value);
  const encoded = asText(object?.$base64) ?? asText(object?.base64Data);
  if (encoded !== undefined) return encoded;
  const items: unknown[] = Array.isArray(value)
    ? value
    : Array.isArray(object?.data)
      ? object.data
      : Object.values(object ?? {});
  if (items.length === 0 || !items.every(isByte)) return undefined;
  let binary = "";
  for (const item of items) binary += String.fromCharCode(item);
  return btoa(binary);
}

const isByte = (item: unknown): item is number =>
  typeof item === "number" && Number.isInteger(item) && item >= 0 && item < 256;
