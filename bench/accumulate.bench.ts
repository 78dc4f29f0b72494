import type { Frame } from "../src/model/frames/frame.ts";
import { accumulate } from "../src/model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../src/model/transcript/transcript-state.ts";
import { partId } from "../src/model/uuid.ts";

/**
 * The cost of one delta in transcripts of 10, 1,000 and 100,000 parts: `node bench/accumulate.bench.ts`. Prints a table on
 * standard error and one line of JSON on standard output. Only the ratios within a run are meaningful. The sizes alternate, so
 * that a slow machine affects all of them.
 */
const SIZES = [10, 1_000, 100_000] as const;
const DELTAS = 2_000;
const ROUNDS = 40;

const session_id = "00000001-0000-4000-8000-000000000001";

function transcriptOf(parts: number): Transcript {
  let transcript = emptyTranscript(session_id);
  let count = 0;
  const fold = (frame: Frame): void => {
    transcript = accumulate(transcript, frame);
  };
  while (transcript.parts.length < parts) {
    count += 1;
    const common = { session_id, at: count };
    const message_id = partId(session_id, count);
    const tool_call_id = `call-${count}`;
    if (count % 20 === 1) {
      const parts = [{ type: "text" as const, text: "Go on" }];
      fold({ ...common, type: "user.message", message_id: partId(message_id, 0), parts });
    }
    fold({ ...common, type: "message.start", message_id });
    fold({ ...common, type: "message.delta", kind: "thinking", text: "Which file next?" });
    fold({ ...common, type: "message.delta", kind: "text", text: "I read it." });
    const call = { tool_call_id, tool_name: "Read", arguments_json: '{"path":"a.ts"}' };
    fold({ ...common, type: "message.tool_call", ...call });
    fold({
      ...common,
      type: "message.end",
      message_id,
      stop_reason: "tool_use",
      usage: { input: 1, output: 1 },
    });
    const result = { is_error: false, status: "success" as const, output_text: "content", parts: [] };
    fold({ ...common, type: "message.tool_result", tool_call_id, ...result });
  }
  return transcript;
}

/** Nanoseconds per delta, one growing part after the given transcript. */
function measure(transcript: Transcript, round: number): number {
  const common = { session_id, at: 0 };
  const message_id = partId(session_id, -1 - round);
  let grown = accumulate(transcript, { ...common, type: "message.start", message_id });
  const delta: Frame = { ...common, type: "message.delta", kind: "text", text: "a word " };
  const begin = performance.now();
  for (let index = 0; index < DELTAS; index += 1) grown = accumulate(grown, delta);
  return ((performance.now() - begin) * 1e6) / DELTAS;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

const times = SIZES.map((parts) => ({ parts, samples: [] as number[] }));
const transcripts = SIZES.map(transcriptOf);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, transcript] of transcripts.entries()) {
    // Folding onto an older version computes its positions once, which is not measured.
    const next = accumulate(transcript, {
      session_id,
      at: 0,
      type: "marker",
      part_id: partId(session_id, round),
      kind: "note",
      title: "round",
    });
    times[index]?.samples.push(measure(next, round));
  }
}
const rows = times.map(({ parts, samples }) => ({ parts, ns_per_delta: Math.round(median(samples)) }));
const base = rows[0]?.ns_per_delta ?? 1;
const report = rows.map((row) => ({ ...row, ratio: Number((row.ns_per_delta / base).toFixed(2)) }));
console.error("parts      ns/delta   ratio");
for (const { parts, ns_per_delta, ratio } of report) {
  console.error(`${String(parts).padEnd(10)} ${String(ns_per_delta).padEnd(10)} ${ratio}`);
}
console.log(JSON.stringify({ bench: "accumulate", deltas: DELTAS, rounds: ROUNDS, results: report }));
