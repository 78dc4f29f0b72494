import type { LiveChange, LivePart } from "../../../model/live-text.ts";
import type { TranscriptPart } from "../../../model/transcript/transcript.ts";
import type { LiveEvent } from "./live-event.ts";

/**
 * Time within which a complete part is recorded, in milliseconds. After that it is dropped, because the agent will not record it.
 */
const RECORD_MS = 10_000;
/** A text that has not grown for this time is dropped, because its agent was stopped. Milliseconds. */
const SILENCE_MS = 120_000;
/** Difference between the agent's time of a record and the time at which its beginning was reported here, in milliseconds. */
const CLOCK_MS = 10_000;
/** Maximum number of parts, of remembered records and of remembered ids. */
const MAX_PARTS = 64;
const MAX_RECORDS = 32;
const MAX_IDS = 500;
/** Maximum length of a part's text in UTF-16 code units. The record has the rest. */
export const MAX_LIVE_TEXT = 200_000;

/**
 * The live parts of one session: reported by its agent, but not yet in its session file. Records replace them, matched by id if
 * the agent's records have ids, otherwise by order and content, since agents record in the order in which they write.
 */
export interface LiveParts {
  readonly parts: readonly LivePart[];
  readonly isEmpty: boolean;
  report(event: LiveEvent): void;
  /** A part of the transcript that is new or has changed. */
  record(part: TranscriptPart): void;
  /** Called when the transcript contains the end of a turn or the start of the next one. `at`: the record's time; 0: unknown. */
  recordEnd(at: number): void;
  /** Drops parts that the agent will not record. */
  sweep(now: number): void;
  /** The change since the last call. */
  take(): LiveChange | undefined;
}

interface Kept extends Omit<LivePart, "text"> {
  text: string;
  /** Length of the beginning that is already recorded. */
  recorded: number;
  changed_at: number;
  is_complete: boolean;
  /** Length of the shown text that `take` has returned. `unsent`: the text appended since. */
  sent: number;
  unsent: string;
  /** Whether the text has more than whitespace. */
  is_written: boolean;
}

/** A recorded text or thought without a live part so far: the report may arrive after the record. */
interface EarlyRecord {
  kind: "text" | "thinking";
  text: string;
  at: number;
}

