import type { ReactNode } from "react";
import { Markdown } from "../../markdown/Markdown.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, oneLine, type ToolCard, text } from "./card.ts";

/** A plan that the agent proposed, and whether it was accepted. */
export const planCard: ToolCard = {
  payloads: ["plan"],
  kind: "plan",
  summary: (view) => {
    const title = oneLine(
      planOf(view)
        .split("\n")
        .find((line) => /\S/.test(line))
        ?.replace(/^#+\s*/, "") ?? "",
    );
    const accepted = view.extra?.type === "plan" ? view.extra.accepted : undefined;
    return {
      label: t.cards.plan,
      subject: visible(title, "prose"),
      title,
      figures: accepted === undefined ? undefined : accepted ? t.cards.accepted : t.cards.notAccepted,
    };
  },
  Body: PlanBody,
  shows: (view) => ({ input: planOf(view) !== "" }),
};

function planOf({ extra, input }: CallView): string {
  return (extra?.type === "plan" ? extra.plan : undefined) ?? text(input, "plan") ?? "";
}

function PlanBody({ view }: CardBodyProps): ReactNode {
  const plan = planOf(view);
  return plan === "" ? null : <Markdown text={plan} idPrefix={`${view.call.id}-`} />;
}
