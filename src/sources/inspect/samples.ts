import { asArray, asNumber, asObject, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore } from "../contract.ts";
import { parseObject } from "../lines/parse-object.ts";

/** A value and its position: document and JSON Pointer. */
export interface Placed {
  file: string;
  pointer: string;
  value: unknown;
}

/** A sample, independent of how its log stores it. Its lists may be larger than memory and are read sequentially. */
export interface Sample {
  file: string;
  pointer: string;
  /** All of it except its lists. */
  facts: JsonObject;
  events(): Iterable<Placed>;
  /** The input of a model call. Messages that an earlier event already contained may be omitted. */
  inputOf(event: Placed): Iterable<Placed>;
  /** The conversation at its end. */
  messages(): Iterable<Placed>;
  /** A text or image by its name in `attachment://<name>`. */
  attachment(name: string): string | undefined;
}

/** Reads the document of a sample. Throws if it is not one. */
export function readSample(store: OpenStore, file: string): JsonObject {
  const sample = parseObject(store.readText(file) ?? "");
  if (sample === undefined) throw new Error(`${file} is not a JSON object`);
  return sample;
}

/** A sample in one document. `pointer`: its position in `file`. */
export function singleSample(file: string, sample: JsonObject, pointer = ""): Sample {
  const { events, messages, attachments, message_pool, events_data, ...facts } = sample;
  const texts = asObject(attachments) ?? {};
  const data = asObject(events_data);
  const pool = asArray(data?.messages ?? message_pool);
  const pool_at = data === undefined ? "/message_pool" : "/events_data/messages";
  const sent = new Set<number>();
  return {
    file,
    pointer,
    facts,
    events: () => placed(file, `${pointer}/events`, asArray(events)),
    inputOf: (event) =>
      inputOf(event, sent, (index) => ({
        file,
        pointer: `${pointer}${pool_at}/${index}`,
        value: pool[index],
      })),
    messages: () => placed(file, `${pointer}/messages`, asArray(messages)),
    attachment: (name) => (Object.hasOwn(texts, name) ? String(texts[name]) : undefined),
  };
}

function* placed(file: string, pointer: string, values: readonly unknown[]): Generator<Placed> {
  for (const [index, value] of values.entries()) yield { file, pointer: `${pointer}/${index}`, value };
}

/** The messages in the event itself, or in ranges `[start, end)` of the pool, each once per sample. */
function* inputOf(
  event: Placed,
  sent: Set<number>,
  at: (index: number) => Placed | undefined,
): Generator<Placed> {
  const value = asObject(event.value) ?? {};
  yield* placed(event.file, `${event.pointer}/input`, asArray(value.input));
  for (const index of indexesIn(value.input_refs)) {
    if (sent.has(index)) continue;
    sent.add(index);
    const message = at(index);
    if (message !== undefined) yield message;
  }
}

function* indexesIn(ranges: unknown): Generator<number> {
  for (const range of asArray(ranges)) {
    const [start, end] = asArray(range).map(asNumber);
    for (let index = start ?? 0; index < (end ?? 0); index += 1) yield index;
  }
}

/** A sample in a folder: `sample.json`, and lists that are split into documents, each named by the index of its first item. */
export function chunkedSample(store: OpenStore, folder: string): Sample {
  const file = `${folder}/sample.json`;
  const facts = readSample(store, file);
  const messages = sequence(store, `${folder}/messages`);
  const attachments = sequence(store, `${folder}/attachments`);
  const sent = new Set<number>();
  return {
    file,
    pointer: "",
    facts,
    events: () => sequence(store, `${folder}/events`).all(),
    inputOf: (event) => inputOf(event, sent, messages.at),
    *messages() {
      for (const index of indexesIn(facts.message_refs)) {
        const message = messages.at(index);
        if (message !== undefined) yield message;
      }
    },
    attachment(name) {
      const text = /^\d{1,15}$/.test(name) ? attachments.at(Number(name))?.value : undefined;
      return typeof text === "string" ? text : undefined;
    },
  };
}

/** A list that is split into several documents. */
interface Sequence {
  at(index: number): Placed | undefined;
  all(): Iterable<Placed>;
}

function sequence(store: OpenStore, folder: string): Sequence {
  const starts = store
    .list(folder)
    .flatMap((name) => (/^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .sort((one, other) => one - other);
  /** Only one document is in memory at a time. */
  let open: { start: number; values: readonly unknown[] } | undefined;
  const read = (start: number): readonly unknown[] => {
    if (open?.start !== start) {
      const text = store.readText(`${folder}/${start}.json`);
      open = { start, values: asArray(text === undefined ? undefined : JSON.parse(text)) };
    }
    return open.values;
  };
  return {
    at(index) {
      const start = starts.findLast((each) => each <= index);
      const value = start === undefined ? undefined : read(start)[index - start];
      if (start === undefined || value === undefined) return undefined;
      return { file: `${folder}/${start}.json`, pointer: `/${index - start}`, value };
    },
    *all() {
      for (const start of starts) yield* placed(`${folder}/${start}.json`, "", read(start));
    },
  };
}
