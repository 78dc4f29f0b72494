import { Fragment, type ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { isUuid } from "../../../model/is-uuid.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { tokensOf } from "../../../model/tokens.ts";
import { Markdown } from "../../markdown/Markdown.tsx";
import { shortTokens } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { titleText } from "../../text/title-text.ts";
import { duration } from "../../ui/duration.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { shortNumber } from "../../ui/size.ts";
import { activityOf } from "../activity.ts";
import type { TranscriptHost } from "../host.ts";
import { StateBadge } from "../StateBadge.tsx";
import { type CallView, type CardBodyProps, oneLine, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** The run of a sub-agent: its name, task and progress, with a link that opens the run. Never contains the run's text. */
export const runCard: ToolCard = {
  payloads: ["sub_agent"],
  kind: "run",
  summary: (view) => {
    const { name, task } = identity(view);
    return {
      label: toolLabel(view.call.tool_name, "run"),
      subject: (
        <>
          {task !== "" && <span className="run-name">{visible(oneLine(task), "prose")} </span>}
          {name !== undefined && (
            <span className={task === "" ? "run-name" : "run-kind"}>{visible(name, "name")}</span>
          )}
        </>
      ),
      title: name === undefined ? task : task === "" ? name : `${task} (${name})`,
    };
  },
  Body: RunBody,
  shows: (view) => ({ input: text(view.input, "prompt", "message") !== undefined }),
  Action: RunAction,
};

function extraOf({ extra }: CallView) {
  return extra?.type === "sub_agent" ? extra : undefined;
}

function identity(view: CallView): { name?: string; task: string } {
  const extra = extraOf(view);
  const name =
    view.call.run?.name ??
    extra?.name ??
    text(view.input, "subagent_type", "agent_type", "name", "to", "target", "task_id");
  const task =
    view.call.run?.task ??
    extra?.task ??
    text(view.input, "description", "summary", "prompt", "message", "input") ??
    "";
  return { ...(name === undefined ? {} : { name }), task };
}

function runId(view: CallView): string | undefined {
  const id = view.call.run?.session_id ?? extraOf(view)?.session_id;
  // A pushed session may contain any id. Only UUIDs can be sessions with a page.
  return isUuid(id) ? id : undefined;
}

/** Number of calls and tokens so far, from the run if it is known, otherwise from its result. */
function figures(view: CallView, run: SessionSummary | undefined): string[] {
  const extra = extraOf(view);
  const calls = run?.tool_calls ?? extra?.tool_calls;
  const tokens = tokensSoFar(view, run);
  return [
    calls === undefined ? undefined : t.count.calls(calls),
    tokens === undefined ? undefined : shortTokens(tokens),
  ].filter((word) => word !== undefined);
}

function tokensSoFar(view: CallView, run: SessionSummary | undefined): number | undefined {
  return run?.usage === undefined ? extraOf(view)?.tokens : tokensOf(run.usage);
}

const noRun = (): undefined => undefined;

function useRunOf(view: CallView, host: TranscriptHost): SessionSummary | undefined {
  // Whether a host has `useRun` never changes while it is mounted, so the order of hooks is stable.
  const useRun = host.useRun ?? noRun;
  return useRun(runId(view) ?? "");
}

/** The request that a run, or otherwise one of its descendants, waits for. */
function useWaitOf(run: SessionSummary | undefined, host: TranscriptHost) {
  const useWaitBelow = host.useWaitBelow ?? noRun;
  const below = useWaitBelow(run?.id ?? "");
  const own = run?.requests?.[0];
  if (run === undefined) return undefined;
  if (own !== undefined)
    return {
      title: titleText(own.title, own.title_code),
      href: `${host.runHref(run.id)}#part-${own.request_id}`,
      below: false,
    };
  if (run.waiting !== undefined)
    return { title: t.waiting.agent(run.waiting), href: host.runHref(run.id), below: false };
  return below && { ...below, below: true };
}

function RunAction({ view, host }: CardBodyProps): ReactNode {
  const run = useRunOf(view, host);
  const id = runId(view);
  const { name, task } = identity(view);
  const counts = figures(view, run);
  const activity = run && activityOf(run);
  const waits = useWaitOf(run, host);
  if (id === undefined && counts.length === 0) return null;
  return (
    <span className="run-action">
      {waits !== undefined && (
        <a className="needs-you" href={waits.href} title={visibleText(waits.title, "prose")}>
          {waits.below ? t.waiting.below : t.waiting.self}
        </a>
      )}{" "}
      {activity !== undefined && waits === undefined && (
        <span className="run-activity">{visible(oneLine(activity, 80), "name")}</span>
      )}{" "}
      {counts.length > 0 && (
        <span className="run-counts">
          {counts.map((count, index) => (
            <Fragment key={index}>
              {index > 0 && " "}
              <span>{index > 0 ? `· ${count}` : count}</span>
            </Fragment>
          ))}
        </span>
      )}{" "}
      {id !== undefined && (
        <a
          className="run-link"
          href={host.runHref(id)}
          aria-label={visibleText(
            t.cards
              .openRunOf(`${oneLine(task, 80)} ${name ?? ""}`)
              .replace(/\s+/g, " ")
              .trim(),
            "name",
          )}
        >
          {t.cards.openRun}
        </a>
      )}
    </span>
  );
}

function RunBody({ view, host }: CardBodyProps): ReactNode {
  const run = useRunOf(view, host);
  const { name, task } = identity(view);
  const extra = extraOf(view);
  const prompt = text(view.input, "prompt", "message");
  const tokens = tokensSoFar(view, run);
  const facts: [string, ReactNode][] = [];
  if (name !== undefined) facts.push([t.cards.facts.agent, visible(name, "name")]);
  if (task !== "") facts.push([t.cards.facts.task, visible(oneLine(task), "prose")]);
  if (run !== undefined) {
    facts.push([t.cards.facts.state, <StateBadge key="state" state={sessionState(run)} />]);
    const activity = activityOf(run);
    if (activity !== undefined) facts.push([t.cards.facts.now, visible(activity, "name")]);
    facts.push([
      t.cards.facts.steps,
      [
        String(run.steps),
        t.count.toolCalls(run.tool_calls),
        ...(run.errors > 0 ? [t.count.errors(run.errors)] : []),
      ].join(", "),
    ]);
    if (run.model !== undefined) facts.push([t.cards.facts.model, visible(run.model, "name")]);
  } else {
    if (extra?.status !== undefined) facts.push([t.cards.facts.state, visible(extra.status, "name")]);
    if (extra?.tool_calls !== undefined) facts.push([t.cards.facts.calls, extra.tool_calls]);
  }
  if (tokens !== undefined) facts.push([t.cards.facts.tokens, shortNumber(tokens)]);
  if (extra?.duration_ms !== undefined) facts.push([t.cards.facts.time, duration(extra.duration_ms)]);
  return (
    <>
      <dl className="card-facts card-facts-rows">
        {facts.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {prompt !== undefined && (
        <div className="card-section">
          <h4>{t.part.kinds.prompt}</h4>
          <Markdown text={prompt} idPrefix={`${view.call.id}-prompt-`} />
        </div>
      )}
    </>
  );
}
