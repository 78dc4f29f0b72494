import type { CallView, ToolCard } from "./card.ts";
import { diffCard } from "./DiffCard.tsx";
import { genericCard } from "./GenericCard.tsx";
import { imageCard } from "./ImageCard.tsx";
import { mcpCard } from "./McpCard.tsx";
import { planCard } from "./PlanCard.tsx";
import { questionCard } from "./QuestionCard.tsx";
import { readCard } from "./ReadCard.tsx";
import { runCard } from "./RunCard.tsx";
import { scriptCard } from "./ScriptCard.tsx";
import { searchCard } from "./SearchCard.tsx";
import { shellCard } from "./ShellCard.tsx";
import { todoCard } from "./TodoCard.tsx";
import { webCard } from "./WebCard.tsx";

/** All cards. To add one, add a line here. The order matters only if two match the same name. */
const CARDS: readonly ToolCard[] = [
  shellCard,
  diffCard,
  readCard,
  searchCard,
  todoCard,
  webCard,
  imageCard,
  mcpCard,
  questionCard,
  planCard,
  runCard,
  scriptCard,
];

/** The name of a tool as shown on the lines of its calls, as far as it can be derived from the name alone. */
export function toolLabel(tool_name: string): string {
  const card = CARDS.find(({ matches }) => matches(tool_name.toLowerCase()));
  return card?.nameOf?.(tool_name) ?? tool_name;
}

/** The card of a call: by its typed payload, then by the tool's name, then the generic one. */
export function cardFor(view: CallView): ToolCard {
  const name = view.call.tool_name.toLowerCase();
  // The result of a script may contain the exit codes of its commands without the commands, which only the script contains.
  const isScript =
    view.extra?.type === "shell" && view.extra.command === undefined && scriptCard.matches(name);
  const payload = isScript ? undefined : view.extra?.type;
  const byPayload = payload === undefined ? undefined : CARDS.find((card) => card.payloads.includes(payload));
  if (byPayload) return byPayload;
  return CARDS.find((card) => card.matches(name)) ?? genericCard;
}
