import { type ReactNode, useCallback } from "react";
import type { TimeFigures, ToolFigures } from "../../../../model/figures/figures.ts";
import type { StepFigures } from "../../../../model/figures/steps.ts";
import type { Usage } from "../../../../model/messages/message.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import { tokensIn, tokensOf } from "../../../../model/tokens.ts";
import type { FiguresReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { useClient } from "../../../app/store.ts";
import { exactNumber, shortNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { price } from "../../../transcript/price.ts";
import { toolLabel } from "../../../transcript/tool-cards/tool-label.ts";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { duration } from "../../../ui/duration.ts";
import { FigureTable } from "../../../ui/FigureTable.tsx";
import { visible } from "../../../ui/hidden-text.tsx";
import { useRuns } from "../runs/RunsPanel.tsx";
import { ContextChart } from "./ContextChart.tsx";
import { CostFacts } from "./CostFacts.tsx";
import { TurnReplyView } from "./ReplyView.tsx";
import { stepsAsCsv } from "./steps-csv.ts";

interface Props {
  row: SessionSummary;
  turn: number | undefined;
  onTurn(turn: number | undefined): void;
  onClose(): void;
}

/** Time, tokens and cost of a turn or a session, by step, tool, model and run. */
export function FiguresView({ row, turn, onTurn, onClose }: Props): ReactNode {
  const api = apiOf(useClient());
  const load = useCallback((signal: AbortSignal) => api.figures(row.id, turn, signal), [api, row.id, turn]);
  return (
    <TurnReplyView load={load} turn={turn} onTurn={onTurn}>
      {(figures) => <Figures row={row} figures={figures} isWhole={turn === undefined} onClose={onClose} />}
    </TurnReplyView>
  );
}

function Figures({
  row,
  figures,
  isWhole,
  onClose,
}: {
  row: SessionSummary;
  figures: FiguresReply;
  isWhole: boolean;
  onClose(): void;
}): ReactNode {
  const { time, usage, steps, tools, models } = figures;
  const stepHref = (part_id: string): string => sessionHref(row.id, `part-${part_id}`);
  if (steps.length === 0 && time.turns === 0) return <p>{t.figures.none}</p>;
  return (
    <>
      <div className="figure-grid">
        <TimeSection time={time} />
        {usage !== undefined && (
          <TokensSection usage={usage} figures={figures} row={isWhole ? row : undefined} />
        )}
      </div>
      <ContextChart steps={steps} href={stepHref} onLeave={onClose} />
      <div className="figure-grid">
        <FigureTable
          caption={t.figures.tools}
          heads={[t.figures.tool, t.figures.calls, t.figures.failed, t.figures.time]}
          rows={byLabel(tools).map(({ label, names, calls, failed, time: spent }) => ({
            key: label,
            cells: [
              <span key="tool" title={names.join(", ")}>
                {visible(label, "name")}
              </span>,
              exactNumber(calls),
              failed === 0 ? "" : exactNumber(failed),
              spent === undefined ? "" : duration(spent),
            ],
          }))}
        />
        {models.length > 1 && (
          <FigureTable
            caption={t.figures.models}
            heads={[t.figures.model, t.figures.steps, t.figures.in, t.figures.out]}
            rows={models.map(({ model, steps: count, usage: used }) => ({
              key: model,
              cells: [
                visible(model, "name"),
                exactNumber(count),
                shortNumber(tokensIn(used)),
                shortNumber(used.output),
              ],
            }))}
          />
        )}
      </div>
      {isWhole && <RunsTable session_id={row.id} priced={figures.runs?.priced ?? []} onClose={onClose} />}
      <StepsTable steps={steps} count={figures.step_count} href={stepHref} onClose={onClose} />
    </>
  );
}

const TIME_KINDS = ["model", "tools", "person", "other"] as const;

interface LabelFigures extends Omit<ToolFigures, "name"> {
  label: string;
  names: readonly string[];
}

/** The figures of tools, added up under the labels that the transcript shows. */
function byLabel(tools: readonly ToolFigures[]): LabelFigures[] {
  const labels = new Map<string, LabelFigures>();
  for (const { name, calls, failed, time } of tools) {
    const label = toolLabel(name);
    const sum = labels.get(label);
    const spent = sum?.time === undefined ? time : sum.time + (time ?? 0);
    labels.set(label, {
      label,
      names: [...(sum?.names ?? []), name],
      calls: (sum?.calls ?? 0) + calls,
      failed: (sum?.failed ?? 0) + failed,
      ...(spent === undefined ? {} : { time: spent }),
    });
  }
  return [...labels.values()].sort((one, other) => other.calls - one.calls);
}

function TimeSection({ time }: { time: TimeFigures }): ReactNode {
  if (time.turns === 0) return null;
  return (
    <section>
      <h3>
        {t.figures.time} {duration(time.turns)}
      </h3>
      <div className="figure-bar" aria-hidden="true">
        {TIME_KINDS.map((kind) => (
          <span
            key={kind}
            className={`figure-${kind}`}
            style={{ width: `${(100 * time[kind]) / time.turns}%` }}
          />
        ))}
      </div>
      <ul className="fact-list">
        {TIME_KINDS.map((kind) => (
          <li key={kind} title={t.figures.timeMeaning[kind]}>
            <span className={`figure-key figure-${kind}`} aria-hidden="true" />
            {t.figures.timeKinds[kind]} {duration(time[kind])}
          </li>
        ))}
      </ul>
    </section>
  );
}

function TokensSection({
  usage,
  figures,
  row,
}: {
  usage: Usage;
  figures: FiguresReply;
  row: SessionSummary | undefined;
}): ReactNode {
  const { input, cache_read, cache_write, cache_write_1h, output, reasoning } = usage;
  return (
    <section>
      <h3>
        {t.figures.tokens} {shortNumber(tokensOf(usage))}
      </h3>
      <ul className="fact-list">
        <li>{t.figures.newTokens(exactNumber(input))}</li>
        {cache_read !== undefined && <li>{t.figures.cacheRead(exactNumber(cache_read))}</li>}
        {cache_write !== undefined && (
          <li>
            {t.figures.cacheWrite(exactNumber(cache_write))}
            {cache_write_1h !== undefined && cache_write_1h > 0 && (
              <> {t.figures.keptAnHour(exactNumber(cache_write_1h))}</>
            )}
          </li>
        )}
        <li>
          {t.figures.output(exactNumber(output))}
          {reasoning !== undefined && reasoning > 0 && <> {t.figures.reasoning(exactNumber(reasoning))}</>}
        </li>
        <CostFacts figures={figures} row={row} />
      </ul>
    </section>
  );
}

/** Figures of sub-agents. Their sessions are not part of the session's own figures. */
function RunsTable({
  session_id,
  priced,
  onClose,
}: {
  session_id: string;
  priced: NonNullable<FiguresReply["runs"]>["priced"];
  onClose(): void;
}): ReactNode {
  const runs = useRuns(session_id);
  const costs = new Map(priced.map((run) => [run.session_id, run.cost]));
  if (runs.length === 0) return null;
  return (
    <FigureTable
      caption={t.figures.runs(runs.length)}
      heads={[
        ...[t.figures.run, t.figures.time, t.figures.steps, t.figures.calls, t.figures.in, t.figures.out],
        t.figures.costs,
      ]}
      rows={runs.map((run) => ({
        key: run.id,
        cells: [
          <a key="name" href={sessionHref(run.id)} onClick={onClose}>
            {visible(sessionTitle(run), "name")}
          </a>,
          run.started_at === undefined ? "" : duration(run.last_activity_at - run.started_at),
          exactNumber(run.steps),
          exactNumber(run.tool_calls),
          run.usage === undefined ? "" : shortNumber(tokensIn(run.usage)),
          run.usage === undefined ? "" : shortNumber(run.usage.output),
          costText(costs.get(run.id)?.total),
        ],
      }))}
    />
  );
}

const costText = (cost: number | undefined): string => (cost === undefined ? "" : price(cost));

function StepsTable({
  steps,
  count,
  href,
  onClose,
}: {
  steps: readonly StepFigures[];
  /** Of all steps, also of those without figures of their own. */
  count: number;
  href(part_id: string): string;
  onClose(): void;
}): ReactNode {
  const { turn, step, time, calls, cached, newIn, out, costs } = t.figures;
  return (
    <details className="figure-steps">
      <summary>
        {t.figures.stepsOf(count)}{" "}
        <CopyButton text={() => stepsAsCsv(steps)} label={t.figures.csv} name={t.figures.csv} />
      </summary>
      {steps.length < count && <p>{t.figures.stepsShown(exactNumber(steps.length))}</p>}
      <FigureTable
        caption={t.figures.bySteps}
        heads={[turn, step, time, calls, cached, newIn, out, costs]}
        rows={steps.map((each) => ({
          key: each.part_id,
          cells: [
            exactNumber(each.turn + 1),
            <a key="step" href={href(each.part_id)} onClick={onClose}>
              {exactNumber(each.step)}
            </a>,
            each.started_at === undefined || each.ended_at === undefined
              ? ""
              : duration(each.ended_at - each.started_at),
            exactNumber(each.calls),
            each.usage?.cache_read === undefined ? "" : exactNumber(each.usage.cache_read),
            each.usage === undefined ? "" : exactNumber(each.usage.input + (each.usage.cache_write ?? 0)),
            each.usage === undefined ? "" : exactNumber(each.usage.output),
            costText(each.usage?.cost ?? each.list_cost),
          ],
        }))}
      />
    </details>
  );
}
