import { createHash } from "node:crypto";
import { changesBetween, type MessageOrigin, type StepContext } from "../../model/context/context.ts";
import { modelCalls } from "../../model/context/model-calls.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { Format, ReadRecord } from "../../sources/contract.ts";
import { createLineReader } from "../../sources/lines/lines.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * The model's input at each step of a session's file, in order: the recorded request if the agent logs its requests, otherwise
 * one rebuilt from the transcript. Attempts without an answer are not counted as steps.
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

  const logged = log?.requests() ?? [];
  for (const [session_id, transcript] of transcripts) {
    let before: readonly MessageOrigin[] = [];
    for (const { step, turn, request_id, recorded, missing, ...call } of modelCalls(transcript, logged)) {
      const origins = call.origins();
      const head = { session_id, step, turn, request_id, recorded, missing };
      yield { ...head, ...call.build(), origins, ...changesBetween(before, origins) };
      before = origins;
    }
  }
}
