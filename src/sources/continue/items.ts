import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { SnapshotRecord } from "../contract.ts";
import { type Document, pointerOf } from "../documents/document.ts";
import type { OrderedRecord } from "../documents/save-time.ts";
import { fingerprint } from "../fingerprint.ts";

/** An item of the history. */
interface Item {
  index: number;
  value: JsonObject;
  message: JsonObject;
  /** Names it within the session. */
  name: string;
  /** The states of its calls. `id`: the call's own, or another one if an earlier call has the same. */
  calls: { id: unknown; state: JsonObject }[];
}

/**
 * The records of a session's history: each message, each result of a call once it has ended, each summary, and before the last
 * prompt the mode. `summary`: the name of the summary that replaced all messages before it, if any.
 */
export function itemsOf(
  document: Document,
  mode: string | undefined,
): { records: OrderedRecord[]; summary?: string } {
  const items = namedItems(asArray(document.value.history));
  const repeated = new Set<Item>();
  const prompt = mode === undefined ? undefined : items.findLast(({ message }) => message.role === "user");
  const records: OrderedRecord[] = [];
  let summary: string | undefined;
  const steps = stepsOf(items);
  for (const item of items) {
    const { index, message, name } = item;
    const record = (key: string, path: readonly (string | number)[], value: object): SnapshotRecord => ({
      key,
      place: { kind: "document", file: document.path, pointer: pointerOf(["history", index, ...path]) },
      text: JSON.stringify(value),
    });
    const add = (added: SnapshotRecord, isPrompt = false): void =>
      void records.push({ record: added, isPrompt });
    if (item === prompt) add(record(`mode:${name}`, [], { mode }));
    const text = asText(item.value.conversationSummary);
    if (text !== undefined && text === message.content && message.id === undefined) {
      summary = name;
      add(record(`summary:${name}`, [], { summary: text }));
      continue;
    }
    add(
      record(`message:${name}`, [], messageOf(item, steps.get(item), repeated.has(item))),
      message.role === "user",
    );
    const copies = copiesAfter(items, item);
    for (const [place, call] of item.calls.entries()) {
      const copy = copies.find((other) => other.message.toolCallId === call.state.toolCallId);
      const result = resultOf(call, copy, index + copies.length < items.length - 1);
      if (result === undefined) continue;
      add(record(`result:${name}/${place}`, ["toolCallStates", place], result));
      if (copy !== undefined) repeated.add(copy);
    }
    if (text !== undefined) add(record(`summary:${name}`, ["conversationSummary"], { summary: text }));
  }
  return { records, ...(summary !== undefined && { summary }) };
}

/**
 * The extension gives messages ids. In the command line version a message is named after its content and all messages before it,
 * which do not change: only the states of its calls do. So the messages that follow an edited prompt are others.
 */
function namedItems(history: readonly unknown[]): Item[] {
  const names = new Set<string>();
  const called = new Set<unknown>();
  let before = "";
  return history.map((item, index) => {
    const value = asObject(item) ?? { raw: item };
    const message = asObject(value.message) ?? {};
    // Older versions have one call in each message.
    const states = objectsIn(value.toolCallStates ?? [value.toolCallState]);
    const ids = states.map(({ toolCallId }) => toolCallId);
    const content = [before, message.role, message.content, ids, value.raw];
    const own = asText(message.id) ?? `${index}-${fingerprint(JSON.stringify(content)).toString(36)}`;
    const name = names.has(own) ? `${own}#${index}` : own;
    names.add(name);
    before = name;
    const calls = states.map((state) => {
      const { toolCallId } = state;
      const id = called.has(toolCallId) ? `${toolCallId}#${index}` : toolCallId;
      called.add(toolCallId);
      return { id, state };
    });
    return { index, value, message, name, calls };
  });
}

const objectsIn = (list: unknown): JsonObject[] =>
  asArray(list)
    .map(asObject)
    .filter((item) => item !== undefined);

/** The model call that wrote an item. */
interface Step {
  /** The key of the record of its first item. */
  key: string;
  model?: string;
}

/** The model calls of the items that the model wrote. */
function stepsOf(items: readonly Item[]): Map<Item, Step> {
  const steps = new Map<Item, Step>();
  let step: Step | undefined;
  for (const item of items) {
    const { message, name, value } = item;
    if (message.role !== "assistant" && message.role !== "thinking") {
      step = undefined;
      continue;
    }
    step ??= { key: `message:${name}` };
    steps.set(item, step);
    const models = objectsIn(value.promptLogs).flatMap(({ modelTitle }) => asText(modelTitle) ?? []);
    const model = models.at(-1);
    if (model !== undefined) step.model = model;
    if (endsCall(item)) step = undefined;
  }
  return steps;
}

/** Whether the model call that wrote an item ended with it. The extension may divide a call between several items. */
const endsCall = ({ value, message, calls }: Item): boolean =>
  message.id === undefined || calls.length > 0 || asArray(value.promptLogs).length > 0;

/** The messages of role `tool` that follow a message, to which the extension copies the results of its calls. */
function copiesAfter(items: readonly Item[], { index, calls }: Item): Item[] {
  const copies: Item[] = [];
  if (calls.length === 0) return copies;
  for (let next = items[index + 1]; next?.message.role === "tool"; next = items[next.index + 1])
    copies.push(next);
  return copies;
}

/** A message without what is repeated or only of use to the extension: its editor's state, whole requests, tool definitions. */
function messageOf(item: Item, step: Step | undefined, repeats: boolean): object {
  const { value, message, calls } = item;
  if (value.message === undefined) return value;
  const { toolCalls, ...rest } = message;
  const ids = calls.map(({ state }) => state.toolCallId);
  const others = objectsIn(toolCalls);
  const all = [
    ...calls.map((call) => ({ ...asObject(call.state.toolCall), id: call.id })),
    ...others.filter(({ id }) => !ids.includes(id)),
  ];
  const context = asArray(value.contextItems);
  return {
    message: rest,
    step: step?.key,
    ends: step !== undefined && endsCall(item) ? true : undefined,
    model: step?.model,
    contextItems: context.length > 0 && message.role !== "tool" ? context : undefined,
    reasoning: value.reasoning,
    calls: all.length > 0 ? all : undefined,
    repeats: repeats ? true : undefined,
  };
}

const ENDED = new Set(["done", "errored", "canceled"]);

/**
 * The result of a call that has ended. One that is still running is left out, unless the conversation went on without it and it has
 * written something. `copy`: the message of role `tool` with its result.
 */
function resultOf(
  { id, state }: Item["calls"][number],
  copy: Item | undefined,
  goesOn: boolean,
): object | undefined {
  const own = asArray(state.output);
  const output = own.length > 0 || copy === undefined ? own : [{ content: copy.message.content }];
  const isOver = ENDED.has(asString(state.status) ?? "") || (goesOn && output.length > 0);
  if (!isOver) return undefined;
  return {
    call: id,
    status: state.status,
    output,
    created: state.status === "done" ? createdBy(state) : undefined,
  };
}

/** The file that a call created. The command line version's tool also replaces files, and then its result has the change. */
function createdBy({ toolCall, parsedArgs, output }: JsonObject): object | undefined {
  const name = asObject(asObject(toolCall)?.function)?.name;
  const input = asObject(parsedArgs);
  const path = asText(input?.filepath);
  const content = asString(input?.content) ?? asString(input?.contents);
  const [first] = objectsIn(output);
  const isNew =
    name === "create_new_file" ||
    (name === "Write" && asString(first?.content)?.startsWith("Successfully created file") === true);
  return isNew && path !== undefined && content !== undefined ? { path, content } : undefined;
}
