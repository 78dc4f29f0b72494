import { type Frame, frame as frameSchema } from "../../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../../src/model/frames/order.ts";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";
import { createStreamReader, findStreamFormat } from "../../../src/sources/push/index.ts";

export const SESSION = "57ae0000-0000-4000-8000-000000000001";

/** The frames of a stream that arrives in these chunks. */
export function readStream(format: string, pieces: readonly string[], seed = "one"): Frame[] {
  const found = findStreamFormat(format);
  if (found === undefined) throw new Error(`There is no format ${format}`);
  let clock = 1000;
  const now = () => {
    clock += 1;
    return clock;
  };
  const reader = createStreamReader(found, { session_id: SESSION, now, seed });
  const events = pieces.flatMap((piece) => reader.push(piece));
  return [...events, ...reader.end()].flatMap(({ frames }) => frames);
}

/** The transcript of the frames. Fails if they violate the order of frames. */
export function fold(
  frames: readonly Frame[],
  transcript: Transcript = emptyTranscript(SESSION),
): Transcript {
  const checker = createOrderChecker();
  let folded = transcript;
  for (const frame of frames) {
    frameSchema.parse(frame);
    const [violation] = checker.check(frame);
    if (violation !== undefined) throw new Error(`${violation.rule}: ${violation.message}`);
    folded = accumulate(folded, frame);
  }
  return folded;
}

export function partsOf(transcript: Transcript): TranscriptPart[] {
  return Array.from(transcript.parts).filter((part) => part !== undefined);
}

/** Each part as one line: its kind and content. */
export function summary(parts: readonly TranscriptPart[]): string[] {
  return parts.map((part) => {
    switch (part.type) {
      case "text":
        return `text ${part.text}`;
      case "thinking":
        return `thinking ${part.thinking}`;
      case "tool_call":
        return `call ${part.tool_name} ${part.arguments_json} ${part.state.status}`;
      case "tool_result":
        return `result ${part.status} ${part.output_text}`;
      case "marker":
        return `${part.kind} ${part.title}`;
      case "unknown":
        return `unknown ${part.title ?? ""}`;
      case "prompt":
        return `prompt ${part.parts.map((item) => (item.type === "text" ? item.text : item.type)).join(" ")}`;
      case "step_finish":
        return `end ${part.reason ?? ""}`.trim();
      default:
        return part.type;
    }
  });
}

export const sse = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
export const ndjson = (events: readonly object[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join("");
