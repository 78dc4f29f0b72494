import { type RefObject, useState } from "react";
import { useSetting } from "../../app/store.ts";
import { BREAKPOINTS } from "../../ui/breakpoints.ts";
import { useMatch } from "../../ui/use-match.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** The outline and the runs of a session: beside its transcript or, without room, in a sheet over it. */
export interface Side {
  /** The reader wants it, and there is room beside the transcript. */
  readonly isBeside: boolean;
  /** The reader wants it wherever there is room. */
  readonly isWanted: boolean;
  /** It is a sheet over the transcript. */
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
  /** Moves the focus out of a side that closes. */
  const leave = (): void => {
    if (document.activeElement?.closest(".side")) scroller.current?.focus();
  };
  return {
    isBeside: isWanted && hasRoom,
    isWanted,
    isSheet,
    toggle() {
      leave();
      if (hasRoom) setIsWanted(!isWanted);
      else setIsSheet(!isSheet);
    },
    closeSheet() {
      leave();
      setIsSheet(false);
    },
  };
}
