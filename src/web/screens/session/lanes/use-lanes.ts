import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { LanesReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { useClient } from "../../../app/store.ts";
import { ancestorsOf } from "../../../app/waiting.ts";
import { failureText } from "../../../text/failure-text.ts";

/** Between two requests while the session grows, in milliseconds. */
const AGAIN_MS = 1_000;

interface LoadedLanes {
  reply?: LanesReply;
  problem?: string;
}

/** The lanes of a session, asked for again while it or one of its runs grows. */
export function useLanes(session_id: string): LoadedLanes {
  const client = useClient();
  const api = apiOf(client);
  const [loaded, setLoaded] = useState<LoadedLanes>({});
  const asked_at = useRef(0);
  // Rises with every part of the session and its runs.
  const parts = useStore(client.rows, ({ byId }) => {
    let sum = 0;
    for (const row of byId.values())
      if (row.id === session_id || (row.parent !== undefined && ancestorsOf(byId, row).includes(session_id)))
        sum += row.parts + 1;
    return sum;
  });
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(
      async () => {
        asked_at.current = Date.now();
        const reply = await api.lanes(session_id, ended.signal);
        if (ended.signal.aborted) return;
        setLoaded(reply.ok ? { reply: reply.value } : { problem: failureText(reply.failure) });
      },
      Math.max(0, asked_at.current + AGAIN_MS - Date.now()),
    );
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [api, session_id, parts]);
  return loaded;
}
