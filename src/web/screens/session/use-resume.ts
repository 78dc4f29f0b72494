import { useState } from "react";
import { cameBack } from "../../app/router.ts";
import { loadReading, type Reading } from "../../app/scroll-position.ts";

/** Where a session is opened. */
interface Resume {
  /** What this tab stored of the former visit. */
  readonly reading: Reading;
  readonly initial: NonNullable<Reading["place"]>;
  /** The row that was marked, where the position of a former visit to this address is restored; absent: it is not. */
  readonly resumed: { readonly marked: string | undefined } | undefined;
}

/** Restores the position of a former visit to this address. A link that names a part navigates to it. Stays the same. */
export function useResume(session_id: string, fragment: string): Resume {
  const [resume] = useState((): Resume => {
    const reading = loadReading(session_id);
    const { place } = reading;
    if (place !== undefined && (fragment === "" || (reading.fragment === fragment && cameBack())))
      return { reading, initial: place, resumed: { marked: reading.marked } };
    return { reading, initial: { end: true }, resumed: undefined };
  });
  return resume;
}
