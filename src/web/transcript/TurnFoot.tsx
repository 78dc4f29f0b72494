import { memo, type ReactNode } from "react";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { tokensIn } from "../../model/tokens.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../../model/transcript/transcript.ts";
import { exactNumber, shortTokens } from "../text/format.ts";
import { t } from "../text/text.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { duration } from "../ui/duration.ts";
import { shortNumber } from "../ui/size.ts";
import { turnText } from "./copying.ts";
import type { TranscriptHost, TurnTranscriptProps } from "./host.ts";
import { price } from "./price.ts";
import { quietCounts } from "./quiet-parts.ts";

/**
 * One line with the reason why a turn ended, and its time, steps, tokens and cost. It is in the gap between turns, so that
 * nothing moves when it appears.
 */
export const TurnFoot = memo(function TurnFoot({
  turn,
  ending,
  partAt,
  host,
}: {
  turn: Turn;
  /** Why the turn ended, if known. */
  ending: string | undefined;
  partAt: TurnTranscriptProps["partAt"];
  host: TranscriptHost;
}): ReactNode {
  if (turn.status === "running") return null;
  const { usage, started_at, ended_at } = turn;
  const figures = [
    started_at === undefined || ended_at === undefined || ended_at - started_at < 500
      ? undefined
      : duration(ended_at - started_at),
    turn.steps > 1 ? t.count.steps(turn.steps) : undefined,
    usage && t.turn.tokens(shortTokens(tokensIn(usage)), shortNumber(usage.output)),
    usage?.cost === undefined
      ? host.is_managed && usage !== undefined
        ? t.turn.costUnknown
        : undefined
      : price(usage.cost),
  ].filter((word) => word !== undefined);
  const summary = [...(ending === undefined ? [] : [ending]), ...figures].join(" · ");
  // On a phone, the badge in the heading is enough to tell how the turn ended.
  const shown =
    ending === undefined || figures.length === 0 ? (
      summary
    ) : (
      <span>
        <span className="turn-foot-more">{ending} ·</span> {figures.join(" · ")}
      </span>
    );
  const { thoughts, hooks } = host.everyRecord ? NONE_QUIET : quietCounts(turn, partAt);
  const folded = [
    ...(thoughts > 0 ? [t.turn.thoughts(thoughts)] : []),
    ...(hooks > 0 ? [t.turn.hooks(hooks)] : []),
  ].join(" · ");
  const foldedText = (
    <>
      <span className="turn-folded-long">{folded}</span>
      <span className="turn-folded-short" aria-hidden="true">
        +{exactNumber(thoughts + hooks)}
      </span>
    </>
  );
  return (
    <div className="turn-foot">
      {summary !== "" && (
        <p title={summary}>
          <span className="unseen">{t.turn.facts} </span>
          {host.showFigures === undefined ? (
            shown
          ) : (
            <button
              type="button"
              className="turn-digest"
              aria-haspopup="dialog"
              onClick={() => host.showFigures?.(turn.index + 1)}
            >
              {shown}
            </button>
          )}
        </p>
      )}
      {folded !== "" &&
        (host.showEveryRecord === undefined ? (
          <span className="turn-folded">{foldedText}</span>
        ) : (
          <button
            type="button"
            className="action turn-folded"
            title={t.turn.showEvery}
            onClick={host.showEveryRecord}
          >
            {foldedText}
          </button>
        ))}
      {host.showChanges !== undefined && changesFiles(turn, partAt) && (
        <button
          type="button"
          className="action"
          aria-label={t.turn.changesOf(turn.index + 1)}
          aria-haspopup="dialog"
          onClick={() => host.showChanges?.(turn.index + 1)}
        >
          {t.turn.changes}
        </button>
      )}
      <CopyButton
        text={() => turnText(turn, partAt, host)}
        label={
          <>
            {t.common.copy}
            <span className="turn-foot-more"> {t.turn.copyMore}</span>
          </>
        }
        name={t.turn.copy(turn.index + 1)}
      />
    </div>
  );
});

/** Whether a loaded call of the turn changed files. */
function changesFiles({ first_part, part_count }: Turn, partAt: TurnTranscriptProps["partAt"]): boolean {
  for (let index = first_part; index < first_part + part_count; index += 1) {
    const part = partAt(index);
    if (part?.type === "tool_result" && part.status === "success" && part.ui_extra?.type === "diff")
      return true;
  }
  return false;
}

const NONE_QUIET = { thoughts: 0, hooks: 0 };

/** Maximum number of trailing parts that are searched for the end of the last step, which markers and results may follow. */
const MAX_SEARCHED_PARTS = 100;

/** Kinds of parts that a model emits. After the end of a step, they show that a later step has begun but not ended. */
const STEP_PARTS: ReadonlySet<TranscriptPart["type"]> = new Set([
  "step_start",
  "thinking",
  "text",
  "tool_call",
  "image",
  "file",
  "legacy",
]);

/** Why a turn ended, from its status, the parts after its last step, and that step's reason; `undefined`: unknown. */
export function endingOf(turn: Turn, partAt: TurnTranscriptProps["partAt"]): string | undefined {
  const { status } = turn;
  if (status === "running") return undefined;
  if (status === "interrupted") return t.badge.stopped;
  if (turn.no_end === true) return t.turn.noEnd;
  let step: TranscriptPartOf<"step_finish"> | undefined;
  let isAfterTools = true;
  let isError = false;
  const end = turn.first_part + turn.part_count;
  for (let index = end - 1; index >= Math.max(turn.first_part, end - MAX_SEARCHED_PARTS); index -= 1) {
    const part = partAt(index);
    if (part?.type === "step_finish") step = part;
    if (part === undefined) return undefined;
    if (part.type === "step_finish" || STEP_PARTS.has(part.type)) break;
    if (part.type !== "tool_result") isAfterTools = false;
    if (part.type === "marker" && part.kind === "error") isError = true;
  }
  if (status === "failed" && step?.reason !== "error")
    return isError || step?.reason === "stop" ? stopWords("error", undefined) : t.turn.cutOff;
  if (step?.reason === undefined || (step.reason === "tool_use" && !isAfterTools)) return undefined;
  return stopWords(step.reason, step.reason_raw);
}

function stopWords(
  reason: NonNullable<TranscriptPartOf<"step_finish">["reason"]>,
  raw: string | undefined,
): string {
  switch (reason) {
    case "stop":
      return t.turn.ended;
    case "length":
      return t.turn.limit;
    case "tool_use":
      return t.turn.afterTools;
    case "error":
      return t.turn.failed(raw === undefined ? undefined : visibleText(cutShort(raw, 60), "name"));
    case "aborted":
      return t.badge.stopped;
  }
  return reason satisfies never;
}
