import { useCallback, useState } from "react";
import { createStore, type StoreApi } from "zustand/vanilla";
import { turnOfPart } from "../../../model/transcript/positions.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { PartsInView } from "./OutlineMap.tsx";
import type { Place } from "./scroller/scroll-view.ts";

/** What part of a session is in view. Changes of the stores do not re-render the pane. */
interface Places {
  /** The turn in view, by its index. */
  readonly current: number;
  setCurrent(turn: number): void;
  /** The time of the part at the top of the viewport, in milliseconds since 1970. */
  readonly readAt: StoreApi<{ readonly at: number | undefined }>;
  readonly inView: StoreApi<PartsInView>;
  /** Called by the scroller with the first and the last part in view. Stable. */
  onView(from: number, to: number): void;
  /** Called by the scroller with the new anchor and its turn. */
  onPlace(place: Place, turn: number): void;
}

/** Tracks what part of a session is in view. `savePlace` and `setMessage` must be stable. */
export function usePlaces(
  session: OpenSession,
  initial: Place,
  { savePlace, setMessage }: { savePlace(place: Place): void; setMessage(message: string): void },
): Places {
  const [current, setCurrent] = useState(() => {
    const { transcript } = session.state.getState();
    if (transcript === undefined) return 0;
    return Math.max(
      0,
      turnOfPart(transcript.turns, initial.end ? transcript.parts.length - 1 : initial.index),
    );
  });
  const [readAt] = useState(() =>
    createStore<{ readonly at: number | undefined }>(() => ({ at: undefined })),
  );
  const [inView] = useState(() => createStore<PartsInView>(() => ({ from: -1, to: -1 })));
  const onView = useCallback(
    (from: number, to: number) => {
      const before = inView.getState();
      if (before.from !== from || before.to !== to) inView.setState({ from, to });
      const at = session.partAt(from)?.at;
      if (readAt.getState().at !== at) readAt.setState({ at });
    },
    [inView, readAt, session],
  );
  const onPlace = useCallback(
    (place: Place, turn: number) => {
      savePlace(place);
      // Clear messages: they are about the previous position.
      setMessage("");
      setCurrent(Math.max(0, turn));
    },
    [savePlace, setMessage],
  );
  return { current, setCurrent, readAt, inView, onView, onPlace };
}
