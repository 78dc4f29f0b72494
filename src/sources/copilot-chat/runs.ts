import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { answerText, isTextKind } from "./answer-text.ts";
import { type Item, isInvocation } from "./response.ts";

/** A sub-agent's run: its part of a response, as a request of its own. */
export interface Run {
  /** The id of the call that started it. */
  id: string;
  request: JsonObject;
  items: Item[];
}

/** The call to which an item of a sub-agent belongs. */
const parentOf = ({ value }: Item): string | undefined => asText(value.subAgentInvocationId);

/** Calls of a response that started a sub-agent, by id. */
function startsOf(items: readonly Item[]): Map<string, JsonObject> {
  const starts = new Map<string, JsonObject>();
  const parents = new Set(items.map(parentOf));
  for (const item of items) {
    const id = asText(item.value.toolCallId);
    if (id === undefined || !isInvocation(item.kind) || parentOf(item) !== undefined) continue;
    const data = asObject(item.value.toolSpecificData);
    if (data?.kind === "subagent" || parents.has(id)) starts.set(id, item.value);
  }
  return starts;
}

/**
 * The call of a sub-agent that an item belongs to, if the response has it. An edit belongs to the marker before it, which names
 * the sub-agent. The fences around an edit name none: they belong to what is before them.
 */
function ownersOf(items: readonly Item[]): (string | undefined)[] {
  const starts = startsOf(items);
  let marked: string | undefined;
  let last: string | undefined;
  return items.map((item) => {
    if (item.kind === "undoStop") return undefined;
    const parent = parentOf(item);
    const named = parent !== undefined && starts.has(parent) ? parent : undefined;
    const isEdit = item.kind === "textEditGroup" || item.kind === "notebookEditGroup";
    if (item.kind === "codeblockUri") marked = named;
    else if (!isEdit) marked = undefined;
    last = isEdit ? (named ?? marked) : isFences(item) ? last : named;
    return last;
  });
}

/** Whether an item is a text that only opens or closes code blocks. */
const isFences = ({ kind, value }: Item): boolean =>
  isTextKind(kind) && /^\s*```\s*(?:```\s*)*$/.test(answerText([value]));

/** The items of the agent itself, without those of its sub-agents. */
export function withoutRuns(items: readonly Item[]): Item[] {
  if (!items.some((item) => parentOf(item) !== undefined)) return [...items];
  const owners = ownersOf(items);
  return items.filter((_, at) => owners[at] === undefined);
}

/** The index of a sub-agent's result, after all that it did. */
const RESULT = 1_000_000;

/** The runs of the sub-agents that a request started. Their texts are not recorded, except the last one, which is the result. */
export function runsOf(request: JsonObject, items: readonly Item[]): Run[] {
  const owners = ownersOf(items);
  return [...startsOf(items)].flatMap(([call, invocation]) => {
    const data = asObject(invocation.toolSpecificData) ?? {};
    const prompt = asText(data.prompt) ?? asText(data.description);
    const own = items.filter((_, at) => owners[at] === call);
    if (prompt === undefined && own.length === 0) return [];
    const result = asText(data.result);
    const place = items.findIndex(({ value }) => value === invocation);
    if (result !== undefined) own.push({ index: RESULT, place, kind: "markdown", value: { value: result } });
    const modelState = result === undefined ? request.modelState : { value: 1 };
    const inner = {
      timestamp: request.timestamp,
      message: { text: prompt ?? "" },
      isSubAgent: true,
      agentName: data.agentName ?? data.agentDisplayName,
      modelName: data.modelName,
      modelState,
    };
    return [{ id: call, request: inner, items: own }];
  });
}
