import { useEffect, useState } from "react";

/** The time, again every `every` milliseconds: for ages that are on screen. Without `every` it is that of the last change. */
export function useNow(every: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
