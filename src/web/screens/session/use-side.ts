import { type RefObject, useState } from "react";
import { useSetting } from "../../app/store.ts";
import { BREAKPOINTS } from "../../ui/breakpoints.ts";
import { useMatch } from "../../ui/use-match.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** The side panel with outline and runs: beside the transcript or, if there is no room, a sheet over it. */
export interface Side {
  /** Whether it is shown beside the transcript: the user wants it, and there is room. */
  readonly isBeside: boolean;
  /** Whether the user wants it if there is room. */
  readonly isWanted: boolean;
  /** Whether it is shown as a sheet over the transcript. */
  readonly isSheet: boolean;
  toggle(): void;
  closeSheet(): void;
}

export function useSide(
  { main, beside }: { main: boolean; beside: string | undefined },
  scroller: RefObject<ScrollerHandle | null>,
): Side {
  const [isWanted, setIsWanted] = useSetting("outline");
  const [isSheet, setIsSheet] = useState(false);
  const hasRoom = !useMatch(BREAKPOINTS.narrow) && beside === undefined && main;
  /** Moves the focus out of the panel before it is closed. */
  const moveFocusOut = (): void => {
    if (document.activeElement?.closest(".side")) scroller.current?.focus();
  };
  return {
    isBeside: isWanted && hasRoom,
    isWanted,
    isSheet,
    toggle() {
      moveFocusOut();
      if (hasRoom) setIsWanted(!isWanted);
      else setIsSheet(!isSheet);
    },
    closeSheet() {
      moveFocusOut();
      setIsSheet(false);
    },
  };
}
