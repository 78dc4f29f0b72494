import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { firstMembers } from "../conversation/head.ts";
import { readDocument } from "../documents/document.ts";
import { parseObject } from "../lines/parse-object.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { inspectReader } from "./reader.ts";

/** Inspect's evaluation logs, `.json` or `.eval` (a ZIP archive with a document for each sample): each sample is a session. */
export const inspect = recordLinesFormat({
  id: "inspect",
  name: "Inspect evaluation log",
  classify: () => undefined,
  detect: (head) => isLog(firstMembers(head)),
  snapshots: {
    storeOf: (path) => (/\.(?:eval|json)$/.test(path) ? path : undefined),
    recognizes: (store) => headerOf(store) !== undefined,
    sessions,
  },
  reader: inspectReader,
});

function isLog(document: JsonObject | undefined): boolean {
  const evaluation = asObject(document?.eval);
  return asNumber(document?.version) !== undefined && asText(evaluation?.task) !== undefined;
}

const inArchive = (store: OpenStore, name: string): string => `${store.path}!/${name}`;

/** What the log says of the evaluation; in an archive that is not finished it stands in the journal. */
function headerOf(store: OpenStore): JsonObject | undefined {
  if (!store.path.endsWith(".eval")) {
    const document = readDocument(store, store.path)?.value;
    return isLog(document) ? document : undefined;
  }
  for (const name of ["header.json", "_journal/start.json"]) {
    const header = parseObject(store.readText(inArchive(store, name)) ?? "");
    if (isLog(header)) return header;
  }
  return undefined;
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const header = headerOf(store);
  if (header === undefined) return;
  const modified_at = store.modifiedAt(store.path) ?? 0;
  if (!store.path.endsWith(".eval")) {
    for (const [index, item] of asArray(header.samples).entries()) {
      const sample = asObject(item);
      if (sample !== undefined)
        yield sessionOf(store.path, modified_at, header, `/samples/${index}`, () => sample);
    }
    return;
  }
  for (const name of store.list(inArchive(store, "samples"))) {
    const file = inArchive(store, `samples/${name}`);
    yield sessionOf(file, modified_at, header, "", () => parseObject(store.readText(file) ?? "") ?? {}, name);
  }
}

function sessionOf(
  file: string,
  modified_at: number,
  header: JsonObject,
  pointer: string,
  sample: () => JsonObject,
  stamp?: string,
): SnapshotSession {
  const name = `${file}#${pointer}`;
  return {
    name,
    kind: "session",
    // A sample of an archive is written once.
    ...(stamp !== undefined && { stamp }),
    modified_at,
    records: () => recordsOf(file, name, header, pointer, sample()),
  };
}

/** What only the log's own books are kept with. */
const BOOKKEEPING = new Set([
  "sample_init",
  "state",
  "store",
  "step",
  "span_begin",
  "span_end",
  "subtask",
  "sandbox",
  "logger",
  "model",
  "tool",
  "anchor",
  "branch",
]);

/** Every message once, where it was first sent or came back, and what else happened, in the order of the events. */
function* recordsOf(
  file: string,
  name: string,
  header: JsonObject,
  pointer: string,
  sample: JsonObject,
): Generator<SnapshotRecord> {
  const record = (key: string, at: string, value: JsonObject): SnapshotRecord => ({
    key,
    place: { kind: "document", file, pointer: `${pointer}${at}` },
    text: JSON.stringify(value),
  });
  const evaluation = asObject(header.eval) ?? {};
  yield record("head", "", {
    name,
    task: evaluation.task,
    model: evaluation.model,
    version: asObject(evaluation.packages)?.inspect_ai,
    started_at: sample.started_at,
    sample_id: sample.id,
    epoch: sample.epoch,
    target: sample.target,
  });
  const attached = (value: unknown): unknown => withAttachments(value, asObject(sample.attachments) ?? {});
  const seen = new Set<string>();
  /** `same`: how often a message without an id stood before it in its list with the same words. */
  function* message(
    item: unknown,
    at: string,
    facts: JsonObject,
    same: Map<string, number>,
  ): Generator<SnapshotRecord> {
    const value = asObject(item);
    if (value === undefined) return;
    const words = JSON.stringify([value.role, value.content, value.tool_calls, value.tool_call_id]);
    const count = (same.get(words) ?? 0) + 1;
    same.set(words, count);
    const id = asText(value.id) ?? `${count} ${words}`;
    if (seen.has(id)) return;
    seen.add(id);
    const key = `message:${asText(value.id) ?? seen.size}`;
    yield record(key, at, { ...facts, message: attached(value) });
  }
  for (const [index, item] of asArray(sample.events).entries()) {
    const event = asObject(item) ?? {};
    const at = `/events/${index}`;
    if (event.event === "model") {
      const same = new Map<string, number>();
      for (const [place, input] of asArray(event.input).entries())
        yield* message(input, `${at}/input/${place}`, { timestamp: event.timestamp }, same);
      const output = asObject(event.output) ?? {};
      const choice = asObject(asArray(output.choices)[0]);
      const facts = {
        timestamp: event.completed ?? event.timestamp,
        model: output.model,
        usage: output.usage,
        stop_reason: choice?.stop_reason,
      };
      yield* message(choice?.message, `${at}/output/choices/0/message`, facts, same);
    } else if (!BOOKKEEPING.has(String(event.event)))
      yield record(`event:${index}`, at, { timestamp: event.timestamp, event: attached(event) });
  }
  // Where the log has no events, or what was said last was not sent any more.
  const same = new Map<string, number>();
  for (const [index, item] of asArray(sample.messages).entries())
    yield* message(item, `/messages/${index}`, {}, same);
  const error_told = asArray(sample.events).some((event) => asObject(event)?.event === "error");
  yield record("end", "", { scores: sample.scores, error: sample.error, error_told });
}

/** Long texts and images stand once, and are named `attachment://<hash>` where they belong. */
function withAttachments(value: unknown, attachments: JsonObject): unknown {
  if (typeof value === "string") {
    if (!value.includes("attachment://")) return value;
    return value.replace(/attachment:\/\/([0-9a-f]{32})/g, (whole, hash: string) =>
      Object.hasOwn(attachments, hash) ? String(attachments[hash]) : whole,
    );
  }
  if (Array.isArray(value)) return value.map((item) => withAttachments(item, attachments));
  const object = asObject(value);
  if (object === undefined) return value;
  return Object.fromEntries(
    Object.entries(object).map(([key, item]) => [key, withAttachments(item, attachments)]),
  );
}
