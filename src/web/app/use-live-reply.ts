import { useEffect, useRef, useState } from "react";
import type { ApiResult } from "../api/requests.ts";
import { failureText } from "../text/failure-text.ts";

export interface LiveReply<T> {
  /** The value of the last successful reply. */
  value?: T;
  /** Why the last request failed. An earlier value is kept. */
  problem?: string;
}

/**
 * Sends a request, and repeats it when `version` changes, but not earlier than `interval` milliseconds after the previous reply. A
 * different `load` discards the value.
 */
export function useLiveReply<T>(
  load: (signal: AbortSignal) => Promise<ApiResult<T>>,
  version: number,
  interval: number,
): LiveReply<T> {
  const [loaded, setLoaded] = useState<{ by?: typeof load; reply: LiveReply<T> }>({ reply: {} });
  const refetch = useRef<() => void>(undefined);
  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isBusy = false;
    let isStale = false;
    // A new version does not abort a request in flight: if the data changes faster than it can be loaded, none would finish.
    const request = async (): Promise<void> => {
      isBusy = true;
      isStale = false;
      const reply = await load(ended.signal);
      if (ended.signal.aborted) return;
      setLoaded((before) => ({
        by: load,
        reply: reply.ok
          ? { value: reply.value }
          : { ...(before.by === load && before.reply), problem: failureText(reply.failure) },
      }));
      timer = setTimeout(() => {
        isBusy = false;
        if (isStale) void request();
      }, interval);
    };
    refetch.current = () => {
      if (isBusy) isStale = true;
      else void request();
    };
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [load, interval]);
  useEffect(() => refetch.current?.(), [load, interval, version]);
  return loaded.by === load ? loaded.reply : {};
}
