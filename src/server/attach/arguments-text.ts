import type { JsonObject } from "../../model/narrow.ts";

/** Each argument of a call as a person reads it: one line, or its name above its lines, indented. */
export const argumentsText = (input: JsonObject): string =>
  Object.entries(input)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "  ")}` : `${name}: ${text}`;
    })
    .join("\n");
