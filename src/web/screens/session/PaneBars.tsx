import type { ReactNode, RefObject } from "react";
import type { OpenSession } from "../../app/open-session.ts";
import type { Outputs } from "../../transcript/host.ts";
import { FilterBar, Find } from "./pane-parts.tsx";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import type { SessionFilter } from "./use-filter.ts";
import type { PaneFind } from "./use-pane-find.ts";

interface Props {
  session: OpenSession;
  scroller: RefObject<ScrollerHandle | null>;
  finder: PaneFind;
  filter: SessionFilter;
  openedOutputs: Outputs["opened"];
  /** Scrolls to a part without moving the focus. Resolves with the part whose row shows it. */
  goTo(index: number): Promise<string | undefined>;
}

/** The find bar and the filter bar, if they are open. */
export function PaneBars({ session, scroller, finder, filter, openedOutputs, goTo }: Props): ReactNode {
  return (
    <>
      {finder.isOpen && (
        <Find
          key={finder.opening.count}
          start={finder.opening.start}
          session={session}
          scroller={scroller}
          input={finder.input}
          openedOutputs={openedOutputs}
          onHit={async (index) => {
            const row = await goTo(index);
            finder.onScrolledTo(row);
            return row;
          }}
          onText={finder.setText}
          onClose={finder.close}
        />
      )}
      {filter.isOpen && (
        <FilterBar
          filter={filter}
          onClose={() => {
            filter.close();
            scroller.current?.focus();
          }}
        />
      )}
    </>
  );
}
