import { readFileSync } from "node:fs";
import { sharedData } from "../../shared-data.ts";
import { OWN } from "./own-payloads.ts";

/** Families of attacks by a text that an agent passes on. */
export type Family = "xss" | "exfil" | "urls" | "ansi" | "unicode" | "pathological";

/** One attack and its required result. `input` is a text, `{ chunks }`, `{ field, value }`, or a generator. */
export interface Payload {
  id: string;
  input: unknown;
  expect: Readonly<Record<string, unknown>>;
}

const FILES: Record<Family, string> = {
  xss: "xss-markdown",
  exfil: "exfil-markdown",
  urls: "hostile-urls",
  ansi: "ansi-osc",
  unicode: "unicode",
  pathological: "pathological-markdown",
};

/** The attacks of a family: those of the shared folder if it exists, otherwise the small set of this repository. */
export function payloads(family: Family): readonly Payload[] {
  const path = sharedData("payloads", `${FILES[family]}.json`);
  // The folder's documented format; every use narrows `input`.
  return path === undefined ? OWN[family] : (JSON.parse(readFileSync(path, "utf8")) as Payload[]);
}

/** The stages of an attack's text: a single one, or the text after each chunk. Other kinds of input as JSON. */
export function stagesOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (typeof input !== "object" || input === null) return [];
  if ("markdown" in input) return [String(input.markdown)];
  if ("chunks" in input && Array.isArray(input.chunks))
    return input.chunks.map((_chunk, index, all) => all.slice(0, index + 1).join(""));
  if ("value" in input)
    return [typeof input.value === "string" ? input.value : JSON.stringify(input.value, null, 2)];
  if ("gen" in input) return [generate(input)];
  return [];
}

/** The whole text of an attack. */
export const textOf = (input: unknown): string => stagesOf(input).at(-1) ?? "";

/** Makes the text that a generator describes. */
export function generate(spec: unknown): string {
  if (typeof spec === "string") return spec;
  if (typeof spec !== "object" || spec === null) return "";
  const given = new Map<string, unknown>(Object.entries(spec));
  const text = (name: string): string => String(given.get(name));
  const number = (name: string): number => Number(given.get(name));
  switch (given.get("gen")) {
    case "repeat":
      return text("unit").repeat(number("count"));
    case "concat": {
      const parts = given.get("parts");
      return Array.isArray(parts) ? parts.map(generate).join("") : "";
    }
    case "nest":
      return (
        text("open").repeat(number("depth")) +
        generate(given.get("inner")) +
        text("close").repeat(number("depth"))
      );
    case "ramp": {
      let out = "";
      for (let n = number("from"); n <= number("to"); n++) out += text("prefix") + text("unit").repeat(n);
      return out;
    }
    case "listnest":
      return Array.from(
        { length: number("depth") },
        (_, index) => text("indent").repeat(index) + text("marker"),
      ).join("\n");
    case "fence":
      return `\`\`\`${text("lang")}\n${generate(given.get("body"))}\n\`\`\``;
    case "table": {
      const row = `|${` ${text("cell")} |`.repeat(number("cols"))}`;
      const rows = Array.from({ length: number("rows") }, () => row);
      return [row, `|${"---|".repeat(number("cols"))}`, ...rows].join("\n");
    }
    case "lines":
      return Array.from({ length: number("count") }, (_, index) =>
        text("template").replaceAll("{i}", String(index)),
      ).join(typeof given.get("sep") === "string" ? text("sep") : "\n");
    default:
      return "";
  }
}
