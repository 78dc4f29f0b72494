import { useState } from "react";
import { isHistoryVisit } from "../../app/router.ts";
import { loadReading, type Reading } from "../../app/scroll-position.ts";

/** The position at which a session is opened. */
interface Resume {
  /** What this tab stored on the previous visit. */
  readonly reading: Reading;
  readonly initial: NonNullable<Reading["place"]>;
  /** Set if the position of a previous visit to this address is restored. `marked`: the part that was highlighted then. */
  readonly resumed: { readonly marked: string | undefined } | undefined;
}

/** Restores the position of a previous visit to this address, unless a link points to a part. Stable. */
export function useResume(session_id: string, fragment: string): Resume {
  const [resume] = useState((): Resume => {
    const reading = loadReading(session_id);
    const { place } = reading;
    if (place !== undefined && (fragment === "" || (reading.fragment === fragment && isHistoryVisit())))
      return { reading, initial: place, resumed: { marked: reading.marked } };
    return { reading, initial: { end: true }, resumed: undefined };
  });
  return resume;
}
