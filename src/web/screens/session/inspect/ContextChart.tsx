import type { ReactNode } from "react";
import type { StepFigures } from "../../../../model/figures/steps.ts";
import { tokensIn } from "../../../../model/tokens.ts";
import { exactNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";

/** Maximum number of bars. With more steps, several share a bar, which shows their maximum. */
const MAX_BARS = 240;
const HEIGHT = 100;

interface Bar {
  tokens: number;
  step: StepFigures;
  compacted: boolean;
}

/**
 * Tokens in the context of each model call, in order. A bar links to its step; a line marks a compaction.
 * The table of steps has the same figures for the keyboard and for screen readers.
 */
export function ContextChart({
  steps,
  href,
  onLeave,
}: {
  steps: readonly StepFigures[];
  href(part_id: string): string;
  onLeave(): void;
}): ReactNode {
  const bars = barsOf(steps);
  if (bars.length < 2) return null;
  const highest = Math.max(...bars.map(({ tokens }) => tokens));
  return (
    <figure>
      <figcaption>{t.figures.contextChart(exactNumber(highest))}</figcaption>
      <svg
        className="figure-chart"
        viewBox={`0 0 ${bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map(({ tokens, step, compacted }, at) => {
          const height = (HEIGHT * tokens) / highest;
          const words = t.figures.contextAt(step.turn + 1, step.step, exactNumber(tokens));
          return (
            <g key={step.part_id}>
              <a href={href(step.part_id)} tabIndex={-1} onClick={onLeave}>
                <title>{words}</title>
                <rect x={at + 0.1} y={HEIGHT - height} width={0.8} height={height} />
              </a>
              {compacted && <line className="figure-compaction" x1={at} x2={at} y1={0} y2={HEIGHT} />}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

function barsOf(steps: readonly StepFigures[]): Bar[] {
  const counted = steps.flatMap((step) => (step.usage ? [{ step, tokens: tokensIn(step.usage) }] : []));
  const width = Math.max(1, Math.ceil(counted.length / MAX_BARS));
  const bars: Bar[] = [];
  for (const [at, { step, tokens }] of counted.entries()) {
    const last = bars.at(-1);
    const compacted = step.compacted === true;
    if (at % width === 0 || last === undefined) bars.push({ tokens, step, compacted });
    else {
      last.compacted ||= compacted;
      if (tokens > last.tokens) Object.assign(last, { tokens, step });
    }
  }
  return bars.every(({ tokens }) => tokens === 0) ? [] : bars;
}
