import { type ReactNode, useMemo } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { failureLineOf } from "../../model/parts/failure-line.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { duration } from "../ui/duration.ts";
import { visible } from "../ui/hidden-text.tsx";
import { onDemand } from "../ui/on-demand.tsx";
import { type BadgeStatus, StatusBadge } from "../ui/StatusBadge.tsx";
import { useNow } from "../ui/use-now.ts";
import { Disclosure } from "./Disclosure.tsx";
import type { TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { type CallView, createView, oneLine, type ToolCard } from "./tool-cards/card.ts";
import { cardFor } from "./tool-cards/index.ts";

/** The content of an expanded call. Loaded on demand, because most calls are collapsed when a session is opened. */
const CallBody = onDemand(async () => (await import("./CallBody.tsx")).CallBody);
const ResultBody = onDemand(async () => (await import("./CallBody.tsx")).ResultBody);

type Call = TranscriptPartOf<"tool_call">;
type Result = TranscriptPartOf<"tool_result">;

interface ReadCall {
  view: CallView;
  card: ToolCard;
  summary: ReturnType<ToolCard["summary"]>;
}

/** Caches the parsed view of each call, which both the row's accessible name and its line need. */
const lastRead = new WeakMap<Call, ReadCall>();

function readCall(call: Call, result: Result | undefined, cwd: string | undefined): ReadCall {
  const last = lastRead.get(call);
  if (last !== undefined && last.view.result === result && last.view.cwd === cwd) return last;
  const view = createView(call, result, cwd);
  const card = cardFor(view);
  const read = { view, card, summary: card.summary(view) };
  lastRead.set(call, read);
  return read;
}

/** A call with its result: one aligned line while collapsed, all input and output while expanded. */
export function ToolCallView({
  call,
  result,
  host,
  isTarget,
}: {
  call: Call;
  result: Result | undefined;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, call.id, isTarget);
  const { view, card, summary } = readCall(call, result, host.cwd);
  const { badge, word, outcome } = statusOf(call, result, waitOf(call, host));
  const failure = useMemo(
    () => (badge === "failed" ? failureLineOf(call, result) : undefined),
    [badge, call, result],
  );
  const { Action } = card;
  const body = <CallBody view={view} card={card} host={host} />;
  return (
    <div className={Action ? "tool tool-with-action" : "tool"}>
      <Disclosure
        open={open}
        onOpen={setOpen}
        className={`tool-card tool-${badge}`}
        summary={
          <span className="line">
            {/* Spaces between the cells for copied text, because Firefox inserts none. */}
            <CallBadge badge={badge} outcome={outcome} />{" "}
            <span className="line-label">{visible(summary.label, "name")}</span>{" "}
            <span
              className={failure === undefined ? "line-subject" : "line-subject line-subject-failed"}
              title={visibleText(oneLine(summary.title, 600), "name")}
            >
              {failure === undefined ? (
                summary.subject
              ) : (
                <>
                  <span className="line-what">{summary.subject}</span>{" "}
                  <span className="line-failure">{visible(failure, "prose")}</span>
                </>
              )}
            </span>{" "}
            <span className="line-figures">
              {summary.figures}
              {word !== undefined && <span className="line-word"> {word}</span>}
            </span>{" "}
            {!Action && badge !== "open" && badge !== "waiting" && <Elapsed call={call} view={view} />}
          </span>
        }
      >
        {!Action && body}
      </Disclosure>
      {Action && <Action view={view} host={host} />} {Action && <Elapsed call={call} view={view} />}
      {/* Rendered after the link on the call's line, so that reading order, tab order and visual order agree. */}
      {Action && open && body}
    </div>
  );
}

/** The name of a call for screen readers: tool and subject, and its state unless it is completed. */
export function nameOfCall(
  call: Call,
  result: Result | undefined,
  host: TranscriptHost,
): { subject: string; state: string | undefined } {
  const { label, title } = readCall(call, result, host.cwd).summary;
  const { badge, word } = statusOf(call, result, waitOf(call, host));
  const about = oneLine(title, 120);
  return {
    subject: visibleText(about === "" ? label : `${label}: ${about}`, "name"),
    state: word ?? (badge === "ok" ? undefined : t.call.states[badge]),
  };
}

/** `open`: the call's end is not recorded, and it is unknown whether it is running. `waiting`: for the user. */
type CallBadgeStatus = BadgeStatus | CallOutcome["kind"] | "open" | "waiting";

/** A refused or stopped call did not fail, so it has a word instead of a badge. */
function CallBadge({
  badge,
  outcome,
}: {
  badge: CallBadgeStatus;
  outcome: CallOutcome | undefined;
}): ReactNode {
  switch (badge) {
    case "refused":
    case "stopped":
    case "unknown":
      return <span className="stopped">{t.call.badge(outcome ?? { kind: badge })}</span>;
    case "open":
    case "waiting":
      return <span className="waiting-badge">{t.call.states[badge]}</span>;
    default:
      return <StatusBadge status={badge} />;
  }
}

/** Whether an open call waits for the user. `may-wait`: the session waits and its agent does not say for which call. */
type CallWait = "waits" | "may-wait";

function waitOf(
  { tool_call_id }: Call,
  { waiting, waitingCalls, is_managed }: TranscriptHost,
): CallWait | undefined {
  if (waitingCalls?.has(tool_call_id)) return "waits";
  return waiting === true && is_managed !== true ? "may-wait" : undefined;
}

/** The badge of a call, and a word beside it if the badge alone would be misleading. */
function statusOf(
  call: Call,
  result: Result | undefined,
  wait: CallWait | undefined,
): { badge: CallBadgeStatus; word?: string; outcome?: CallOutcome } {
  const { state } = call;
  switch (state.status) {
    case "pending":
      return { badge: "running", word: t.waiting.badge };
    case "running":
      if (wait === "waits") return { badge: "waiting" };
      return wait === "may-wait" ? { badge: "open", word: t.call.mayWait } : { badge: "running" };
    case "completed":
      return { badge: result?.is_error ? "failed" : "ok" };
    case "error":
      return { badge: "failed" };
    case "aborted": {
      const { outcome } = state;
      if (outcome !== undefined) {
        // Otherwise the badge alone is enough.
        const saysMore = outcome.by !== undefined || outcome.kind === "unknown";
        return { badge: outcome.kind, ...(saysMore && { word: t.call.outcome(outcome) }), outcome };
      }
      const resultText = `${state.reason ?? ""} ${result?.output_text.slice(0, 400) ?? ""}`;
      return { badge: isRefusal(resultText) ? "refused" : "stopped" };
    }
    default:
      return state satisfies never;
  }
}

/**
 * Whether the user refused the call. Claude Code writes the same text for a refused call and for one that was stopped while it
 * was running. Only if the text contains the user's instructions is it certain that the call was refused.
 */
function isRefusal(text: string): boolean {
  if (/doesn't want to proceed/i.test(text)) return /the user said/i.test(text);
  return /den(?:y|ied)|reject|permission|not allowed/i.test(text);
}

function Elapsed({ call, view }: { call: Call; view: CallView }): ReactNode {
  const { state } = call;
  const running = state.status === "running";
  const now = useNow(running ? 1_000 : undefined);
  let spent =
    view.extra?.type === "shell" || view.extra?.type === "sub_agent" ? view.extra.duration_ms : undefined;
  if (state.status !== "pending" && state.time.start > 0)
    spent ??= (state.status === "running" ? now : state.time.end) - state.time.start;
  return (
    <span className="line-time">
      {spent !== undefined && (running || spent >= 50) ? duration(spent) : ""}
    </span>
  );
}

/** A result without a call, in its own row. */
export function OrphanResult({
  part,
  host,
  isTarget,
}: {
  part: Result;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, part.id, isTarget);
  const first =
    part.output_text
      .slice(0, 2_000)
      .split("\n")
      .find((line) => /\S/.test(line)) ?? "";
  const badge =
    part.status === "success" ? "ok" : part.status === "error" ? "failed" : (part.outcome?.kind ?? "stopped");
  return (
    <Disclosure
      open={open}
      onOpen={setOpen}
      className={`tool-card tool-${badge}`}
      summary={
        <span className="line">
          <CallBadge badge={badge} outcome={part.outcome} />{" "}
          <span className="line-label">{visible(part.tool_name ?? t.call.result, "name")}</span>{" "}
          <span className="line-subject">{visible(oneLine(first), "code")}</span>{" "}
          <span className="line-figures">{t.call.noCall}</span>
          <span className="line-time" />
        </span>
      }
    >
      <ResultBody result={part} host={host} />
    </Disclosure>
  );
}
