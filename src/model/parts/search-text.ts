import type { TranscriptPart } from "../transcript/transcript.ts";
import { type PartText, textsOf } from "./part-kinds.ts";

/** All searchable text of a part, in display order. */
export function searchText(part: TranscriptPart): string {
  return textsOf(part).map(searchable).join("\n");
}

function searchable({ text, form }: PartText): string {
  switch (form) {
    case "plain":
    case "json":
      return text;
    case "arguments":
      return argumentsText(text);
    case "terminal":
      return plainOutput(text);
    case "address":
      return addressText(text);
    default:
      return form satisfies never;
  }
}

/** JSON as it is and, if different, with its strings decoded, as cards show them. It may be incomplete. */
function argumentsText(json: string): string {
  if (!json.includes("\\")) return json;
  const read = json.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_, code?: string, character = "") =>
    code === undefined ? (ESCAPED[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${json}\n${read}`;
}
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Terminal output without escape sequences for colours, links and titles. */
function plainOutput(output: string): string {
  return output.replace(SEQUENCE, "");
}
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)/g;

/** A data URL is not searchable text, and may be megabytes long. */
function addressText(url: string): string {
  return url.startsWith("data:") ? "" : url;
}
