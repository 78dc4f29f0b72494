import { visible } from "../../ui/hidden-text.tsx";
import { losesSome } from "../JsonBlock.tsx";
import { type CallView, oneLine, type ToolCard } from "./card.ts";

/** The card of any other tool: its name and arguments on one line. */
export const genericCard: ToolCard = {
  payloads: [],
  summary: (view) => {
    const subject = describe(view);
    return { label: view.call.tool_name, subject: visible(subject, "code"), title: subject };
  },
};

/** The arguments as `key value` pairs: short and descriptive ones first, otherwise in the original order. */
export function describe({ call, input }: CallView): string {
  const entries = Object.entries(input);
  if (entries.length === 0) return call.arguments_json === "{}" ? "" : oneLine(call.arguments_json);
  if (losesSome(call.arguments_json)) return oneLine(call.arguments_json);
  const only = entries.length === 1 ? entries[0]?.[1] : undefined;
  if (typeof only === "string") return oneLine(only);
  return oneLine(
    entries
      .map(
        ([key, value]) =>
          `${key}: ${typeof value === "string" ? oneLine(value, 80) : oneLine(JSON.stringify(value) ?? "", 80)}`,
      )
      .join("  "),
  );
}