/** The live parts of one session. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the live parts: its functions are short
export function createLiveParts(): LiveParts {
  let kept: Kept[] = [];
  let early: EarlyRecord[] = [];
  /** Ids of parts that were replaced or dropped. Later reports about them are ignored. */
  const gone = new Set<string>();
  /** The live part that a record replaces, by the id of the transcript's part. */
  const claimed = new Map<string, Kept | undefined>();
  let is_reset = false;

  function drop(isDropped: (part: Kept, index: number) => boolean) {
    const rest: Kept[] = [];
    for (const [index, part] of kept.entries()) {
      if (!isDropped(part, index)) rest.push(part);
      else {
        remember(gone, part.id);
        is_reset ||= part.sent > 0;
        // `claimed` may still refer to it.
        part.text = "";
      }
    }
    kept = rest;
  }

  /** Drops the texts and thoughts before a position, because records have the order in which the agent wrote. */
  const dropBefore = (end: number) => drop(({ kind }, index) => index < end && kind !== "output");

  const mayRecord = (part: Kept, at: number | undefined): boolean =>
    at === undefined || at === 0 || at >= part.at - CLOCK_MS;

  /** Replaces a part by its record, or only its beginning if more was reported than the record has. */
  function replace(part: Kept, text: string) {
    const rest = covers(text, part.text) ? undefined : restAfter(text, part.text);
    dropBefore(kept.indexOf(part));
    if (rest === undefined) drop((each) => each === part);
    else {
      part.recorded = rest;
      is_reset = true;
    }
  }

  function recordText(part_id: string, kind: "text" | "thinking", text: string, at: number | undefined) {
    const known = kept.find((part) => part.part_id === part_id);
    if (known !== undefined) {
      // Its row shows the live text until the record has all of it.
      if (text !== "" && covers(text, known.text)) drop((part) => part === known);
      return;
    }
    if (claimed.has(part_id)) {
      const part = claimed.get(part_id);
      if (part !== undefined && kept.includes(part)) replace(part, text);
      return;
    }
    const candidates = kept.filter(
      (part) => part.kind === kind && part.part_id === undefined && mayRecord(part, at),
    );
    const match =
      candidates.find(
        (part) => part.is_written && (covers(text, part.text) || restAfter(text, part.text) !== undefined),
      ) ?? candidates.find((part) => matchesPart({ text, at: at ?? 0 }, part));
    remember(claimed, part_id, match);
    if (match !== undefined) replace(match, text);
    else if (at !== undefined && at > 0) {
      early.push({ kind, text, at });
      if (early.length > MAX_RECORDS) early.shift();
    }
  }

  /** Drops a part that was recorded before it was reported. */
  function dropIfRecorded(part: Kept) {
    if (part.part_id !== undefined || part.kind === "output" || !part.is_written) return;
    const isSame = (record: EarlyRecord) => record.kind === part.kind && mayRecord(part, record.at);
    const found =
      early.find((record) => isSame(record) && covers(record.text, part.text)) ??
      early.find((record) => isSame(record) && record.at >= part.at && matchesPart(record, part));
    if (found === undefined) return;
    early = early.filter((each) => each !== found);
    dropBefore(kept.indexOf(part));
    drop((each) => each === part);
  }

  const shown = (): LivePart[] =>
    kept.flatMap(({ id, kind, at, part_id, text, recorded }) =>
      text.length <= recorded
        ? []
        : [{ id, kind, at, ...(part_id !== undefined && { part_id }), text: text.slice(recorded) }],
    );

  function report(event: LiveEvent) {
    if (event.type === "turn_end") {
      for (const part of kept) part.is_complete = true;
      drop(({ kind }) => kind === "output");
      return;
    }
    const { id, at } = event;
    if (gone.has(id)) return;
    let part = kept.find((each) => each.id === id);
    if (event.type === "start") {
      if (part !== undefined) return;
      const { kind } = event;
      const part_id = event.kind === "output" ? undefined : event.part_id;
      part = { id, kind, at, text: "", recorded: 0, changed_at: at, is_complete: false, ...UNSENT };
      if (part_id !== undefined) part.part_id = part_id;
      kept.push(part);
      if (kept.length > MAX_PARTS) drop((_, index) => index === 0);
      return;
    }
    if (part === undefined) return;
    part.changed_at = at;
    if (event.type === "delta") append(part, event.text);
    else {
      part.is_complete = true;
      if (part.kind !== "output" && event.text !== undefined && event.text !== part.text) {
        const is_longer = event.text.startsWith(part.text);
        if (!is_longer) is_reset ||= part.sent > 0;
        const known = is_longer ? part.text.length : 0;
        if (!is_longer) Object.assign(part, { text: "", recorded: 0, ...UNSENT });
        append(part, event.text.slice(known));
      }
    }
    dropIfRecorded(part);
  }

  return {
    get parts() {
      return shown();
    },
    get isEmpty() {
      return kept.length === 0;
    },
    report,
    record(part) {
      switch (part.type) {
        case "text":
          if (part.open !== true) recordText(part.id, "text", part.text, part.at);
          return;
        case "thinking":
          if (part.open !== true) recordText(part.id, "thinking", part.thinking, part.at);
          return;
        case "tool_call": {
          const index = kept.findIndex(({ kind, id }) => kind === "output" && id === part.tool_call_id);
          if (index > 0) dropBefore(index);
          return;
        }
        case "tool_result":
          // A background call continues.
          if (part.background === true) return;
          drop(({ kind, id }) => kind === "output" && id === part.tool_call_id);
          remember(gone, part.tool_call_id);
          return;
        default:
          return;
      }
    },
    recordEnd(at) {
      drop((part) => at === 0 || part.at <= at);
    },
    sweep(now) {
      drop(
        ({ kind, is_complete, changed_at }) =>
          kind !== "output" && now - changed_at > (is_complete ? RECORD_MS : SILENCE_MS),
      );
    },
    take() {
      const entries = kept.flatMap((part) => {
        const { id, kind, at, part_id } = part;
        const offset = is_reset ? 0 : part.sent;
        // Slicing costs time linear in the text, so it is done only after a reset.
        const text = is_reset ? part.text.slice(part.recorded) : part.unsent;
        part.sent = offset + text.length;
        part.unsent = "";
        if (text === "") return [];
        return [{ id, kind, at, ...(part_id !== undefined && { part_id }), offset, text }];
      });
      const change = { ...(is_reset && { reset: true as const }), parts: entries };
      if (!is_reset && entries.length === 0) return undefined;
      is_reset = false;
      return change;
    },
  };
}

function append(part: Kept, text: string) {
  if (part.text.length >= MAX_LIVE_TEXT) return;
  const room = MAX_LIVE_TEXT - part.text.length;
  const added = text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  part.text += added;
  part.unsent += added;
  part.is_written ||= added.trim() !== "";
}

const UNSENT = { sent: 0, unsent: "", is_written: false };

/**
 * Whether a record whose text differs from the reported one belongs to a part. It belongs to the oldest complete part. An empty
 * record, such as that of an encrypted thought, also belongs to a part that began earlier.
 */
const matchesPart = (record: { text: string; at: number }, part: Kept): boolean =>
  part.is_complete || (record.text.trim() === "" && record.at >= part.at);

/** Whether a record contains all of a live text. Agents trim what they record. */
const covers = (record: string, live: string): boolean => record.trim().startsWith(live.trim());

/** The length of the record at the beginning of a live text; `undefined`: the text does not begin with the record. */
function restAfter(record: string, live: string): number | undefined {
  const text = record.trim();
  const start = live.length - live.trimStart().length;
  return text !== "" && live.startsWith(text, start) ? start + text.length : undefined;
}

function remember(ids: Set<string>, id: string): void;
function remember<Value>(ids: Map<string, Value>, id: string, value: Value): void;
function remember<Value>(ids: Set<string> | Map<string, Value | undefined>, id: string, value?: Value): void {
  if (ids instanceof Set) ids.add(id);
  else ids.set(id, value);
  const [oldest] = ids.keys();
  if (ids.size > MAX_IDS && oldest !== undefined) ids.delete(oldest);
}
