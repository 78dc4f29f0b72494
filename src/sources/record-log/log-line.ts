import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { lineSource, storeSource } from "../../model/transcript/transcript.ts";
import type { SessionRecord } from "../contract.ts";
import type { LineRecord } from "../lines/lines.ts";
import { parseObject } from "../lines/parse-object.ts";

// A record log is a JSONL file that Verbatim appends to, one per session of an agent that changes its records in place. The
// first line is a header. Each other line is one revision of a record, in the order in which they were read.

/** Marks the header. The number is the log's format version. */
const HEADER = "record_log";
const VERSION = 1;
const SUFFIX = ".records.jsonl";
/** The path of an entry's value in its line. */
const VALUE = ["value"];

/** The content of the first line. */
export interface LogHeader {
  /** The agent's id. */
  agent: string;
  /** The session's name within the agent. */
  session: string;
  /** Absolute path of the agent's store. */
  file: string;
}

/** One revision of a record. */
export interface LogEntry {
  key: string;
  revision: string;
  place: SessionRecord["place"];
  /** JSON text of an object; `undefined`: the record was deleted. */
  text: string | undefined;
}

export const isRecordLog = (path: string): boolean => path.endsWith(SUFFIX);

/** The file name of a session's log. Special characters are escaped as `%xx`, so that no two names share a file. */
export function logName(session: string): string {
  const safe = session.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  return `${safe}${SUFFIX}`;
}

/** The header line with its newline. */
export function headerLine(header: LogHeader): string {
  return `${JSON.stringify({ [HEADER]: VERSION, ...header })}\n`;
}

/** The header in a file's first bytes; `undefined`: it is not a record log. */
export function headerIn(head: Uint8Array): LogHeader | undefined {
  const text = new TextDecoder().decode(head.subarray(0, 64 * 1024)).split("\n", 1)[0] ?? "";
  const value = text.startsWith(`{"${HEADER}":`) ? parseObject(text) : undefined;
  return value && headerOf(value);
}

function headerOf(value: JsonObject): LogHeader | undefined {
  const [agent, session, file] = [asText(value.agent), asText(value.session), asText(value.file)];
  return agent === undefined || session === undefined || file === undefined
    ? undefined
    : { agent, session, file };
}

/** An entry's line with its newline. Text that is not a JSON object is stored as a string and shown as unreadable. */
export function entryLine({ key, revision, place, text }: LogEntry): string {
  const head = JSON.stringify({ key, revision, place }).slice(0, -1);
  if (text === undefined) return `${head},"deleted":true}\n`;
  // Valid JSON has newlines only between tokens.
  if (parseObject(text) !== undefined) return `${head},"value":${text.replaceAll(/[\r\n]/g, " ")}}\n`;
  return `${head},"damaged":${JSON.stringify(text)}}\n`;
}

/** The content of a log line. */
export type LogLine =
  | { kind: "header"; header: LogHeader }
  | { kind: "record"; record: SessionRecord }
  | { kind: "damaged"; place: SessionRecord["place"]; text: string; error: string };

/** Parses one line; `undefined`: it is not a line of a record log. */
export function parseLogLine({
  value,
  text,
  place,
}: Extract<LineRecord, { value: JsonObject }>): LogLine | undefined {
  if (value[HEADER] !== undefined) {
    const header = headerOf(value);
    return header && { kind: "header", header };
  }
  const key = asText(value.key);
  // A union of all would try one schema after the other.
  const origin = (asObject(value.place)?.kind === undefined ? lineSource : storeSource).safeParse(
    value.place,
  );
  if (key === undefined || !origin.success) return undefined;
  const logged = origin.data.kind === undefined ? origin.data : { ...origin.data, logged: place };
  if (typeof value.damaged === "string")
    return { kind: "damaged", place: logged, text: value.damaged, error: "this record is not a JSON object" };
  const deleted = value.deleted === true;
  const content = asObject(value.value);
  if (content === undefined && !deleted) return undefined;
  return {
    kind: "record",
    record: {
      key,
      revision: typeof value.revision === "string" ? value.revision : "",
      place: logged,
      value: content ?? {},
      text,
      within: VALUE,
      ...(deleted && { deleted }),
    },
  };
}
