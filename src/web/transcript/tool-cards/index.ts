import { toolKind } from "../../../model/parts/tool-label.ts";
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

/** All cards. To add one, add a line here. */
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

/** The card of a call: by its typed payload, then by the tool's name, then the generic one. */
export function cardFor(view: CallView): ToolCard {
  const kind = toolKind(view.call.tool_name);
  // The result of a script may contain the exit codes of its commands without the commands, which only the script contains.
  const isScript = view.extra?.type === "shell" && view.extra.command === undefined && kind === "script";
  const payload = isScript ? undefined : view.extra?.type;
  const byPayload = payload === undefined ? undefined : CARDS.find((card) => card.payloads.includes(payload));
  if (byPayload) return byPayload;
  return CARDS.find((card) => card.kind === kind) ?? genericCard;
}
