import type { JsonObject } from "../../model/narrow.ts";

/** The arguments of a call as text: one line each, or the name followed by indented lines. */
export const argumentsText = (input: JsonObject): string =>
  Object.entries(input)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "  ")}` : `${name}: ${text}`;
    })
    .join("\n");
