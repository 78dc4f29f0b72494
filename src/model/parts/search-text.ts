import type { TranscriptPart } from "../transcript/transcript.ts";
import { type PartText, textsOf } from "./part-kinds.ts";

/** All that a reader could search for in one part, in the order in which it is shown. */
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

/** JSON as it stands and, where that differs, as its strings read: cards show those. It may be no whole JSON yet. */
function argumentsText(json: string): string {
  if (!json.includes("\\")) return json;
  const read = json.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_, code?: string, character = "") =>
    code === undefined ? (ESCAPED[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${json}\n${read}`;
}
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** What a terminal shows: without the sequences for colours, links and titles. */
function plainOutput(output: string): string {
  return output.replace(SEQUENCE, "");
}
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)/g;

/** A data URL is no text to search in, and may be megabytes long. */
function addressText(url: string): string {
  return url.startsWith("data:") ? "" : url;
}
