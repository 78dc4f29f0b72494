import { useEffect, useState } from "react";

/** The current time, updated every `every` milliseconds. Without `every`, it keeps its last value. */
export function useNow(every: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
