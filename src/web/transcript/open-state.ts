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
  const { allToggles } = host;
  const [state, setState] = useState(() => ({ chosen: host.openState(part_id), byDefault, allToggles }));
  let { chosen } = state;
  if (state.allToggles !== allToggles || state.byDefault !== byDefault) {
    if (state.allToggles !== allToggles) chosen = host.openState(part_id);
    else if (byDefault) chosen = undefined;
    setState({ chosen, byDefault, allToggles });
  }
  return [
    chosen ?? byDefault,
    (open) => {
      setState({ chosen: open, byDefault, allToggles });
      host.setOpen(part_id, open);
    },
  ];
}
