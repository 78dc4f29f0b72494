/** Where a reader is in a session and what they opened: kept in this tab, so that a reload changes nothing on screen. */
export interface Reading {
  /** `end`: follows the end. Otherwise the row at the top of the view and how far it is scrolled, in pixels. */
  place?: { end: true } | { end: false; index: number; offset: number };
  /** The address's fragment when the place was taken: a link followed later goes before it. */
  fragment: string;
  /** What was opened (true) or closed (false) by hand, by part id. */
  opened: ReadonlyMap<string, boolean>;
}

const KEPT = 2_000;
const key = (session_id: string): string => `verbatim.reading.${session_id}`;

export function loadReading(session_id: string): Reading {
  const nothing: Reading = { fragment: "", opened: new Map() };
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key(session_id)) ?? "null");
    if (typeof stored !== "object" || stored === null) return nothing;
    // Written by `saveReading` alone; whatever else stands there fails below or is harmless.
    const { place, fragment, opened } = stored as {
      place?: Reading["place"];
      fragment?: string;
      opened?: [string, boolean][];
    };
    return {
      ...(place === undefined ? {} : { place }),
      fragment: fragment ?? "",
      opened: new Map(opened),
    };
  } catch {
    return nothing;
  }
}

export function saveReading(session_id: string, { place, fragment, opened }: Reading): void {
  try {
    sessionStorage.setItem(
      key(session_id),
      JSON.stringify({ place, fragment, opened: [...opened].slice(-KEPT) }),
    );
  } catch {
    // Storage is full or blocked: the place holds until the page is closed.
  }
}
