import { useState } from "react";
import type { TranscriptHost } from "./host.ts";

/**
 * Whether a part is open: as the reader left it, else as `byDefault` says now. The screen remembers every choice. A reason
 * to open that comes after the choice (a link to the part is followed) goes before it.
 */
export function useOpenState(
  host: TranscriptHost,
  part_id: string,
  byDefault: boolean,
): [boolean, (open: boolean) => void] {
  const [state, setState] = useState(() => ({ chosen: host.openState(part_id), byDefault }));
  let { chosen } = state;
  if (state.byDefault !== byDefault) {
    if (byDefault) chosen = undefined;
    setState({ chosen, byDefault });
  }
  return [
    chosen ?? byDefault,
    (open) => {
      setState({ chosen: open, byDefault });
      host.setOpen(part_id, open);
    },
  ];
}
