import type { Usage } from "../messages/message.ts";
import { asArray, asObject, asString, type JsonObject } from "../narrow.ts";
import { preview } from "../parts/preview.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import type { MessageOrigin, ModelCall, ModelCallHead } from "./context.ts";
import { blockKinds, endsCache, messageText } from "./message-text.ts";

/** Maximum length of an item's preview, in characters. */
const PREVIEW = 200;
/** Maximum number of listed matches in earlier requests. */
const MAX_EARLIER = 50;

/** An item of a model's input: a block of the system prompt, a tool definition, or a message. */
export interface ContextItem {
  section: "system" | "tools" | "messages";
  /** For messages. */
  role?: string;
  /** For tools. */
  name?: string;
  /** The kinds of its blocks without repetition: `text`, `tool_use Bash`. */
  kinds: readonly string[];
  /** The beginning of its text, on one line. */
  preview: string;
  /** Length of its text, in UTF-16 code units. */
  size: number;
  /** The first part of the transcript that it was made from. */
  part_id?: string;
  /** The previous request did not contain it. */
  is_new?: true;
  /** The provider was asked to cache everything up to its end. */
  ends_cache?: true;
  /** Its text matches the search. */
  is_found?: true;
}

/** A message that is no longer in the request. */
export interface LeftItem extends ContextItem {
  /** One-based number of the last call that contained it, and its index among that call's items. */
  last_call: number;
  index: number;
}

/** A model call of a session and its input. */
export interface CallContext extends ModelCallHead {
  /** One-based, including attempts. `calls`: total number in the session. */
  call: number;
  calls: number;
  /** Of a session that does not fit in memory: earlier parts, which may belong to the input, are left out. */
  is_cut?: true;
  digest_matches: boolean | null;
  /** The request without its system prompt, tools and messages. */
  parameters: JsonObject;
  /** The call's usage, once it has ended. */
  usage?: Usage;
  items: readonly ContextItem[];
  /** Messages that the previous call contained. */
  left: readonly LeftItem[];
  /** Matches in messages that earlier calls contained and this one does not. At most 50. */
  found_earlier: readonly LeftItem[];
}

/** The items of a call's request. `number`: one-based. `find`: marks items that contain this text, ignoring case. */
export function describeCall(
  transcript: Transcript,
  calls: readonly ModelCall[],
  number: number,
  find = "",
): CallContext | undefined {
  const call = calls[number - 1];
  if (call === undefined) return undefined;
  const { request, digest_matches } = call.build();
  const { system, tools, messages, ...parameters } = request;
  const has = finder(find);
  const origins = call.origins();
  const kept = new Set(origins.map(({ key }) => key));
  const before = calls[number - 2];
  const known = new Set(before?.origins().map(({ key }) => key));
  const usage = usageOf(transcript, call);
  return {
    call: number,
    calls: calls.length,
    step: call.step,
    turn: call.turn,
    request_id: call.request_id,
    recorded: call.recorded,
    missing: call.missing,
    digest_matches,
    parameters,
    ...(usage && { usage }),
    items: [
      ...systemBlocks(system).map((block) => itemOf("system", block, has)),
      ...asArray(tools).map((tool) => itemOf("tools", tool, has)),
      ...messages.map((message, index) => ({
        ...itemOf("messages", message, has, origins[index]),
        ...(!known.has(origins[index]?.key ?? "") && { is_new: true as const }),
      })),
    ],
    left: before === undefined ? [] : leftItems(before, number - 1, kept, has),
    found_earlier: find === "" ? [] : foundEarlier(calls.slice(0, number), kept, has),
  };
}

/** The text of one item of a call. `item` is a zero-based index into `items`. */
export function itemText(call: ModelCall, item: number): string | undefined {
  const { system, tools, messages } = call.build().request;
  const all = [...systemBlocks(system), ...asArray(tools), ...messages];
  return item < all.length ? messageText(all[item]) : undefined;
}

/** The one-based number of the call whose step contains a position. Before the first step: 1. */
export function callAt(calls: readonly ModelCall[], position: number): number {
  const found = calls.findLastIndex(({ step, first_part }) => step !== null && first_part <= position);
  return Math.max(0, found) + 1;
}

const systemBlocks = (system: unknown): readonly unknown[] =>
  system === undefined ? [] : Array.isArray(system) ? asArray(system) : [system];

function itemOf(
  section: ContextItem["section"],
  value: unknown,
  has: (text: string) => boolean,
  origin?: MessageOrigin,
): ContextItem {
  const text = messageText(value);
  const role = asString(asObject(value)?.role);
  const name = section === "tools" ? nameOfTool(value) : undefined;
  const part_id = origin?.part_ids[0];
  return {
    section,
    ...(role !== undefined && { role }),
    ...(name !== undefined && { name }),
    kinds: section === "messages" ? blockKinds(value) : [],
    preview: preview(text, PREVIEW),
    size: text.length,
    ...(part_id !== undefined && { part_id }),
    ...(endsCache(value) && { ends_cache: true }),
    ...(has(text) && { is_found: true }),
  };
}

/** The Chat Completions API nests it in `function`. */
const nameOfTool = (tool: unknown): string | undefined =>
  asString(asObject(tool)?.name) ?? asString(asObject(asObject(tool)?.function)?.name);

function finder(find: string): (text: string) => boolean {
  if (find === "") return () => false;
  const needle = find.toLowerCase();
  return (text) => text.toLowerCase().includes(needle);
}

function leftItems(
  before: ModelCall,
  last_call: number,
  kept: ReadonlySet<string>,
  has: (text: string) => boolean,
): LeftItem[] {
  const origins = before.origins();
  if (origins.every(({ key }) => kept.has(key))) return [];
  const { system, tools, messages } = before.build().request;
  const first = systemBlocks(system).length + asArray(tools).length;
  return origins.flatMap((origin, at) =>
    kept.has(origin.key)
      ? []
      : [{ ...itemOf("messages", messages[at], has, origin), last_call, index: first + at }],
  );
}

/** Searches backwards from the call before the last one, so that a message in several calls is listed once. */
function foundEarlier(
  calls: readonly ModelCall[],
  kept: ReadonlySet<string>,
  has: (text: string) => boolean,
): LeftItem[] {
  const found: LeftItem[] = [];
  const seen = new Set(kept);
  for (let number = calls.length - 1; number > 0 && found.length < MAX_EARLIER; number -= 1) {
    const call = calls[number - 1];
    if (call === undefined) continue;
    // The next call has all of its messages.
    if (call.growing !== undefined && call.growing === calls[number]?.growing) continue;
    found.push(...leftItems(call, number, seen, has).filter(({ is_found }) => is_found === true));
    for (const { key } of call.origins()) seen.add(key);
  }
  return found.slice(0, MAX_EARLIER);
}

/** The usage of a call's step. Its end is before the next step. */
function usageOf({ parts }: Transcript, { step, first_part }: ModelCall): Usage | undefined {
  if (step === null) return undefined;
  for (let index = first_part + 1; index < parts.length; index += 1) {
    const part = parts.at(index);
    if (part?.type === "step_finish") return part.tokens;
    if (part?.type === "step_start") return undefined;
  }
  return undefined;
}
