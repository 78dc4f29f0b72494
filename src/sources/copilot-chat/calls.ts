import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { toolName } from "./tool-names.ts";

/** A call as the model wrote it, and its result, from `toolCallRounds` and `toolCallResults` in a request's `result.metadata`. */
export interface ModelCall {
  /** `{id, name, arguments}`. */
  call: JsonObject;
  /** What the model got: `{content}`. Absent: none is recorded. */
  result?: unknown;
}

/** The model's calls of a request, by the index of the invocation that VS Code shows for them, and those without one. */
export interface PairedCalls {
  of(index: number): ModelCall | undefined;
  rest: ModelCall[];
}

/**
 * Pairs the invocations in a response with the model's calls: by id, which older versions do not share, then by name in
 * order, then in order if as many remain on both sides.
 */
export function pairCalls(
  invocations: readonly { index: number; value: JsonObject }[],
  metadata: JsonObject | undefined,
): PairedCalls {
  const results = asObject(metadata?.toolCallResults) ?? {};
  const calls = asArray(metadata?.toolCallRounds)
    .flatMap((round) => asArray(asObject(round)?.toolCalls))
    .map(asObject)
    .filter((call) => call !== undefined);
  const paired = new Map<number, JsonObject>();
  let open = [...calls];
  const pair = (matches: (value: JsonObject, call: JsonObject) => boolean) => {
    for (const { index, value } of invocations) {
      const call = paired.has(index) ? undefined : open.find((each) => matches(value, each));
      if (call === undefined) continue;
      paired.set(index, call);
      open = open.filter((each) => each !== call);
    }
  };
  pair((value, call) => idOf(call) !== undefined && asText(value.toolCallId) === idOf(call));
  pair((value, call) => asText(call.name) !== undefined && toolName(value) === call.name);
  if (invocations.length - paired.size === open.length) pair(() => true);
  const withResult = (call: JsonObject): ModelCall => {
    const id = asText(call.id) ?? "";
    return { call, ...(Object.hasOwn(results, id) && { result: results[id] }) };
  };
  return {
    of(index) {
      const call = paired.get(index);
      return call && withResult(call);
    },
    rest: open.map(withResult),
  };
}

/** The id that VS Code knows: Copilot Chat adds a suffix to make it unique across requests. */
const idOf = (call: JsonObject): string | undefined => asText(call.id)?.split("__vscode")[0];
