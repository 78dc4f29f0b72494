import { type RefObject, useCallback, useState } from "react";
import { WIDE } from "../../ui/breakpoints.ts";
import { useMatch } from "../../ui/use-match.ts";
import type { Inspected } from "./inspect/inspected.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

interface PaneInspector {
  /** Absent: closed. */
  readonly inspected: Inspected | undefined;
  /** The inspector is a panel beside the transcript, not a dialog. */
  readonly isDocked: boolean;
  /** Opens the inspector, or changes what it shows. Stable. */
  inspect(what: Inspected): void;
  close(): void;
}

/** `hasRoom`: nothing else is shown beside the transcript. */
export function useInspector(hasRoom: boolean, scroller: RefObject<ScrollerHandle | null>): PaneInspector {
  const [inspected, setInspected] = useState<Inspected>();
  const inspect = useCallback((what: Inspected) => setInspected(what), []);
  const isDocked = useMatch(WIDE) && hasRoom;
  return {
    inspected,
    isDocked,
    inspect,
    close() {
      setInspected(undefined);
      if (isDocked) scroller.current?.focus();
    },
  };
}
