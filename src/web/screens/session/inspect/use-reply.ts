import { useEffect, useState } from "react";
import type { ApiResult } from "../../../api/requests.ts";
import { failureText } from "../../../text/failure-text.ts";

export interface LoadedReply<T> {
  /** The last reply. Kept while the next one loads. */
  value?: T;
  isLoading: boolean;
  problem?: string;
}

/** Sends a request, and sends it again whenever `load` changes. */
export function useReply<T>(load: (signal: AbortSignal) => Promise<ApiResult<T>>): LoadedReply<T> {
  const [loaded, setLoaded] = useState<{ by: typeof load; value?: T; problem?: string }>();
  useEffect(() => {
    const ended = new AbortController();
    void load(ended.signal).then((reply) => {
      if (ended.signal.aborted) return;
      setLoaded({
        by: load,
        ...(reply.ok ? { value: reply.value } : { problem: failureText(reply.failure) }),
      });
    });
    return () => ended.abort();
  }, [load]);
  const { by, value, problem } = loaded ?? {};
  const isLoading = by !== load;
  return {
    ...(value !== undefined && { value }),
    isLoading,
    ...(!isLoading && problem !== undefined && { problem }),
  };
}
