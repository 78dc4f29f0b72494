import { useContext, useEffect, useRef, useState } from "react";
import { reasonOf } from "./ErrorBoundary.tsx";
import { SearchText } from "./search-match.ts";

/** A text as it came here, perhaps cut on its way. */
export interface CutText {
  readonly text: string;
  /** Its true length where it was cut. */
  readonly truncated?: number;
  /** Absent where nobody has the whole. */
  readonly loadWhole?: () => Promise<string>;
}

/** A text as far as it is here by now. */
interface Whole {
  readonly text: string;
  /** Its true length while not all of it is here. */
  readonly cut: number | undefined;
  readonly isLoaded: boolean;
  /** Absent where nobody has more. */
  readonly load: (() => void) | undefined;
  readonly isLoading: boolean;
  /** Why it could not be loaded. */
  readonly failure: string | undefined;
}

/**
 * Loads the whole of a text that was cut, also where one looks for what is not in the part that is here. What was loaded
 * holds for this text alone, and is cut again when it has grown.
 */
export function useWhole({ text, truncated = 0, loadWhole }: CutText): Whole {
  const [answer, setAnswer] = useState<{ of: string; length: number; text: string }>();
  const [failed, setFailed] = useState<{ of: string; reason: string }>();
  const [isLoading, setLoading] = useState(false);
  const loaded = answer?.of === text && answer.length <= truncated ? answer : undefined;
  const cut = truncated > (loaded?.length ?? text.length) ? truncated : undefined;
  const load =
    loadWhole &&
    (() => {
      setLoading(true);
      setFailed(undefined);
      loadWhole()
        .then(
          (whole) => setAnswer({ of: text, length: truncated, text: whole }),
          (error: unknown) => setFailed({ of: text, reason: reasonOf(error) }),
        )
        .finally(() => setLoading(false));
    });
  const isMatch = useContext(SearchText);
  const loadedFor = useRef<typeof isMatch>(undefined);
  useEffect(() => {
    // Once for each text that is looked for: what grows would be loaded again and again.
    if (isMatch === undefined || isMatch === loadedFor.current) return;
    if (cut === undefined || isLoading || isMatch(text)) return;
    loadedFor.current = isMatch;
    load?.();
  });
  return {
    text: loaded?.text ?? text,
    cut,
    isLoaded: loaded !== undefined,
    load,
    isLoading,
    failure: failed?.of === text ? failed.reason : undefined,
  };
}
