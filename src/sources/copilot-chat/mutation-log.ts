import { asArray, asNumber, asObject, type JsonObject } from "../../model/narrow.ts";
import { parseObject } from "../lines/parse-object.ts";

// VS Code 1.109 and later append changes of a session to a log: `ObjectMutationLog` in microsoft/vscode,
// src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts. Each line is an object with a `kind`:
//   0 `{v}`         the whole value; once the log has many lines, it is replaced by one such line
//   1 `{k, v}`      sets the value at the path `k`
//   2 `{k, v?, i?}` truncates the list at `k` to `i` items, if given, and appends the items `v`
//   3 `{k}`         removes the value at `k`

/** What a path leads to: a member of an object, or an item of a list. */
type Container = JsonObject | unknown[];

/**
 * The value that a log describes; `undefined`: it has no whole value. Lines that are incomplete, or whose path leads nowhere,
 * are ignored.
 */
export function replay(text: string): JsonObject | undefined {
  let state: JsonObject | undefined;
  for (const line of text.split("\n")) {
    const change = parseObject(line);
    if (change === undefined) continue;
    if (change.kind === 0) state = asObject(change.v);
    else if (state !== undefined) apply(state, change);
  }
  return state;
}

function apply(state: JsonObject, change: JsonObject): void {
  const path = asArray(change.k);
  const last = path.at(-1);
  let at: unknown = state;
  for (const step of path.slice(0, -1)) at = valueAt(at, step);
  const container = Array.isArray(at) ? (at as unknown[]) : asObject(at);
  if (container === undefined) return;
  switch (change.kind) {
    case 1:
      setAt(container, last, change.v);
      return;
    case 2: {
      const items = asArray(valueAt(container, last));
      const kept = asNumber(change.i);
      const before = kept === undefined ? items : items.slice(0, Math.max(0, kept));
      setAt(container, last, [...before, ...asArray(change.v)]);
      return;
    }
    case 3:
      if (!Array.isArray(container) && typeof last === "string") delete container[last];
      return;
    default:
      return;
  }
}

function valueAt(at: unknown, step: unknown): unknown {
  if (Array.isArray(at)) return typeof step === "number" ? at[step] : undefined;
  const object = asObject(at);
  return object !== undefined && typeof step === "string" && Object.hasOwn(object, step)
    ? object[step]
    : undefined;
}

function setAt(container: Container, step: unknown, value: unknown): void {
  if (Array.isArray(container)) {
    // An index beyond the end would create a list with gaps, of any length.
    if (typeof step === "number" && Number.isInteger(step) && step >= 0 && step <= container.length)
      container[step] = value;
  } else if (typeof step === "string" && step !== "__proto__") container[step] = value;
}
