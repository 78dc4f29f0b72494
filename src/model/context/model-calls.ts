import { loadedItems } from "../transcript/sequence.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
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
  /** Attempts by the index of the step that follows them. */
  const attempts = new Map<number, LoggedRequest[]>();
  const steps = rebuiltCalls(transcript);
  const step_bytes = steps.map(({ first_part }) => byteOf(transcript.parts.at(first_part)));
  for (const request of logged) {
    const part = request.answer && parts.get(request.answer.byte)?.[0];
    const step = part === undefined ? -1 : stepAt(steps, part.index);
    if (step >= 0) {
      answered.set(step, request);
      continue;
    }
    const next = step_bytes.findIndex((byte) => byte !== undefined && byte > request.place.byte);
    const before = next < 0 ? steps.length : next;
    attempts.set(before, [...(attempts.get(before) ?? []), request]);
  }
  const calls: ModelCall[] = [];
  for (const [index, step] of steps.entries()) {
    for (const attempt of attempts.get(index) ?? [])
      calls.push(loggedCall(attempt, { ...step, step: null }, parts));
    const request = answered.get(index);
    calls.push(request ? loggedCall(request, step, parts) : step);
  }
  const end = { step: null, turn: transcript.turns.length - 1, first_part: transcript.parts.length };
  for (const attempt of attempts.get(steps.length) ?? []) calls.push(loggedCall(attempt, end, parts));
  return calls;
}

const byteOf = (part: TranscriptPart | undefined): number | undefined =>
  part?.source !== undefined && "byte" in part.source ? part.source.byte : undefined;

/** The index of the step that contains a position, or -1: before the first one. */
function stepAt(steps: readonly ModelCall[], position: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.first_part ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

type PartsByByte = Map<number, { index: number; id: string }[]>;

function partsByByte(transcript: Transcript): PartsByByte {
  const parts: PartsByByte = new Map();
  for (const [index, part] of loadedItems(transcript.parts)) {
    const byte = byteOf(part);
    if (byte === undefined) continue;
    if (part.type === "step_start" || part.type === "step_finish") continue;
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
