import type { ReactNode } from "react";
import { t } from "../text/text.ts";
import type { TranscriptHost } from "./host.ts";

/** Button that shows the input of the model call that created a part. */
export function ContextButton({ part_id, host }: { part_id: string; host: TranscriptHost }): ReactNode {
  if (host.showContext === undefined) return null;
  return (
    <button
      type="button"
      className="action"
      aria-haspopup="dialog"
      onClick={() => host.showContext?.(part_id)}
    >
      {t.part.contextOf}
    </button>
  );
}
