import { useContext, useEffect, useRef, useState } from "react";
import { reasonOf } from "./ErrorBoundary.tsx";
import { SearchText } from "./search-match.ts";

/** A text that may be truncated. */
export interface TruncatedText {
  readonly text: string;
  /** The full length, if the text is truncated. */
  readonly truncated?: number;
  /** Loads the whole text. Absent: it is not available. */
  readonly loadWhole?: () => Promise<string>;
}

/** A text as far as it is loaded. */
interface LoadedText {
  readonly text: string;
  /** The full length, as long as the text is truncated. */
  readonly fullLength: number | undefined;
  readonly isLoaded: boolean;
  /** Loads the whole text. `undefined`: it is not available. */
  readonly load: (() => void) | undefined;
  readonly isLoading: boolean;
  /** Why the whole text could not be loaded. */
  readonly failure: string | undefined;
}

/**
 * Loads the whole of a truncated text on demand, or when the truncated text does not match the current search. The loaded text is
 * dropped when the text grows.
 */
export function useWhole({ text, truncated = 0, loadWhole }: TruncatedText): LoadedText {
  const [answer, setAnswer] = useState<{ of: string; length: number; text: string }>();
  const [failed, setFailed] = useState<{ of: string; reason: string }>();
  const [isLoading, setLoading] = useState(false);
  const loaded = answer?.of === text && answer.length <= truncated ? answer : undefined;
  const fullLength = truncated > (loaded?.length ?? text.length) ? truncated : undefined;
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
    // Load once per search text. Otherwise a growing text would be loaded again and again.
    if (isMatch === undefined || isMatch === loadedFor.current) return;
    if (fullLength === undefined || isLoading || isMatch(text)) return;
    loadedFor.current = isMatch;
    load?.();
  });
  return {
    text: loaded?.text ?? text,
    fullLength,
    isLoaded: loaded !== undefined,
    load,
    isLoading,
    failure: failed?.of === text ? failed.reason : undefined,
  };
}
