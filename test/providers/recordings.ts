import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "../../src/model/frames/frame.ts";
import { createEventReader } from "../../src/providers/event-reader.ts";
import { findApiProtocol } from "../../src/providers/index.ts";
import type {
  ApiProtocol,
  Decoder,
  DecoderContext,
  ModelReply,
  StreamEnd,
} from "../../src/providers/provider.ts";
import type { DecodedStream } from "../../src/server/cli/decode-stream.ts";
import { sharedData } from "../shared-data.ts";

/** The expected result of a recording: text-like parts completely, or by length and hash. */
export interface Expected {
  wire: string;
  response_id?: string | null;
  model?: string | null;
  parts: Record<string, unknown>[];
  stop_reason: string;
  stop_reason_raw: string | null;
  usage: Record<string, number> | null;
  error: unknown;
}

/** A recorded response of a supported protocol. */
export interface Recording {
  /** `anthropic/text-two-tools` */
  name: string;
  format: ApiProtocol;
  bytes: Uint8Array;
  expected: Expected;
}

const OWN = join(import.meta.dirname, "fixtures");
const shared = sharedData("streams");

function read(folder: string, name: string): Recording | undefined {
  // Validated by the comparison.
  const expected = JSON.parse(readFileSync(join(folder, `${name}.expect.json`), "utf8")) as Expected;
  const format = findApiProtocol(expected.wire);
  return format === undefined
    ? undefined
    : { name, format, bytes: readFileSync(join(folder, `${name}.sse`)), expected };
}

function all(folder: string): Recording[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".sse"))
    .sort()
    .map((file) => read(folder, file.slice(0, -".sse".length)))
    .filter((recording) => recording !== undefined);
}

/**
 * The streams written for this suite, and the recorded ones if the shared folder exists. Those of a new protocol are included
 * automatically.
 */
export const recordings: readonly Recording[] = [...all(OWN), ...(shared === undefined ? [] : all(shared))];
export const hasShared = shared !== undefined;

export const MESSAGE = "00000000-0000-4000-8000-0000000000a1";
export const SESSION = "00000000-0000-4000-8000-0000000000b1";

export function contextOf(format: ApiProtocol, given: Partial<DecoderContext> = {}): DecoderContext {
  return {
    session_id: SESSION,
    message_id: MESSAGE,
    provider: "recording",
    wire: format.wire,
    model: "recorded-model",
    now: () => 1_000,
    ...given,
  };
}

export interface Decoded {
  frames: Frame[];
  reply: ModelReply;
  phase: Decoder["phase"];
}

export interface StreamEvent {
  data: string;
  event: string | undefined;
}

/** The events of a body in these chunks. */
export function eventsOf(chunks: Iterable<Uint8Array>): StreamEvent[] {
  const events: StreamEvent[] = [];
  const reader = createEventReader((data, event) => events.push({ data, event }));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return events;
}

export function decodeEvents(
  format: ApiProtocol,
  events: Iterable<StreamEvent>,
  how: StreamEnd = { type: "end" },
  given: Partial<DecoderContext> = {},
): Decoded {
  const decoder = format.createDecoder(contextOf(format, given));
  const frames: Frame[] = [];
  for (const { data, event } of events) frames.push(...decoder.push(data, event));
  const { phase } = decoder;
  const end = decoder.end(how);
  return { frames: [...frames, ...end.frames], reply: end.reply, phase };
}

export function decodeBytes(format: ApiProtocol, chunks: Iterable<Uint8Array>): Decoded {
  return decodeEvents(format, eventsOf(chunks));
}

/** Numbers from 0 to 1, reproducible by seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The bytes in chunks of random length. */
export function* randomChunks(bytes: Uint8Array, longest: number, seed: number): Generator<Uint8Array> {
  const random = randomFrom(seed);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(random() * longest);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** The differences between a decoded stream and the expected result, one line each. */
export function differences(decoded: DecodedStream, expected: Expected): string[] {
  const found: string[] = [];
  const check = (what: string, got: unknown, wanted: unknown): void => {
    const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
    if (a !== b) found.push(`${what}: ${a?.slice(0, 300)} instead of ${b?.slice(0, 300)}`);
  };
  check("stop_reason", decoded.stop_reason, expected.stop_reason);
  check("stop_reason_raw", decoded.stop_reason_raw, expected.stop_reason_raw);
  check("usage", sorted(decoded.usage), sorted(expected.usage));
  check("error", sorted(decoded.error), sorted(expected.error));
  check(
    "kinds of parts",
    decoded.parts.map(({ type }) => type),
    expected.parts.map(({ type }) => type),
  );
  for (const [at, part] of decoded.parts.entries()) {
    const wanted = expected.parts[at];
    if (wanted !== undefined) checkPart(`part ${at} (${String(part.type)})`, part, wanted, check);
  }
  return found;
}

/** The fields that are compared for each kind of part; the rest of an expectation describes its text. */
const SAID = [
  "text",
  "signature",
  "id",
  "phase",
  "refusal",
  "format",
  "carrier",
  "reasoning_field",
  "detail_type",
  "source",
];

function checkPart(
  name: string,
  part: Record<string, unknown>,
  wanted: Record<string, unknown>,
  check: (what: string, got: unknown, wanted: unknown) => void,
): void {
  const text = part.text ?? part.signature;
  if (typeof text === "string" && wanted.sha256 !== undefined) {
    check(`${name} length`, text.length, wanted.utf16);
    check(`${name} hash`, hashOf(text), wanted.sha256);
  }
  if (part.type === "tool_call") {
    check(`${name} name`, part.tool_name, wanted.tool_name);
    if (typeof wanted.call_id === "string") check(`${name} id`, part.call_id, wanted.call_id);
    else check(`${name} has an id`, typeof part.call_id === "string" && part.call_id !== "", true);
    check(`${name} validity`, part.arguments_invalid_json ?? false, wanted.arguments_invalid_json ?? false);
    check(`${name} arguments`, sorted(part.arguments), sorted(wanted.arguments));
    const raw = wanted.arguments_json;
    if (typeof raw === "string") check(`${name} JSON`, part.arguments_json, raw);
    else if (typeof raw === "object" && raw !== null && "sha256" in raw) {
      check(`${name} JSON`, hashOf(String(part.arguments_json)), raw.sha256);
    }
    if (wanted.item_id !== undefined) check(`${name} item`, part.item_id, wanted.item_id);
    return;
  }
  if (part.type === "other") {
    check(`${name} kind`, part.kind, wanted.kind);
    if (wanted.id !== undefined) check(`${name} id`, part.id, wanted.id);
    return;
  }
  for (const field of SAID) {
    if (wanted[field] !== undefined) check(`${name} ${field}`, part[field], wanted[field]);
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Sorts the keys of objects, so that equal values are equal texts. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
