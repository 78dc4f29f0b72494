import { createHash } from "node:crypto";
import {
  changesBetween,
  type MessageOrigin,
  rebuildContexts,
  type StepContext,
} from "../../model/context.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { Format, ReadRecord } from "../../sources/contract.ts";
import { createLineReader } from "../../sources/lines/lines.ts";
import type { LoggedRequest } from "../../sources/request-log.ts";

type Context = Omit<StepContext, "entered" | "left"> & { first_part: number };

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * What the model was given at each step of a session's file, in order: the recorded request where the agent logs its
 * requests, else one rebuilt from the transcript. Attempts without an answer stand between the steps and are none.
 */
export async function* contextsOf(
  file: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<StepContext & { session_id: string }> {
  const reader = format.createReader({ path: file });
  const log = format.createRequestLog?.(sha256);
  const lines = log && createLineReader();
  const transcripts = new Map<string, Transcript>();
  const take = (records: readonly ReadRecord[]) => {
    for (const frame of records.flatMap(({ frames }) => frames)) {
      const before = transcripts.get(frame.session_id) ?? emptyTranscript(frame.session_id);
      transcripts.set(frame.session_id, accumulate(before, frame));
    }
  };
  const takeLog = (records: ReturnType<NonNullable<typeof lines>["push"]>) => {
    for (const { value, place } of records) if (value) log?.push(value, place);
  };
  for await (const chunk of chunks) {
    if (lines) takeLog(lines.push(chunk));
    take(reader.push(chunk));
  }
  if (lines) takeLog(lines.close());
  take(reader.close());

  const logged = [...(log?.requests() ?? [])];
  for (const [session_id, transcript] of transcripts) {
    let before: readonly MessageOrigin[] = [];
    for (const { first_part: _, ...context } of inOrder(transcript, logged)) {
      yield { session_id, ...context, ...changesBetween(before, context.origins) };
      before = context.origins;
    }
  }
}

/** The steps of a transcript with the requests that were logged for them, and the attempts between them. */
function* inOrder(transcript: Transcript, logged: readonly LoggedRequest[]): Generator<Context> {
  const parts = partsByByte(transcript);
  const answered = new Map<number, LoggedRequest>();
  const attempts: { request: LoggedRequest; before: number }[] = [];
  const steps = [...rebuildContexts(transcript)];
  const stepAt = (part: number) => steps.findLastIndex(({ first_part }) => first_part <= part);
  for (const request of logged) {
    const part = request.answer && parts.get(request.answer.byte)?.[0];
    const step = part === undefined ? -1 : stepAt(part.index);
    if (step >= 0) answered.set(step, request);
    else attempts.push({ request, before: firstStepAfter(transcript, steps, request.place.byte) });
  }
  for (const [index, step] of steps.entries()) {
    for (const { request, before } of attempts)
      if (before === index) yield contextOf(request, { ...step, step: null }, parts);
    const request = answered.get(index);
    yield request ? contextOf(request, step, parts) : step;
  }
  const end = { step: null, turn: transcript.turns.length - 1, first_part: transcript.parts.length };
  for (const { request, before } of attempts)
    if (before >= steps.length) yield contextOf(request, end, parts);
}

function firstStepAfter(transcript: Transcript, steps: readonly Context[], byte: number): number {
  const found = steps.findIndex(({ first_part }) => {
    const source = transcript.parts.at(first_part)?.source;
    return source !== undefined && "byte" in source && source.byte > byte;
  });
  return found < 0 ? steps.length : found;
}

type PartsByByte = Map<number, { index: number; id: string }[]>;

function partsByByte(transcript: Transcript): PartsByByte {
  const parts: PartsByByte = new Map();
  let index = -1;
  for (const part of transcript.parts) {
    index += 1;
    if (part?.source === undefined || !("byte" in part.source)) continue;
    if (part.type === "step_start" || part.type === "step_finish") continue;
    const { byte } = part.source;
    const others = parts.get(byte);
    if (others) others.push({ index, id: part.id });
    else parts.set(byte, [{ index, id: part.id }]);
  }
  return parts;
}

function contextOf(
  request: LoggedRequest,
  { step, turn, first_part }: Pick<Context, "step" | "turn" | "first_part">,
  parts: PartsByByte,
): Context {
  const { id, body, digest = null, rebuilt_digest, missing, hashes } = request;
  const { messages } = body;
  return {
    first_part,
    step,
    turn,
    request_id: id,
    recorded: true,
    missing,
    digest,
    digest_matches: digest === null ? null : digest === rebuilt_digest,
    request: { ...body, messages: Array.isArray(messages) ? messages : [] },
    origins: request.origins.map((places, index) => ({
      key: hashes[index] ?? "",
      part_ids: places.flatMap(({ byte }) => (parts.get(byte) ?? []).map((part) => part.id)),
      lines: places.map(({ line }) => line),
    })),
  };
}
