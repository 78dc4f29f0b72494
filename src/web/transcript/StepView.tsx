import type { ReactNode } from "react";
import { tokensIn } from "../../model/tokens.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { shortTokens } from "../text/format.ts";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { shortNumber } from "../ui/size.ts";
import { ContextButton } from "./ContextButton.tsx";
import type { TranscriptHost } from "./host.ts";
import { price } from "./price.ts";

/** The line between two steps: the model, how the step ended, and its usage. */
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
        {t.step.name(part.step)} {part.model !== undefined && visible(part.model, "name")}
        {part.effort !== undefined && (
          <>
            {" "}
            · {t.step.effort} {visible(part.effort, "name")}
          </>
        )}
        {part.inherited === true && ` · ${t.step.inherited}`}
        <ContextButton part_id={part.id} host={host} />
      </p>
    );
  }
  const { tokens } = part;
  const words = [
    part.reason && t.step.reasons[part.reason],
    tokens && t.step.in(shortTokens(tokensIn(tokens))),
    tokens?.cache_read ? t.step.cached(shortNumber(tokens.cache_read)) : undefined,
    tokens && t.step.out(shortNumber(tokens.output)),
    part.cost === undefined ? undefined : price(part.cost),
  ];
  return <p className="step-line step-end">{words.filter((word) => word !== undefined).join(" · ")}</p>;
}
