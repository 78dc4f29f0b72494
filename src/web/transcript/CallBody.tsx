import type { AbortedState } from "../../model/transcript/tool-state.ts";
import { titleText } from "../text/title-text.ts";
import "../text/session-text.ts";
import type { ReactNode } from "react";
import { failureIndex } from "../../model/parts/failure-line.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { Output, type OutputProps } from "../code/Output.tsx";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { JsonBlock } from "./JsonBlock.tsx";
import { KeptOutput } from "./KeptOutput.tsx";
import { MediaView } from "./MediaView.tsx";
import type { CallView, ToolCard } from "./tool-cards/card.ts";
import { WholeArguments } from "./WholeArguments.tsx";

type Result = TranscriptPartOf<"tool_result">;

/** The body of an expanded call: its card, then the complete input and output. */
export function CallBody({
  view,
  card: { Body, shows },
  host,
}: {
  view: CallView;
  card: ToolCard;
  host: TranscriptHost;
}): ReactNode {
  return (
    <div className="tool-body">
      {Body && <Body view={view} host={host} />}
      <Whole view={view} host={host} shown={shows?.(view) ?? {}} />
    </div>
  );
}

/** The body of an expanded result without a call. */
export function ResultBody({ result, host }: { result: Result; host: TranscriptHost }): ReactNode {
  return (
    <div className="tool-body">
      <KeptOutput result={result} seen={outputOf(result, host)} host={host} />
      {result.parts.map((media, index) => (
        <MediaView key={index} media={media} host={host} />
      ))}
      {result.ui_extra !== undefined && (
        <JsonBlock text={JSON.stringify(result.ui_extra)} title={t.call.details} />
      )}
    </div>
  );
}

/** The input and output that the card's body does not show, and the media of the result. */
function Whole({
  view,
  host,
  shown,
}: {
  view: CallView;
  host: TranscriptHost;
  shown: { input?: boolean; output?: boolean };
}): ReactNode {
  const { call, result, output } = view;
  const cutInput = call.truncated?.arguments_json;
  const hasInput = call.arguments_json !== "" && call.arguments_json !== "{}";
  const error = call.state.status === "error" && output === "" ? call.state.error : undefined;
  const reason = call.state.status === "aborted" ? abortReason(call.state) : undefined;
  return (
    <>
      {hasInput &&
        (shown.input && cutInput === undefined ? (
          <details className="card-section">
            <summary>{t.call.rawInput}</summary>
            <WholeArguments call={call} host={host} />
          </details>
        ) : (
          <div className="card-section">
            <h4>{t.call.input}</h4>
            <WholeArguments call={call} host={host} />
          </div>
        ))}
      {!shown.output && output !== "" && (
        <div className="card-section">
          <h4>{result === undefined ? t.call.outputSoFar : t.call.output}</h4>
          {result === undefined ? (
            <Output {...fieldText(call, "progress", host)} text={output} label={t.call.output} />
          ) : (
            <KeptOutput result={result} seen={outputOf(result, host)} host={host} />
          )}
        </div>
      )}
      {error !== undefined && (
        <div className="card-section">
          <h4>{t.call.error}</h4>
          <Output text={error} label={t.call.error} failureIn={failureIndex} />
        </div>
      )}
      {result !== undefined && output === "" && result.parts.length === 0 && error === undefined && (
        <p className="note">{t.call.noOutput}</p>
      )}
      {reason !== undefined && <p className="note">{visible(reason, "prose")}</p>}
      {result?.permission !== undefined && (
        <p className="note">{visible(t.call.permission(result.permission), "prose")}</p>
      )}
      {result?.parts.map((media, index) => (
        <MediaView key={index} media={media} host={host} />
      ))}
      {result === undefined &&
        call.state.status === "completed" &&
        call.state.attachments?.map((media, index) => <MediaView key={index} media={media} host={host} />)}
    </>
  );
}

/** The text of a result, as far as it is loaded. */
function outputOf(result: Result, host: TranscriptHost): OutputProps {
  const { output_end } = result;
  return {
    ...fieldText(result, "output_text", host),
    label: t.call.output,
    ...(result.is_error && { failureIn: failureIndex }),
    ...(output_end === undefined ? {} : { end: output_end }),
  };
}

function abortReason(state: AbortedState): string | undefined {
  const { reason, reason_code } = state.reason === undefined ? (state.outcome ?? {}) : state;
  return reason === undefined ? undefined : titleText(reason, reason_code);
}
