/** Where a reader is in a session and what they opened: kept in this tab, so that a reload changes nothing on screen. */
export interface Reading {
  /** `end`: follows the end. Otherwise the row at the top of the view and how far it is scrolled, in pixels. */
  place?: { end: true } | { end: false; index: number; offset: number };
  /** The address's fragment when the place was taken: a link followed later goes before it. */
  fragment: string;
  /** The part that is marked: a link, a failure or what waits was gone to. */
  marked?: string | undefined;
  /** What was opened (true) or closed (false) by hand, by part id. */
  opened: ReadonlyMap<string, boolean>;
}

/** The place that `keepWhenLeaving` kept in the history. */
export function placeFrom(state: unknown): Reading["place"] {
  if (typeof state !== "object" || state === null || !("place" in state)) return undefined;
  const { place } = state;
  if (typeof place !== "object" || place === null || !("end" in place)) return undefined;
  if (place.end === true) return { end: true };
  if (!("index" in place && "offset" in place)) return undefined;
  const { index, offset } = place;
  return typeof index === "number" && typeof offset === "number" ? { end: false, index, offset } : undefined;
}

const KEPT = 2_000;
const key = (session_id: string): string => `verbatim.reading.${session_id}`;

/** What `saveReading` kept in this tab; empty where it kept nothing, or storage is blocked. */
export function loadReading(session_id: string): Reading {
  const nothing: Reading = { fragment: "", opened: new Map() };
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key(session_id)) ?? "null");
    if (typeof stored !== "object" || stored === null) return nothing;
    // Written by `saveReading` alone; whatever else stands there fails below or is harmless.
    const { place, fragment, marked, opened } = stored as {
      place?: Reading["place"];
      fragment?: string;
      marked?: string;
      opened?: [string, boolean][];
    };
    return {
      ...(place === undefined ? {} : { place }),
      fragment: fragment ?? "",
      marked,
      opened: new Map(opened),
    };
  } catch {
    return nothing;
  }
}

/** Keeps it in this tab, with the last 2,000 choices of what is open; nothing where storage is full or blocked. */
export function saveReading(session_id: string, { opened, ...reading }: Reading): void {
  try {
    sessionStorage.setItem(key(session_id), JSON.stringify({ ...reading, opened: [...opened].slice(-KEPT) }));
  } catch {
    // Storage is full or blocked: the place holds until the page is closed.
  }
}
