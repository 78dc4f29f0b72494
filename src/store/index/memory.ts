import { indexForm } from "../../model/search/match.ts";
import {
  type IndexedPart,
  type IndexedSession,
  type IndexedStep,
  type IndexedTurn,
  MAX_PAST,
  type PartIndex,
  type PastPage,
  type PastPlace,
  type PastRequest,
  type SegmentStart,
  type SourceUpdate,
  type WriteReport,
} from "./contract.ts";
import { type SearchTables, searchTables } from "./search.ts";
import { sumUsage } from "./usage-sums.ts";

const placeOf = (part: IndexedPart | undefined): Pick<PastPlace, "part_id"> => ({
  ...(part !== undefined && { part_id: part.id }),
});

interface MemorySession {
  ref: number;
  source: string;
  session: IndexedSession;
  parts: IndexedPart[];
  turns: IndexedTurn[];
  steps: IndexedStep[];
}

/** A part index in memory. */
export function createMemoryIndex(): PartIndex {
  const stamps = new Map<string, string>();
  const segments = new Map<string, Map<number, SegmentStart>>();
  let sessions: MemorySession[] = [];
  let next_ref = 1;
  const find = (source: string, id: string) =>
    sessions.find((one) => one.source === source && one.session.id === id);
  const sorted = () =>
    sessions.toSorted(
      (one, other) => other.session.last_activity_at - one.session.last_activity_at || other.ref - one.ref,
    );

  function write(
    { key, stamp, sessions: given, segments: starts = [], is_end_only }: SourceUpdate,
    report: WriteReport,
  ): void {
    for (const start of starts) {
      const known = segments.get(key) ?? new Map<number, SegmentStart>();
      segments.set(key, known.set(start.segment, start));
    }
    for (const { parts, turns, part_count, steps, steps_from, ...session } of given) {
      let known = find(key, session.id);
      if (!known) {
        known = { ref: next_ref++, source: key, session, parts: [], turns: [], steps: [] };
        sessions.push(known);
      }
      known.session = session;
      for (const part of parts) {
        if (JSON.stringify(known.parts[part.seq]) === JSON.stringify(part)) report.unchanged += 1;
        else {
          known.parts[part.seq] = part;
          report.written += 1;
        }
      }
      known.steps = [...known.steps.filter(({ seq }) => seq < steps_from), ...steps];
      for (const turn of turns) known.turns[turn.index] = turn;
      if (stamp === undefined) continue;
      known.steps = known.steps.filter(({ seq }) => seq < part_count);
      known.parts.length = Math.min(known.parts.length, part_count);
      known.turns.length = turns.length === 0 ? known.turns.length : (turns.at(-1)?.index ?? 0) + 1;
    }
    if (stamp !== undefined && !is_end_only) {
      const kept = new Set(given.map(({ id }) => id));
      sessions = sessions.filter(({ source, session }) => source !== key || kept.has(session.id));
    }
    stamps.set(key, stamp ?? "");
  }

  return {
    sources: async () => [...stamps].map(([key, stamp]) => ({ key, stamp })),
    async write(updates) {
      const report = { written: 0, unchanged: 0 };
      for (const update of updates) write(update, report);
      return report;
    },
    async remove(keys) {
      for (const key of keys) {
        stamps.delete(key);
        segments.delete(key);
      }
      sessions = sessions.filter(({ source }) => stamps.has(source));
    },
    search: async (request) => searchTables(tablesOf(sessions, sorted), request),
    usage: async (request) =>
      sumUsage(
        sessions.flatMap(({ ref, source, session, steps }) =>
          steps.map((step) => ({ ref, source, session, step })),
        ),
        request,
      ),
    past: async (request) => findPast(sorted(), request),
    sessions: async () =>
      sorted().map(({ source, session, parts }) => ({ ...session, source, part_count: parts.length })),
    turns: async (source, id) => find(source, id)?.turns ?? [],
    parts: async (source, id, from, to) => find(source, id)?.parts.slice(from, to) ?? [],
    segments: async () =>
      [...segments].flatMap(([source, starts]) =>
        [...starts.values()].map(({ segment, version }) => ({ source, segment, version })),
      ),
    segmentsOf: async (source) =>
      [...(segments.get(source)?.values() ?? [])]
        .map(({ checkpoint: _, ...start }) => start)
        .toSorted((one, other) => one.segment - other.segment),
    segment: async (source, segment) => segments.get(source)?.get(segment),
    async position(source, id, part_id) {
      const index = find(source, id)?.parts.findLastIndex((part) => part?.id === part_id) ?? -1;
      return index === -1 ? undefined : index;
    },
    async close() {},
  };
}

/** The tables of the search. `sorted`: the sessions, newest first. */
function tablesOf(sessions: readonly MemorySession[], sorted: () => MemorySession[]): SearchTables {
  const byRef = (ref: number) => sessions.find((one) => one.ref === ref);
  return {
    sessions: sorted,
    candidates(trigrams) {
      const small = trigrams.map((trigram) => trigram.toLowerCase());
      return new Map(
        sessions.map(({ ref, parts }) => [
          ref,
          parts
            .filter((part) => {
              const text = indexForm(part.text).toLowerCase();
              return small.every((trigram) => text.includes(trigram));
            })
            .map(({ seq }) => seq)
            .reverse(),
        ]),
      );
    },
    withIds(part_ids) {
      const wanted = new Set(part_ids);
      return new Map(
        sessions.map(({ ref, parts }) => [
          ref,
          parts
            .filter(({ id }) => wanted.has(id))
            .map(({ seq }) => seq)
            .reverse(),
        ]),
      );
    },
    positions: (ref) => (byRef(ref)?.parts ?? []).map(({ seq }) => seq).reverse(),
    row: (ref, seq) => byRef(ref)?.parts[seq],
    text: (ref, seq) => byRef(ref)?.parts[seq]?.text ?? "",
    turnTitle: (ref, turn) => byRef(ref)?.turns[turn]?.title,
    cutParts: () =>
      sessions.reduce(
        (sum, { parts }) => sum + parts.filter(({ full_length }) => full_length !== undefined).length,
        0,
      ),
  };
}

/** The places for a trial of a rule. `sessions`: newest first. */
function findPast(sessions: readonly MemorySession[], request: PastRequest): PastPage {
  const places = sessions.flatMap(({ source, session, parts, turns }): PastPlace[] => {
    if (request.type === "turns")
      return turns
        .filter(({ status }) => status === request.status)
        .map((turn) => {
          const part = parts[turn.first_seq];
          const at = turn.ended_at ?? turn.started_at;
          return { source, session, ...placeOf(part), ...(at !== undefined && { at }) };
        });
    const timed = parts.filter(({ started_at }) => (started_at ?? 0) > 0);
    return timed.flatMap((part, index) => {
      const before = timed.slice(0, index).findLast(({ turn }) => turn === part.turn);
      const length = (part.started_at ?? 0) - (before?.started_at ?? part.started_at ?? 0);
      if (before === undefined || before.kind === "request" || length <= request.longer_than) return [];
      return [{ source, session, ...placeOf(part), at: part.started_at ?? 0, length }];
    });
  });
  places.sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
  return {
    places: places.slice(0, MAX_PAST),
    sessions: sessions.length,
    is_more: places.length > MAX_PAST,
  };
}
