import { useState } from "react";
import { reasonOf } from "./ErrorBoundary.tsx";

/** A text as it came here, perhaps cut on its way. */
export interface CutText {
  readonly text: string;
  /** Its true length where it was cut. */
  readonly truncated?: number;
  /** Absent where nobody has the whole. */
  readonly loadWhole?: () => Promise<string>;
}

/** A text as far as it is here by now. */
export interface Whole {
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

/** Loads the whole of a text that was cut. What was loaded holds for this text alone, and is cut again when it has grown. */
export function useWhole({ text, truncated = 0, loadWhole }: CutText): Whole {
  const [answer, setAnswer] = useState<{ of: string; length: number; text: string }>();
  const [failed, setFailed] = useState<{ of: string; reason: string }>();
  const [isLoading, setLoading] = useState(false);
  const loaded = answer?.of === text && answer.length <= truncated ? answer : undefined;
  return {
    text: loaded?.text ?? text,
    cut: truncated > (loaded?.length ?? text.length) ? truncated : undefined,
    isLoaded: loaded !== undefined,
    load:
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
      }),
    isLoading,
    failure: failed?.of === text ? failed.reason : undefined,
  };
}
