import { asObject, asText } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { parseObject } from "../lines/parse-object.ts";

const EVENT = /^event-(\d+)-[\w-]+\.json$/;

/**
 * OpenHands' conversation store: `base_state.json` and `events/event-00001-<id>.json`, numbered in order of appending and never
 * rewritten. Source: `openhands/sdk/conversation/event_store.py` of the software agent SDK.
 */
export const openHandsSnapshots: Snapshots = {
  storeOf: (path) =>
    /^((?:.*\/)?conversations\/[^/]+)\/(?:base_state\.json|events\/event-\d+-[\w-]+\.json)$/.exec(path)?.[1],
  recognizes: (store) => store.list(`${store.path}/events`).some((name) => EVENT.test(name)),
  *sessions(store): Generator<SnapshotSession> {
    const events = store.list(`${store.path}/events`).filter((name) => EVENT.test(name));
    const state = `${store.path}/base_state.json`;
    const last = events.at(-1);
    yield {
      name: nameOf(store),
      kind: "session",
      stamp: `${events.length} ${last} ${store.modifiedAt(state)}`,
      modified_at:
        (last === undefined ? undefined : store.modifiedAt(`${store.path}/events/${last}`)) ??
        store.modifiedAt(state) ??
        0,
      records: () => recordsOf(store, state, events),
    };
  },
};

function* recordsOf(store: OpenStore, state: string, events: readonly string[]): Generator<SnapshotRecord> {
  yield {
    key: "state",
    place: { kind: "document", file: state, pointer: "" },
    text: JSON.stringify({ name: nameOf(store), ...factsOf(store.readText(state) ?? "") }),
  };
  const sorted = events.toSorted((one, other) => numberOf(one) - numberOf(other));
  for (const name of sorted) {
    const file = `${store.path}/events/${name}`;
    yield {
      key: `event:${numberOf(name)}`,
      revision: "1",
      place: { kind: "document", file, pointer: "" },
      text: () => store.readText(file) ?? "{}",
    };
  }
}

/** The conversation's id, which is its folder's name. */
const nameOf = ({ path }: OpenStore): string => path.slice(path.lastIndexOf("/") + 1);

const numberOf = (name: string): number => Number(EVENT.exec(name)?.[1] ?? 0);

/** The facts of the state that are shown. Nothing else is kept, such as settings and secrets of the model. */
function factsOf(text: string): object {
  const state = parseObject(text);
  const model = asText(asObject(asObject(state?.agent)?.llm)?.model);
  const cwd = asText(asObject(state?.workspace)?.working_dir);
  const title = asText(state?.title);
  return {
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && { title }),
  };
}
