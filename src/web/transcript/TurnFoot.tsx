import { memo, type ReactNode } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { tokensIn } from "../../model/tokens.ts";
import type { TranscriptPartOf, Turn } from "../../model/transcript.ts";
import { duration, shortNumber, shortTokens } from "../ui/size.tsx";
import { price } from "./price.ts";

/**
 * What a finished turn took, in one thin line below it: time, steps, tokens, cost, and why it ended. It stands in the space
 * between turns, so that it moves nothing.
 */
export const TurnFoot = memo(function TurnFoot({
  turn,
  last,
  hosted,
}: {
  turn: Turn;
  /** The end of its last step, where that is loaded. */
  last: TranscriptPartOf<"step_finish"> | undefined;
  /** This daemon ran it: a cost that nobody knows is said to be so. */
  hosted: boolean;
}): ReactNode {
  if (turn.status === "running") return null;
  const { usage, started_at, ended_at } = turn;
  const words = [
    started_at === undefined || ended_at === undefined || ended_at - started_at < 500
      ? undefined
      : duration(ended_at - started_at),
    turn.steps > 1 ? `${turn.steps} steps` : undefined,
    usage && `${shortTokens(tokensIn(usage))} in, ${shortNumber(usage.output)} out`,
    usage?.cost === undefined ? (hosted && usage !== undefined ? "no price" : undefined) : price(usage.cost),
    last?.reason === undefined ? undefined : stopWords(last.reason, last.reason_raw),
  ].filter((word) => word !== undefined);
  if (words.length === 0) return null;
  return (
    <p className="turn-foot" title={words.join(" · ")}>
      <span className="unseen">This turn took </span>
      {words.join(" · ")}
    </p>
  );
});

function stopWords(
  reason: NonNullable<TranscriptPartOf<"step_finish">["reason"]>,
  raw: string | undefined,
): string {
  switch (reason) {
    case "stop":
      return "end of turn";
    case "length":
      return "output limit reached";
    case "tool_use":
      return "ended after its tools";
    case "error":
      return raw === undefined
        ? "ended in an error"
        : `ended in an error (${visibleText(raw.slice(0, 60), "name")})`;
    case "aborted":
      return "stopped";
  }
  return reason satisfies never;
}
