import type { ReactNode } from "react";
import type { Part } from "../../model/messages/part.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { Markdown } from "../markdown/Markdown.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { MediaView } from "./on-demand-views.ts";
import { WholeText } from "./WholeText.tsx";

/** The content of a prompt in order: text and attachments. */
export function PromptContent({
  part,
  host,
}: {
  part: TranscriptPartOf<"prompt">;
  host: TranscriptHost;
}): ReactNode {
  return part.parts.map((piece, index) => (
    <PromptPiece key={index} part={part} piece={piece} index={index} host={host} />
  ));
}

function PromptPiece({
  part,
  piece,
  index,
  host,
}: {
  part: TranscriptPartOf<"prompt">;
  piece: Part;
  index: number;
  host: TranscriptHost;
}): ReactNode {
  switch (piece.type) {
    case "text":
      return (
        <WholeText {...fieldText(part, `parts.${index}`, host)}>
          {(text) => <Markdown text={text} idPrefix={`${part.id}-${index}-`} />}
        </WholeText>
      );
    case "image_url":
    case "image_file":
    case "file":
    case "unknown":
      return <MediaView media={piece} host={host} />;
    case "thinking_text":
    case "tool_call":
    case "thinking_signature":
      // No reader creates these in a prompt. If one ever does, show the part as JSON.
      return <CodeBlock code={JSON.stringify(piece, null, 2)} language="json" title={piece.type} />;
    default:
      return piece satisfies never;
  }
}
