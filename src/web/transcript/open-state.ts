import { useState } from "react";
import type { TranscriptHost } from "./host.ts";

/**
 * Whether a part is open: as the user left it, otherwise `byDefault`. The screen remembers the user's choice. If `byDefault`
 * becomes `true` later (for example because the user follows a link to the part), it overrides the choice.
 */
export function useOpenState(
  host: TranscriptHost,
  part_id: string,
  byDefault: boolean,
): [boolean, (open: boolean) => void] {
  const { openedAtOnce } = host;
  const [state, setState] = useState(() => ({ chosen: host.openState(part_id), byDefault, openedAtOnce }));
  let { chosen } = state;
  if (state.openedAtOnce !== openedAtOnce || state.byDefault !== byDefault) {
    if (state.openedAtOnce !== openedAtOnce) chosen = host.openState(part_id);
    else if (byDefault) chosen = undefined;
    setState({ chosen, byDefault, openedAtOnce });
  }
  return [
    chosen ?? byDefault,
    (open) => {
      setState({ chosen: open, byDefault, openedAtOnce });
      host.setOpen(part_id, open);
    },
  ];
}
