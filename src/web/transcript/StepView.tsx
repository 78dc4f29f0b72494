import type { ReactNode } from "react";
import { tokensIn } from "../../model/tokens.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { visible } from "../ui/hidden-text.tsx";
import { shortNumber, shortTokens } from "../ui/size.ts";
import { ContextButton } from "./ContextButton.tsx";
import type { TranscriptHost } from "./host.ts";
import { price } from "./price.ts";

/** The line between two steps: which model, how it ended, what it used. */
export function StepView({
  part,
  host,
}: {
  part: TranscriptPartOf<"step_start"> | TranscriptPartOf<"step_finish">;
  host: TranscriptHost;
}): ReactNode {
  if (part.type === "step_start") {
    return (
      <p className="step-line">
        step {part.step ?? ""} {part.model !== undefined && visible(part.model, "name")}
        {part.effort !== undefined && <> · effort {visible(part.effort, "name")}</>}
        {part.inherited === true && " · copied, counted in the session that it was copied from"}
        <ContextButton part_id={part.id} host={host} />
      </p>
    );
  }
  const { tokens } = part;
  const words = [
    part.reason?.replace("_", " "),
    tokens && `${shortTokens(tokensIn(tokens))} in`,
    tokens?.cache_read ? `${shortNumber(tokens.cache_read)} of them cached` : undefined,
    tokens && `${shortNumber(tokens.output)} out`,
    part.cost === undefined ? undefined : price(part.cost),
  ];
  return <p className="step-line step-end">{words.filter((word) => word !== undefined).join(" · ")}</p>;
}
