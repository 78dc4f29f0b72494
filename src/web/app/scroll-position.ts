/** The reading position in a session and which parts are expanded. Stored per tab, so that a reload restores it. */
export interface Reading {
  /** `end`: the view follows the end. Otherwise: the row at the top of the viewport, and how far it is scrolled, in pixels. */
  place?: { end: true } | { end: false; index: number; offset: number };
  /** The address's fragment when the position was saved. If a link has changed it since, the link takes precedence. */
  fragment: string;
  /** The highlighted part: the target of the last link or key. */
  marked?: string | undefined;
  /** Parts that the user expanded (true) or collapsed (false), by part id. */
  opened: ReadonlyMap<string, boolean>;
}

/** The scroll position that `saveStateOnLeave` saved in `history.state`. */
export function placeFrom(state: unknown): Reading["place"] {
  if (typeof state !== "object" || state === null || !("place" in state)) return undefined;
  const { place } = state;
  if (typeof place !== "object" || place === null || !("end" in place)) return undefined;
  if (place.end === true) return { end: true };
  if (!("index" in place && "offset" in place)) return undefined;
  const { index, offset } = place;
  return typeof index === "number" && typeof offset === "number" ? { end: false, index, offset } : undefined;
}

const MAX_OPENED = 2_000;
const key = (session_id: string): string => `verbatim.reading.${session_id}`;

/** Loads what `saveReading` stored in this tab. Empty if nothing was stored or storage is blocked. */
export function loadReading(session_id: string): Reading {
  const nothing: Reading = { fragment: "", opened: new Map() };
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key(session_id)) ?? "null");
    if (typeof stored !== "object" || stored === null) return nothing;
    // Only `saveReading` writes this key; any other value throws below or is harmless.
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

/**
 * Stores the position in this tab, with the last `MAX_OPENED` expanded or collapsed parts. Does nothing if storage is full or blocked.
 */
export function saveReading(session_id: string, { opened, ...reading }: Reading): void {
  try {
    sessionStorage.setItem(
      key(session_id),
      JSON.stringify({ ...reading, opened: [...opened].slice(-MAX_OPENED) }),
    );
  } catch {
    // Storage is full or blocked: the position is lost when the page is closed.
  }
}
