import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { Source } from "../../model/transcript/transcript.ts";
import type { SnapshotRecord } from "../contract.ts";
import { pairCalls } from "./calls.ts";
import { type Item, openCalls, piecesOf } from "./response.ts";

/** Fields of a request that are known when it is sent. All others describe its answer and change until it ends. */
const PROMPT_FIELDS = new Set([
  "agent",
  "confirmation",
  "editedFileEvents",
  "isSubAgent",
  "isSystemInitiated",
  "message",
  "modeInfo",
  "modelConfiguration",
  "modelId",
  "modelName",
  "origin",
  "raw",
  "requestId",
  "requestSource",
  "slashCommand",
  "systemInitiatedLabel",
  "terminalExecutionId",
  "timestamp",
  "variableData",
]);

/** Results of `modelState`: the model works, or waits for the user. Others are ends. */
const RUNNING = new Set<unknown>([0, 4]);

/** Whether a request's answer has ended. Older versions without it store only answers that have ended. */
const hasEnded = ({ modelState }: JsonObject): boolean => !RUNNING.has(asObject(modelState)?.value);

interface RequestPlace {
  /** Of its first record. */
  key: string;
  /** Unique within the session. */
  id: string;
  request: JsonObject;
  items: readonly Item[];
  /** The request's place in the document. */
  path: readonly (string | number)[];
  documentPlace(path: readonly (string | number)[]): Source;
}

/** Ranks of what follows the response. */
const ADDITION = 1_000;
const END = 1_000_000;

/**
 * The records of one request: the prompt, each piece of the response, and once it has ended what `result` adds. Their keys begin
 * with that of the prompt. Each value has the request's id and time. By `rank`, its place in the response, or `tail`, its place
 * after the response, the reader recognizes revisions.
 */
export function* recordsOfRequest({
  key,
  id,
  request,
  items,
  path,
  documentPlace,
}: RequestPlace): Generator<SnapshotRecord> {
  const { timestamp } = request;
  const record = (part: string, place: readonly (string | number)[], value: JsonObject) => ({
    key: `${key}${part}`,
    place: documentPlace([...path, ...place]),
    text: JSON.stringify({ request: id, at: timestamp, ...value }),
  });
  const ended = hasEnded(request);
  const result = asObject(request.result);
  const metadata = asObject(result?.metadata);
  const own = Object.fromEntries(Object.entries(request).filter(([name]) => PROMPT_FIELDS.has(name)));
  const resolved = resolvedModel(request, metadata);
  yield record("", [], { prompt: own, ...(resolved !== undefined && { resolved }) });

  const pieces = piecesOf(items);
  const calls = pairCalls(
    pieces.filter(({ kind }) => kind === "tool").map(({ index, value }) => ({ index, value: itemIn(value) })),
    metadata,
  );
  const open = ended ? new Set<number>() : openCalls(pieces);
  for (const { index, place, kind, step, value } of pieces)
    yield record(`#${index}:${kind}`, ["response", place ?? index], {
      kind,
      rank: index,
      step,
      ...value,
      ...(kind === "tool" && calls.of(index)),
      ...(open.has(index) && { running: true }),
    });
  if (!ended) return;
  for (const [tail, { call, result: output }] of calls.rest.entries())
    yield record(`#call:${asText(call.id) ?? tail}`, ["result"], {
      kind: "call",
      tail,
      step: pieces.at(-1)?.step ?? 0,
      call,
      ...(output !== undefined && { result: output }),
    });
  for (const [order, [name, list]] of additions(request, metadata).entries())
    if (list.length > 0) yield record(`#${name}`, [], { kind: name, tail: ADDITION + order, [name]: list });
  // The last items of a response are written after its end, which is then another record.
  const end = endOf(request, result, metadata);
  yield record(`#end:${pieces.length}`, [], { kind: "end", tail: END + pieces.length, end });
}

const itemIn = (value: JsonObject): JsonObject => asObject(value.item) ?? {};

/** The model that was chosen for a request that left the choice open. */
function resolvedModel({ modelId }: JsonObject, metadata: JsonObject | undefined): string | undefined {
  return /(?:^|\/)auto$/.test(asText(modelId) ?? "") ? asText(metadata?.resolvedModel) : undefined;
}

/** What a request records beside its response, and is shown after it. */
function additions(request: JsonObject, metadata: JsonObject | undefined): [string, unknown[]][] {
  const { summary } = metadata ?? {};
  return [
    ["references", asArray(request.contentReferences)],
    ["citations", asArray(request.codeCitations)],
    ["rendered", asArray(metadata?.renderedUserMessage)],
    ["summaries", [...asArray(metadata?.summaries), ...(summary === undefined ? [] : [summary])]],
  ];
}

/** The remaining fields: how the answer ended, tokens, times. The calls and texts that `metadata` repeats are left out. */
function endOf(
  request: JsonObject,
  result: JsonObject | undefined,
  metadata: JsonObject | undefined,
): JsonObject {
  const shown = new Set([
    ...PROMPT_FIELDS,
    "response",
    "contentReferences",
    "codeCitations",
    "result",
    "usedContext",
  ]);
  const rest = Object.entries(request).filter(([name]) => !shown.has(name));
  const repeated = new Set([
    "codeBlocks",
    "renderedGlobalContext",
    "renderedUserMessage",
    "summaries",
    "summary",
    "toolCallResults",
    "toolCallRounds",
  ]);
  const facts = Object.entries(metadata ?? {}).filter(([name]) => !repeated.has(name));
  const usages = asArray(metadata?.toolCallRounds).map((round) => asObject(round)?.usage);
  return {
    ...Object.fromEntries(rest),
    result: result && { ...result, ...(metadata && { metadata: Object.fromEntries(facts) }) },
    ...(usages.some((usage) => usage !== undefined && usage !== null) && { usages }),
  };
}
