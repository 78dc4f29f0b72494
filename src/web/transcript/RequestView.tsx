import type { ReactNode } from "react";
import type { Answer, Request, RequestOption } from "../../model/request.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { textWithLines } from "../text/title-text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { onDemand } from "../ui/on-demand.tsx";
import { Disclosure } from "./Disclosure.tsx";
import { namesTool, optionLabel, titleOfRequest } from "./describe-part.ts";
import type { RequestResult, TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { useAnswer } from "./use-answer.ts";

const ExactText = onDemand(async () => (await import("../ui/ExactText.tsx")).ExactText);
const ApprovalForm = onDemand(async () => (await import("./ApprovalForm.tsx")).ApprovalForm);
const QuestionForm = onDemand(async () => (await import("./QuestionForm.tsx")).QuestionForm);

/** A request to the user: a form while it is open, afterwards one line that expands to what was asked. */
export function RequestView({
  part,
  host,
}: {
  part: TranscriptPartOf<"request">;
  host: TranscriptHost;
}): ReactNode {
  const answering = useAnswer(part, host);
  const { request } = part;
  if (answering.result !== undefined)
    return <ClosedRequest part={part} result={answering.result} host={host} />;
  return request.kind === "approval" ? (
    <ApprovalForm part={part} answering={answering} />
  ) : (
    <QuestionForm part={part} answering={answering} />
  );
}

function ClosedRequest({
  part,
  result,
  host,
}: {
  part: TranscriptPartOf<"request">;
  result: RequestResult;
  host: TranscriptHost;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, `${part.id}:asked`, false);
  const { request } = part;
  const chosen = new Set(result.answer?.option_ids);
  return (
    <Disclosure
      open={open}
      onOpen={setOpen}
      className="marker request-settled"
      summary={
        <span className="marker-line">
          <span className="marker-title">
            <span className="request-outcome">{outcomeText(request, result)}</span>
            {" · "}
            {namesTool(request) && <>{visible(request.tool_name ?? "", "name")}: </>}
            {visible(titleOfRequest(request), "prose")}
          </span>
          {part.closed_at !== undefined && (
            <span className="request-closed">{` · ${host.formatTime(part.closed_at)}`}</span>
          )}
        </span>
      }
    >
      {request.subject !== undefined && (
        <ExactText
          text={
            request.kind === "approval"
              ? request.subject
              : textWithLines(request.subject, request.subject_code)
          }
          label={t.request.askedFor}
        />
      )}
      {request.kind === "question" && request.options.length > 0 && (
        <ul className="card-list">
          {request.options.map((option) => (
            <li key={option.id} {...(chosen.has(option.id) ? { className: "chosen" } : {})}>
              {visible(optionLabel(option), "prose")}
              {chosen.has(option.id) && <span className="subject-more"> {t.request.chosen}</span>}
            </li>
          ))}
        </ul>
      )}
      {result.answer?.text !== undefined && result.answer.text !== "" && (
        <p className="request-said">{visible(result.answer.text, "prose")}</p>
      )}
    </Disclosure>
  );
}

/** The outcome of a request, in words. */
function outcomeText(request: Request, { outcome, answer }: RequestResult): ReactNode {
  switch (outcome) {
    case "answered":
      return answeredText(request, answer);
    case "expired":
      return request.kind === "approval" ? t.request.deniedTimeOut : t.request.timedOut;
    case "cancelled":
      return t.request.cancelled;
  }
  return outcome satisfies never;
}

/** The effect of a chosen approval option: from its label if that is one of ours, otherwise with the label in parentheses. */
function chosenText(option: RequestOption): string {
  const label = option.label_code === undefined ? option.label : optionLabel(option);
  switch (option.kind) {
    case "allow_once":
    case "allow_always":
      return t.request.outcome(true, label);
    case "reject_once":
    case "reject_always":
      // Older daemons wrote "Do not allow".
      return t.request.outcome(false, label.replace(/^Do not allow\b/, "Deny"));
    case undefined:
      return optionLabel(option);
  }
  return option.kind satisfies never;
}

function answeredText(request: Request, answer: Answer | undefined): ReactNode {
  const chosen = request.options.filter(({ id }) => answer?.option_ids.includes(id));
  const words = chosen.map(chosenText);
  if (answer?.text !== undefined && answer.text.trim() !== "") words.push(`“${answer.text.trim()}”`);
  const all = words.join(", ");
  if (all === "") return t.request.answered;
  return request.kind === "approval" ? (
    visible(all, "prose")
  ) : (
    <>
      {t.request.answeredWith} {visible(all, "prose")}
    </>
  );
}
