import { useCallback, useState } from "react";
import { type Layout, TURN_GAP } from "../layout.ts";

/** Numbers of new rows and of new errors among them. */
interface Added {
  readonly rows: number;
  readonly errors: number;
}

/** What is below the viewport. The functions are stable. */
interface NewBelow {
  /** Rows and errors that were added since the end was last in view. */
  readonly below: Added;
  /** Whether the last row is below the viewport. */
  readonly isAway: boolean;
  count(added: Added): void;
  clear(): void;
  /** Call after scrolling. `bottom`: the lower edge of the viewport, in pixels from the top of the transcript. */
  onScroll(bottom: number): void;
}

/** Counts the rows that are added below the viewport. */
export function useNewBelow(layout: Layout): NewBelow {
  const [below, setBelow] = useState<Added>({ rows: 0, errors: 0 });
  const [isAway, setIsAway] = useState(false);
  const count = useCallback(
    (added: Added) =>
      setBelow((before) => ({ rows: before.rows + added.rows, errors: before.errors + added.errors })),
    [],
  );
  const clear = useCallback(
    () => setBelow((before) => (before.rows + before.errors === 0 ? before : { rows: 0, errors: 0 })),
    [],
  );
  const onScroll = useCallback(
    (bottom: number): void => {
      const isAtLast = bottom >= layout.height - TURN_GAP;
      setIsAway(!isAtLast);
      if (isAtLast) clear();
    },
    [layout, clear],
  );
  return { below, isAway, count, clear, onScroll };
}
