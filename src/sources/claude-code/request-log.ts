import type { LinePlace, LoggedRequest, RequestLog } from "../../model/context/request-log.ts";
import { asArray, asObject, asString, type JsonObject } from "../../model/narrow.ts";

interface Known {
  message: JsonObject;
  places: readonly LinePlace[];
}

/** An `api-request` line with the hashes of all its messages. */
interface Entry {
  value: JsonObject;
  place: LinePlace;
  hashes: readonly string[];
}

/** Consecutive lines of one role (for an assistant: of one message) that form one message of a request. */
interface Run {
  role: string;
  /** The assistant message's id. */
  id?: string;
  blocks: unknown[];
  places: LinePlace[];
}

/**
 * Rebuilds the API requests of a Claude Code session (2.1.332 and later) from `api-request-shape`, `api-request-blob` and
 * `api-request` lines. A request's messages are the first `keep` of its `base`, then its `tail`. Hashes are resolved from the
 * blobs, then from the messages in the transcript's lines. `sha256`: SHA-256 of a text, in hex.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the lines read so far: its functions are short
export function createRequestLog(sha256: (text: string) => string): RequestLog {
  const shapes = new Map<string, JsonObject>();
  const messages = new Map<string, Known>();
  const entries = new Map<string, Entry>();
  const answers = new Map<string, LinePlace>();
  let run: Run | undefined;

  const remember = (message: JsonObject, places: readonly LinePlace[], hash = hashOf(message)) => {
    if (!messages.has(hash)) messages.set(hash, { message, places });
  };
  const hashOf = (message: JsonObject) => sha256(canonical(asBlocks(message), true));

  function takeLine(value: JsonObject, place: LinePlace): void {
    const message = asObject(value.message);
    if (message === undefined) return;
    const role = asString(value.type) ?? "";
    const id = role === "assistant" ? asString(message.id) : undefined;
    const is_same_message = run !== undefined && run.role === role && run.id === id;
    if (!is_same_message || run === undefined)
      run = { role, ...(id !== undefined && { id }), blocks: [], places: [] };
    run.blocks.push(...blocksOf(message.content));
    run.places.push(place);
    remember({ role, content: [...run.blocks] }, [...run.places]);
    const ref = asString(value.requestRef);
    // A fork copies its parent's lines, which refer to the parent's requests.
    if (ref !== undefined && value.requestSessionId === undefined && !answers.has(ref))
      answers.set(ref, place);
  }

  function takeRequest(value: JsonObject, place: LinePlace): void {
    const id = asString(value.id);
    if (id === undefined) return;
    const base = entries.get(asString(value.base) ?? "")?.hashes ?? [];
    const keep = typeof value.keep === "number" ? value.keep : 0;
    const tail = asArray(value.tail).flatMap((hash) => asString(hash) ?? []);
    const gone = Array.from({ length: Math.max(0, keep - base.length) }, () => "");
    entries.set(id, { value, place, hashes: [...base.slice(0, keep), ...gone, ...tail] });
  }

  function requestOf(id: string, { value, place, hashes }: Entry): LoggedRequest {
    const missing: string[] = [];
    const shape = shapes.get(asString(value.shapeHash) ?? "");
    if (shape === undefined) missing.push("system prompt and tools");
    const lost = hashes.filter((hash) => !messages.has(hash)).length;
    if (lost > 0) missing.push(`${lost} of ${hashes.length} messages`);
    if (value.cut !== undefined) missing.push("parts that the agent cut out of the record");
    const known = hashes.flatMap((hash) => messages.get(hash) ?? []);
    const digest = asString(value.requestDigest);
    const at = asString(value.timestamp);
    const answer = answers.get(id);
    return {
      id,
      place,
      ...(at !== undefined && { at }),
      origins: known.map(({ places }) => places),
      hashes: hashes.filter((hash) => messages.has(hash)),
      ...(digest !== undefined && { digest }),
      missing,
      ...(answer !== undefined && { answer }),
      build() {
        const body: JsonObject = {
          ...structuredClone({ ...shape, ...asObject(value.params) }),
          // Cloned one by one: a message that occurs twice in a request is marked for the cache only once.
          messages: known.map(({ message }) => structuredClone(asBlocks(message))),
        };
        for (const control of asArray(value.cacheControl)) setCacheControl(body, asObject(control));
        return { body, digest: sha256(canonical(body, false)) };
      },
    };
  }

  return {
    push(value, place) {
      switch (value.type) {
        case "user":
        case "assistant":
          takeLine(value, place);
          break;
        case "api-request-shape": {
          const shape = asObject(value.shape);
          const hash = asString(value.shapeHash);
          if (shape !== undefined && hash !== undefined) shapes.set(hash, shape);
          break;
        }
        case "api-request-blob": {
          const message = asObject(value.message);
          const hash = asString(value.hash);
          if (message !== undefined && hash !== undefined) messages.set(hash, { message, places: [place] });
          break;
        }
        case "api-request":
          takeRequest(value, place);
          break;
        default:
      }
    },
    requests: () => [...entries].map(([id, entry]) => requestOf(id, entry)),
  };
}

const blocksOf = (content: unknown): unknown[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);

/** Converts a message's content to a list: a string equals a list of one text block. */
const asBlocks = (message: JsonObject): JsonObject => ({ ...message, content: blocksOf(message.content) });

/** Sets `cache_control` on a block. `path` leads from the body to the block. */
function setCacheControl(body: JsonObject, control: JsonObject | undefined): void {
  let target: unknown = body;
  for (const step of asArray(control?.path)) {
    if (Array.isArray(target)) target = target[Number(step)];
    else target = asObject(target)?.[String(step)];
  }
  const block = asObject(target);
  if (block !== undefined) block.cache_control = control?.value;
}

/** JSON with sorted keys and without spaces, the form that the log's hashes are computed from. */
function canonical(value: unknown, without_cache_control: boolean): string {
  if (Array.isArray(value))
    return `[${value.map((item) => canonical(item, without_cache_control)).join(",")}]`;
  const object = asObject(value);
  if (object === undefined) return JSON.stringify(value) ?? "null";
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined && !(without_cache_control && key === "cache_control"))
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key], without_cache_control)}`);
  return `{${members.join(",")}}`;
}
