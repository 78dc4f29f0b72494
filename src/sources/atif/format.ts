import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { firstMembers } from "../conversation/head.ts";
import { type Document, readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { atifReader, nameOf } from "./reader.ts";

/** Trajectories by Harbor and others, which have no usual folder. */
export const atif = recordLinesFormat({
  id: "atif",
  name: "ATIF trajectory",
  classify: () => undefined,
  detect: (head) => isOwn(firstMembers(head)),
  snapshots: {
    storeOf: (path) => (/\.json$/.test(path) ? path : undefined),
    recognizes: (store) => isOwn(readDocument(store, store.path)?.value),
    sessions,
  },
  reader: atifReader,
});

function isOwn(document: JsonObject | undefined): boolean {
  return /^ATIF-v\d/.test(asText(document?.schema_version) ?? "");
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const document = readDocument(store, store.path);
  if (document === undefined || !isOwn(document.value)) return;
  yield* sessionsOf(store, document, [], document.value, undefined);
}

/** The sessions of a trajectory and of those embedded in it, at any depth. */
function* sessionsOf(
  store: OpenStore,
  document: Document,
  path: readonly (string | number)[],
  trajectory: JsonObject,
  parent: string | undefined,
): Generator<SnapshotSession> {
  const name = nameOf(trajectory) ?? store.path;
  yield {
    name: [store.path, ...path].join("#"),
    kind: parent === undefined ? "session" : "run",
    modified_at: store.modifiedAt(store.path) ?? 0,
    records: () => recordsOf(document, path, trajectory, parent),
  };
  const own = parent === undefined ? name : `${parent} ${name}`;
  for (const [index, child] of asArray(trajectory.subagent_trajectories).entries()) {
    const value = asObject(child);
    if (value !== undefined)
      yield* sessionsOf(store, document, [...path, "subagent_trajectories", index], value, own);
  }
}

function* recordsOf(
  document: Document,
  path: readonly (string | number)[],
  trajectory: JsonObject,
  parent: string | undefined,
): Generator<SnapshotRecord> {
  const { steps, subagent_trajectories: _, final_metrics, continued_trajectory_ref, ...head } = trajectory;
  const first = asObject(asArray(steps)[0])?.timestamp;
  const place = document.record("head", path, {}).place;
  const facts = {
    ...head,
    ...(parent !== undefined && { parent }),
    ...(first !== undefined && { steps: [{ timestamp: first }] }),
  };
  yield { key: "head", place, text: JSON.stringify(facts) };
  for (const [index, step] of asArray(steps).entries())
    yield document.record(`step:${index}`, [...path, "steps", index], step);
  yield { key: "end", place, text: JSON.stringify({ final_metrics, continued_trajectory_ref }) };
}
