import type { SQLOutputValue } from "node:sqlite";
import { StoreError } from "../contract.ts";

/** Reads a column of the given type. Throws a `StoreError` of kind `broken` for another type. */
export function number(value: SQLOutputValue | undefined): number {
  if (typeof value !== "number") throw new StoreError("broken", "a number is missing");
  return value;
}
export function text(value: SQLOutputValue | undefined): string {
  if (typeof value !== "string") throw new StoreError("broken", "a text is missing");
  return value;
}
