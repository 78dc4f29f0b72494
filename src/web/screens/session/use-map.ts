import { useCallback, useState } from "react";
import type { MapMarks } from "../../../model/parts/map-marks.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";
import { useReloadOnGrowth } from "./use-reload-on-growth.ts";

/** Delay between the growth of a session and the next request for its marks, in milliseconds. */
const GROWN_MS = 1_000;

/**
 * The marks of longer sessions are not requested: the daemon would read gigabytes, which takes minutes and more memory than showing
 * the session does. Views that a person opens are loaded at any length.
 */
const MAX_PARTS = 400_000;

const partsOf = (transcript: Transcript | undefined): number => transcript?.parts.length ?? 0;

/**
 * The marks of the whole session, including parts that are not loaded. `undefined`: they have not been loaded yet, or the
 * session is too long. Requested only while `isWanted`. A failed request is repeated when the session grows.
 */
export function useMap(session: OpenSession, isWanted: boolean): MapMarks | undefined {
  const api = apiOf(useClient());
  const [marks, setMarks] = useState<MapMarks>();
  const load = useCallback(
    async (signal: AbortSignal): Promise<number> => {
      if (partsOf(session.state.getState().transcript) > MAX_PARTS) return GROWN_MS;
      const reply = await api.map(session.id, signal);
      if (reply.ok && !signal.aborted) setMarks(reply.value);
      return GROWN_MS;
    },
    [api, session],
  );
  useReloadOnGrowth(session, { isWanted, first: 0, sizeOf: partsOf, load });
  return marks;
}
