import type { Transcript } from "../transcript/transcript-state.ts";
import { type ModelCall, rebuiltCalls } from "./context.ts";
import type { LoggedRequest } from "./request-log.ts";

/**
 * The model calls of a transcript in order, with the requests logged by the agent or, if there are none, rebuilt from the parts.
 * Logged attempts without an answer are between the steps.
 */
export function modelCalls(transcript: Transcript, logged: readonly LoggedRequest[]): ModelCall[] {
  const parts = partsByByte(transcript);
  const answered = new Map<number, LoggedRequest>();
  const attempts: { request: LoggedRequest; before: number }[] = [];
  const steps = rebuiltCalls(transcript);
  const stepAt = (part: number) => steps.findLastIndex(({ first_part }) => first_part <= part);
  for (const request of logged) {
    const part = request.answer && parts.get(request.answer.byte)?.[0];
    const step = part === undefined ? -1 : stepAt(part.index);
    if (step >= 0) answered.set(step, request);
    else attempts.push({ request, before: firstStepAfter(transcript, steps, request.place.byte) });
  }
  const calls: ModelCall[] = [];
  for (const [index, step] of steps.entries()) {
    for (const { request, before } of attempts)
      if (before === index) calls.push(loggedCall(request, { ...step, step: null }, parts));
    const request = answered.get(index);
    calls.push(request ? loggedCall(request, step, parts) : step);
  }
  const end = { step: null, turn: transcript.turns.length - 1, first_part: transcript.parts.length };
  for (const { request, before } of attempts)
    if (before >= steps.length) calls.push(loggedCall(request, end, parts));
  return calls;
}

function firstStepAfter(transcript: Transcript, steps: readonly ModelCall[], byte: number): number {
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

function loggedCall(
  request: LoggedRequest,
  { step, turn, first_part }: Pick<ModelCall, "step" | "turn" | "first_part">,
  parts: PartsByByte,
): ModelCall {
  const { id, digest = null, missing, hashes } = request;
  return {
    first_part,
    step,
    turn,
    request_id: id,
    recorded: true,
    missing,
    origins: () =>
      request.origins.map((places, index) => ({
        key: hashes[index] ?? "",
        part_ids: places.flatMap(({ byte }) => (parts.get(byte) ?? []).map((part) => part.id)),
        lines: places.map(({ line }) => line),
      })),
    build() {
      const { body, digest: rebuilt } = request.build();
      const { messages } = body;
      return {
        digest,
        digest_matches: digest === null ? null : digest === rebuilt,
        request: { ...body, messages: Array.isArray(messages) ? messages : [] },
      };
    },
  };
}
