import { useEffect, useState } from "react";
import type { TranscriptHost } from "./host.ts";

/** Whether a part is open: as the reader left it, else as `byDefault` says now. The screen remembers every choice. */
export function useOpenState(
  host: TranscriptHost,
  part_id: string,
  byDefault: boolean,
): [boolean, (open: boolean) => void] {
  const [chosen, setChosen] = useState(() => host.openState(part_id));
  return [
    chosen ?? byDefault,
    (open) => {
      setChosen(open);
      host.setOpen(part_id, open);
    },
  ];
}

/** The time now, once a second while `running`; the time of the last render otherwise. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
