import { type ReactNode, useState } from "react";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { duration } from "../ui/duration.ts";
import type { TranscriptHost } from "./host.ts";
import { RawView } from "./on-demand-views.ts";
import { PartView } from "./PartView.tsx";

export interface QuietRow {
  /** The button in the row's gutter. */
  mark: ReactNode;
  /** The folded parts while they are open, above the row's content. */
  opened: ReactNode;
}

/** The parts folded into a row. A mark in the gutter (`◦`) expands them in place, each with its raw record. */
export function useQuietParts(
  parts: readonly TranscriptPart[],
  host: TranscriptHost,
  isTarget: boolean,
): QuietRow {
  const [chosen, setOpen] = useState<boolean>();
  if (parts.length === 0) return { mark: null, opened: null };
  const open = chosen ?? isTarget;
  const thoughts = parts.filter(({ type }) => type === "thinking");
  const hooks = parts.length - thoughts.length;
  const name = [
    ...(thoughts.length > 0 ? [thoughtName(thoughts)] : []),
    ...(hooks > 0 ? [t.turn.hooks(hooks)] : []),
  ].join(", ");
  return {
    mark: (
      <button
        type="button"
        className="quiet-mark"
        aria-expanded={open}
        aria-label={name}
        title={name}
        onClick={() => setOpen(!open)}
      >
        ◦
      </button>
    ),
    opened: open && (
      <div className="quiet-parts">
        {parts.map((part) => (
          <div key={part.id} id={`part-${part.id}`} tabIndex={-1} className="quiet-part">
            <PartView part={part} result={undefined} host={host} isTarget={isTarget} />
            <RawView part={part} host={host} />
          </div>
        ))}
      </div>
    ),
  };
}

/** "Thought 4 s, encrypted" */
function thoughtName(thoughts: readonly TranscriptPart[]): string {
  const spent = thoughts.reduce(
    (sum, part) =>
      part.type === "thinking" && part.at !== undefined && part.ended_at !== undefined
        ? sum + part.ended_at - part.at
        : sum,
    0,
  );
  const [first] = thoughts;
  const why = first?.type === "thinking" && first.hidden !== undefined ? t.part.hidden[first.hidden] : "";
  const count = thoughts.length > 1 ? t.part.thoughts(thoughts.length) : t.part.thought;
  return [spent >= 50 ? `${count} ${duration(spent)}` : count, why].filter((word) => word !== "").join(", ");
}
