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
  const refetch = useRef<() => void>(undefined);
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isBusy = false;
    let isStale = false;
    // A request under way is not aborted by growth: while a session grows faster than it is read, none would end.
    const request = async (): Promise<void> => {
      isBusy = true;
      isStale = false;
      const reply = await api.lanes(session_id, ended.signal);
      if (ended.signal.aborted) return;
      setLoaded((before) =>
        reply.ok ? { reply: reply.value } : { ...before, problem: failureText(reply.failure) },
      );
      timer = setTimeout(() => {
        isBusy = false;
        if (isStale) void request();
      }, AGAIN_MS);
    };
    refetch.current = () => {
      if (isBusy) isStale = true;
      else void request();
    };
    setLoaded({});
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [api, session_id]);
  useEffect(() => refetch.current?.(), [api, session_id, parts]);
  return loaded;
}
