import { useEffect, useState } from "react";
import type { MapMarks } from "../../../model/parts/map-marks.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";

/** Delay between the growth of a session and the next request of its marks, in milliseconds. */
const GROWN_MS = 1_000;

/**
 * The marks of the whole session, loaded or not; `undefined` while they are not asked for (`isWanted`) or not there. Where they cannot
 * be loaded there is no map; the next change of the session asks again.
 */
export function useMap(session: OpenSession, isWanted: boolean): MapMarks | undefined {
  const api = apiOf(useClient());
  const [marks, setMarks] = useState<MapMarks>();
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let length = 0;
    const ask = async (): Promise<void> => {
      length = session.state.getState().transcript?.parts.length ?? 0;
      const reply = await api.map(session.id, abort.signal);
      timer = undefined;
      if (reply.ok && !abort.signal.aborted) setMarks(reply.value);
    };
    void ask();
    const end = session.state.subscribe(({ transcript }) => {
      if (timer !== undefined || (transcript?.parts.length ?? 0) === length) return;
      timer = setTimeout(() => void ask(), GROWN_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, session, isWanted]);
  return marks;
}
