import { type ReactNode, useMemo } from "react";
import { splitDirectives } from "../../model/parts/directives.ts";
import { growthOf } from "../../model/transcript/growth.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { Markdown } from "../markdown/Markdown.tsx";
import { t } from "../text/text.ts";
import { DirectiveRow } from "./DirectiveRow.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { LegacyMessage } from "./LegacyMessage.tsx";
import { MarkerView } from "./MarkerView.tsx";
import { MediaView } from "./on-demand-views.ts";
import { PromptContent } from "./PromptView.tsx";
import { RequestView } from "./RequestView.tsx";
import { StepView } from "./StepView.tsx";
import { ThinkingView } from "./ThinkingView.tsx";
import { OrphanResult, ToolCallView } from "./ToolCallView.tsx";
import { UnknownView } from "./UnknownView.tsx";
import { WholeText } from "./WholeText.tsx";

interface PartViewProps {
  part: TranscriptPart;
  result: TranscriptPartOf<"tool_result"> | undefined;
  host: TranscriptHost;
  isTarget: boolean;
}

/** The text of an answer. Once it is complete, directives to the agent's host program get their own rows. */
function Answer({
  text,
  part,
  host,
}: {
  text: string;
  part: TranscriptPartOf<"text">;
  host: TranscriptHost;
}): ReactNode {
  const isOpen = part.open === true;
  const pieces = useMemo(() => (isOpen ? undefined : splitDirectives(text)), [isOpen, text]);
  if (pieces === undefined || (pieces.length === 1 && pieces[0]?.type === "text")) {
    return <Markdown text={text} open={isOpen} growth={growthOf(part)} idPrefix={`${part.id}-`} />;
  }
  return pieces.map((piece, index) =>
    piece.type === "text" ? (
      <Markdown key={index} text={piece.text} idPrefix={`${part.id}-${index}-`} />
    ) : (
      <DirectiveRow key={index} {...piece} id={`${part.id}:${index}`} host={host} />
    ),
  );
}

/** The view of a part of any kind, live or past. A part that is still growing is `open`. */
export function PartView({ part, result, host, isTarget }: PartViewProps): ReactNode {
  switch (part.type) {
    case "thinking":
      return <ThinkingView part={part} host={host} isTarget={isTarget} />;
    case "text":
      return (
        <WholeText {...fieldText(part, "text", host)}>
          {(text) => <Answer text={text} part={part} host={host} />}
        </WholeText>
      );
    case "tool_call":
      return <ToolCallView call={part} result={result} host={host} isTarget={isTarget} />;
    case "tool_result":
      return <OrphanResult part={part} host={host} isTarget={isTarget} />;
    case "image":
    case "file":
      return <MediaView media={part.media} host={host} />;
    case "prompt":
      return (
        <div className="prompt-inside">
          {part.queued && (
            <p className="note">
              {part.origin === undefined ? t.part.typedWhileWorking : t.part.arrivedWhileWorking}
            </p>
          )}
          <PromptContent part={part} host={host} />
        </div>
      );
    case "step_start":
    case "step_finish":
      return <StepView part={part} host={host} />;
    case "marker":
      return <MarkerView part={part} host={host} isTarget={isTarget} />;
    case "request":
      return <RequestView part={part} host={host} />;
    case "unknown":
      return <UnknownView part={part} host={host} isTarget={isTarget} />;
    case "legacy":
      return <LegacyMessage part={part} host={host} isTarget={isTarget} />;
    default:
      return part satisfies never;
  }
}
