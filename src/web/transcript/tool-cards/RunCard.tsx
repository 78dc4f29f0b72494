import type { ReactNode } from "react";
import type { SessionSummary } from "../../../model/session.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { Markdown } from "../../ui/Markdown.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { duration, shortNumber } from "../../ui/size.tsx";
import type { TranscriptHost } from "../host.ts";
import { type CallView, type CardBodyProps, named, oneLine, plural, type ToolCard, text } from "./card.ts";

/** A sub-agent's run: who, on what, how far; it opens the run, whose text never comes in here. */
export const runCard: ToolCard = {
  payloads: ["sub_agent"],
  matches: named(
    "task",
    "agent",
    "spawn_agent",
    "send_input",
    "wait_agent",
    "close_agent",
    "dispatch_agent",
    "sendmessage",
    "taskoutput",
    "workflow",
  ),
  summary: (view) => {
    const { name, task } = identity(view);
    return {
      label: view.call.tool_name,
      subject: (
        <>
          {name !== undefined && <span className="run-name">{visible(name, "name")} </span>}
          {visible(oneLine(task), "prose")}
        </>
      ),
      title: name === undefined ? task : `${name}: ${task}`,
      figures: figures(view),
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
  return view.call.run?.session_id ?? extraOf(view)?.session_id;
}

function figures(view: CallView): string | undefined {
  const extra = extraOf(view);
  if (!extra) return undefined;
  const parts: string[] = [];
  if (extra.tool_calls !== undefined) parts.push(plural(extra.tool_calls, "call"));
  if (extra.tokens !== undefined) parts.push(`${shortNumber(extra.tokens)} tokens`);
  return parts.length > 0 ? parts.join(" · ") : undefined;
}

const noRun = (): undefined => undefined;

function useRunOf(view: CallView, host: TranscriptHost): SessionSummary | undefined {
  // Whether a screen knows runs never changes while it is mounted, so the order of hooks holds.
  const useRun = host.useRun ?? noRun;
  return useRun(runId(view) ?? "");
}

function RunAction({ view, host }: CardBodyProps): ReactNode {
  const run = useRunOf(view, host);
  const id = runId(view);
  if (id === undefined) return null;
  const { name, task } = identity(view);
  return (
    <span className="run-action">
      {run?.status === "running" && run.activity !== undefined && (
        <span className="run-activity">{visible(oneLine(run.activity, 80), "name")}</span>
      )}
      {run !== undefined && <span className="run-counts">{plural(run.tool_calls, "call")}</span>}
      <a
        className="run-link"
        href={host.runHref(id)}
        aria-label={`Open run ${name ?? ""} ${oneLine(task, 80)}`.replace(/\s+/g, " ")}
      >
        open run
      </a>
    </span>
  );
}

function RunBody({ view, host }: CardBodyProps): ReactNode {
  const run = useRunOf(view, host);
  const { name, task } = identity(view);
  const extra = extraOf(view);
  const prompt = text(view.input, "prompt", "message");
  const tokens = run?.usage === undefined ? extra?.tokens : run.usage.input + run.usage.output;
  const facts: [string, ReactNode][] = [];
  if (name !== undefined) facts.push(["agent", visible(name, "name")]);
  if (task !== "") facts.push(["task", visible(oneLine(task), "prose")]);
  if (run !== undefined) {
    facts.push([
      "state",
      <StatusBadge
        key="state"
        status={run.status === "running" ? "running" : run.status === "failed" ? "failed" : "ok"}
      />,
    ]);
    if (run.activity !== undefined) facts.push(["now", visible(run.activity, "name")]);
    facts.push([
      "steps",
      `${run.steps}, ${plural(run.tool_calls, "tool call")}${run.errors > 0 ? `, ${plural(run.errors, "error")}` : ""}`,
    ]);
    if (run.model !== undefined) facts.push(["model", visible(run.model, "name")]);
  } else {
    if (extra?.status !== undefined) facts.push(["state", visible(extra.status, "name")]);
    if (extra?.tool_calls !== undefined) facts.push(["tool calls", extra.tool_calls]);
  }
  if (tokens !== undefined) facts.push(["tokens", shortNumber(tokens)]);
  if (extra?.duration_ms !== undefined) facts.push(["time", duration(extra.duration_ms)]);
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
          <h4>prompt</h4>
          <Markdown text={prompt} idPrefix={`${view.call.id}-prompt-`} />
        </div>
      )}
    </>
  );
}
