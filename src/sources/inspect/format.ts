import { asArray, asNumber, asObject, asText, type JsonObject, messageOf } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { firstMembers } from "../conversation/head.ts";
import { readDocument } from "../documents/document.ts";
import { parseObject } from "../lines/parse-object.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { inspectReader } from "./reader.ts";
import { sampleRecords } from "./records.ts";
import { chunkedSample, readSample, type Sample, singleSample } from "./samples.ts";

/**
 * Inspect's evaluation logs. Each sample is a session. A `.json` contains all samples. A `.eval` is a ZIP archive with one
 * document or one folder of documents per sample.
 */
export const inspect = recordLinesFormat({
  id: "inspect",
  name: "Inspect evaluation log",
  classify: () => undefined,
  detect: (head) => isLog(firstMembers(head)),
  snapshots: {
    storeOf: (path) => (/\.(?:eval|json)$/.test(path) ? path : undefined),
    // An archive is recognized by its name. Errors are reported when it is read.
    recognizes: (store) => isArchive(store) || headerOf(store) !== undefined,
    sessions,
  },
  reader: inspectReader,
});

function isLog(document: JsonObject | undefined): boolean {
  const evaluation = asObject(document?.eval);
  return asNumber(document?.version) !== undefined && asText(evaluation?.task) !== undefined;
}

const isArchive = (store: OpenStore): boolean => store.path.endsWith(".eval");
const inArchive = (store: OpenStore, name: string): string => `${store.path}!/${name}`;

/** The header of the evaluation. In an unfinished archive it is in the journal. */
function headerOf(store: OpenStore): JsonObject | undefined {
  if (!isArchive(store)) {
    const document = readDocument(store, store.path)?.value;
    return isLog(document) ? document : undefined;
  }
  for (const name of ["header.json", "_journal/start.json", "start.json"]) {
    const header = parseObject(store.readText(inArchive(store, name)) ?? "");
    if (isLog(header)) return header;
  }
  return undefined;
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const header = headerOf(store);
  if (header === undefined) return;
  const modified_at = store.modifiedAt(store.path) ?? 0;
  if (isArchive(store)) {
    for (const { name, stamp, open } of samplesIn(store, "samples")) {
      const file = inArchive(store, name);
      yield {
        name: `${file}#`,
        kind: "session",
        stamp,
        modified_at,
        records: () => recordsOf(file, header, open),
      };
    }
    return;
  }
  for (const [index, item] of asArray(header.samples).entries()) {
    const sample = asObject(item);
    const pointer = `/samples/${index}`;
    const name = `${store.path}#${pointer}`;
    if (sample !== undefined)
      yield {
        name,
        kind: "session",
        modified_at,
        records: () => sampleRecords(name, header, singleSample(store.path, sample, pointer)),
      };
  }
}

interface Entry {
  name: string;
  stamp: string;
  open(): Sample;
}

/**
 * The samples in a folder. A sample is one document or, if large, a folder with `sample.json`. A slash in its id creates nested
 * folders.
 */
function* samplesIn(store: OpenStore, folder: string): Generator<Entry> {
  for (const inside of store.list(inArchive(store, folder))) {
    const name = `${folder}/${inside}`;
    const path = inArchive(store, name);
    const shell = `${path}/sample.json`;
    const changed = store.modifiedAt(path) ?? store.modifiedAt(shell);
    if (changed === undefined) yield* samplesIn(store, name);
    else {
      const is_whole = store.modifiedAt(path) !== undefined;
      if (is_whole && !name.endsWith(".json")) continue;
      const open = () =>
        is_whole ? singleSample(path, readSample(store, path)) : chunkedSample(store, path);
      yield { name, stamp: `${name} ${changed}`, open };
    }
  }
}

/**
 * The records of a sample. An unreadable sample is reported as damaged, after its readable records. The others are still shown.
 */
function* recordsOf(file: string, header: JsonObject, open: () => Sample): Generator<SnapshotRecord> {
  const name = `${file}#`;
  let began = false;
  try {
    for (const record of sampleRecords(name, header, open())) {
      began = true;
      yield record;
    }
  } catch (error) {
    if (!began) yield* sampleRecords(name, header, singleSample(file, {}));
    yield { key: "damaged", place: { kind: "document", file, pointer: "" }, text: messageOf(error) };
  }
}
