import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { SnapshotRecord } from "../contract.ts";
import type { Placed, Sample } from "./samples.ts";

/** Events for the log's internal use only. */
const BOOKKEEPING = new Set([
  "sample_init",
  "state",
  "store",
  "step",
  "span_begin",
  "span_end",
  "subtask",
  "sandbox",
  "logger",
  "model",
  "tool",
  "anchor",
  "branch",
  "checkpoint",
]);

/** Maximum number of tool events that are kept until the message with their result. */
const MAX_UNANSWERED = 256;

/**
 * The records of a sample, in event order: errors after which it was run again, each message once, where it was first sent or
 * returned, and other events.
 */
export function* sampleRecords(name: string, header: JsonObject, sample: Sample): Generator<SnapshotRecord> {
  const { facts } = sample;
  const record = (
    key: string,
    { file, pointer }: Omit<Placed, "value">,
    value: JsonObject,
  ): SnapshotRecord => ({
    key,
    place: { kind: "document", file, pointer },
    text: JSON.stringify(value),
  });
  const evaluation = asObject(header.eval) ?? {};
  yield record("head", sample, {
    name,
    task: evaluation.task,
    model: evaluation.model,
    version: asObject(evaluation.packages)?.inspect_ai,
    started_at: facts.started_at,
    sample_id: facts.id,
    epoch: facts.epoch,
    target: facts.target,
  });
  for (const [retry, error] of asArray(facts.error_retries).entries())
    yield record(`retry:${retry}`, sample, { retry: asObject(error) });
  const unanswered = new Map<string, Placed>();
  const attached = (value: unknown): unknown => withAttachments(value, sample);
  const seen = new Set<string>();
  /** `same`: how often an identical message without an id occurred before it in its list. */
  function* message(item: Placed, fields: JsonObject, same: Map<string, number>): Generator<SnapshotRecord> {
    const value = asObject(item.value);
    if (value === undefined) return;
    unanswered.delete(asText(value.tool_call_id) ?? "");
    const content = JSON.stringify([value.role, value.content, value.tool_calls, value.tool_call_id]);
    const count = (same.get(content) ?? 0) + 1;
    same.set(content, count);
    const id = asText(value.id) ?? `${count} ${content}`;
    if (seen.has(id)) return;
    seen.add(id);
    const key = `message:${asText(value.id) ?? seen.size}`;
    yield record(key, item, { ...fields, message: attached(value) });
  }
  let has_error = false;
  let index = 0;
  for (const item of sample.events()) {
    const event = asObject(item.value) ?? {};
    if (event.event === "error") has_error = true;
    if (event.event === "model") {
      const same = new Map<string, number>();
      for (const input of sample.inputOf(item)) yield* message(input, { timestamp: event.timestamp }, same);
      const output = asObject(event.output) ?? {};
      const choice = asObject(asArray(output.choices)[0]);
      const answer = {
        file: item.file,
        pointer: `${item.pointer}/output/choices/0/message`,
        value: choice?.message,
      };
      const fields = {
        timestamp: event.completed ?? event.timestamp,
        model: output.model,
        usage: output.usage,
        stop_reason: choice?.stop_reason,
      };
      yield* message(answer, fields, same);
      const failure = asText(event.error) ?? asText(output.error);
      if (failure !== undefined)
        yield record(`failure:${index}`, item, { timestamp: event.timestamp, failure });
    } else if (event.event === "tool") {
      const id = asText(event.id);
      if (id !== undefined && (event.completed ?? event.error ?? undefined) !== undefined)
        unanswered.set(id, item);
      if (unanswered.size > MAX_UNANSWERED) unanswered.delete(unanswered.keys().next().value ?? "");
    } else if (!BOOKKEEPING.has(String(event.event)))
      yield record(`event:${index}`, item, { timestamp: event.timestamp, event: attached(event) });
    index += 1;
  }
  // For logs without events, and for final messages that were never sent.
  const same = new Map<string, number>();
  for (const item of sample.messages()) yield* message(item, {}, same);
  // An interrupted call has a result only in its event.
  for (const [id, item] of unanswered) {
    const event = asObject(item.value) ?? {};
    yield record(`tool:${id}`, item, {
      timestamp: event.completed ?? event.timestamp,
      message: attached({
        role: "tool",
        tool_call_id: id,
        function: event.function,
        content: event.result,
        error: event.error,
      }),
    });
  }
  yield record("end", sample, { scores: facts.scores, error: facts.error, error_told: has_error });
}

/** Resolves attachments: long texts and images are stored once and referenced as `attachment://<name>`. */
function withAttachments(value: unknown, sample: Sample): unknown {
  if (typeof value === "string") {
    if (!value.includes("attachment://")) return value;
    return value.replace(
      /attachment:\/\/([0-9a-f]{32}|\d+)/g,
      (whole, name: string) => sample.attachment(name) ?? whole,
    );
  }
  if (Array.isArray(value)) return value.map((item) => withAttachments(item, sample));
  const object = asObject(value);
  if (object === undefined) return value;
  return Object.fromEntries(
    Object.entries(object).map(([key, item]) => [key, withAttachments(item, sample)]),
  );
}
