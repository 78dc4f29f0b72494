import type { ReactNode, RefObject } from "react";
import type { StoreApi } from "zustand/vanilla";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { t } from "../../text/text.ts";
import { Outline } from "./Outline.tsx";
import type { PartsInView } from "./OutlineMap.tsx";
import { OutlineMap } from "./pane-parts.tsx";
import { RunsPanel } from "./runs/RunsPanel.tsx";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import { useMap } from "./use-map.ts";
import type { Side } from "./use-side.ts";
import type { LoadedOutline } from "./use-turn-outline.ts";
import "./side.css";

/** The side panel: the outline of a session with its map, and its runs. */
export function PaneSide({
  session,
  transcript,
  row,
  current,
  beside,
  side,
  outline,
  inView,
  scroller,
  onGo,
  onFigures,
}: {
  session: OpenSession;
  transcript: Transcript;
  row: SessionSummary;
  /** The turn in view. */
  current: number;
  /** The run shown beside the session. */
  beside: string | undefined;
  side: Side;
  /** The outline of the turn in view. */
  outline: LoadedOutline | undefined;
  inView: StoreApi<PartsInView>;
  scroller: RefObject<ScrollerHandle | null>;
  onGo(turn: number): void;
  /** Opens the figures of a turn (from 1). */
  onFigures(turn: number): void;
}): ReactNode {
  const marks = useMap(session, side.isBeside);
  return (
    <aside
      className={`side${side.isWanted ? "" : " side-hidden"}${side.isSheet ? " side-sheet" : ""}`}
      aria-label={t.session.outline}
    >
      <div className="outline-beside-map">
        <Outline
          transcript={transcript}
          current={current}
          isWaiting={isWaiting(row)}
          outline={outline}
          inView={inView}
          onGo={onGo}
          onFigures={onFigures}
          onGoToPart={(index) => {
            side.closeSheet();
            scroller.current?.toPart(index);
          }}
        />
        {side.isBeside && marks !== undefined && (
          <OutlineMap marks={marks} inView={inView} onGo={(index) => scroller.current?.toPart(index)} />
        )}
      </div>
      <RunsPanel session_id={session.id} beside={beside} />
    </aside>
  );
}
