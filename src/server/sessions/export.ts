import type { Frame } from "../../model/frames/frame.ts";
import { encodeEvent, type HistoryEvent } from "../../model/messages/history.ts";
import { createHistory } from "../../model/messages/history-collector.ts";
import { encodeHeader } from "../../model/messages/history-file.ts";
import type { Note } from "../../model/note.ts";
import { markdownOf } from "../../model/parts/markdown.ts";
import type { SessionSummary } from "../../model/session.ts";
import { accumulate } from "../../model/transcript/accumulate.ts";
import { emptyTranscript } from "../../model/transcript/transcript-state.ts";

export const EXPORT_FORMATS = ["jsonl", "md"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const isExportFormat = (text: string): text is ExportFormat =>
  EXPORT_FORMATS.some((format) => format === text);

/** The fields that identify a session in its export. */
export type ExportedSession = Pick<SessionSummary, "id" | "agent" | "title" | "first_prompt">;

/**
 * A session as text, in chunks. `jsonl`: a header line, then its history events, which fold to the same parts when read back.
 * `md`: Markdown. `frames`: all frames of the session. `notes`: the session's notes; in `jsonl` they are in the header, so that
 * they do not change any part.
 */
export async function* exportSession(
  session: ExportedSession,
  frames: AsyncIterable<readonly Frame[]>,
  format: ExportFormat,
  notes: readonly Note[] = [],
): AsyncGenerator<string> {
  switch (format) {
    case "jsonl":
      yield* historyLines(session, frames, notes);
      return;
    case "md": {
      let transcript = emptyTranscript(session.id);
      for await (const batch of frames) for (const frame of batch) transcript = accumulate(transcript, frame);
      const prompt = session.first_prompt ?? transcript.turns.at(0)?.title;
      yield* markdownOf(transcript, session.title ?? prompt ?? "Untitled session", notes);
      return;
    }
    default:
      format satisfies never;
  }
}

async function* historyLines(
  { id, agent }: ExportedSession,
  frames: AsyncIterable<readonly Frame[]>,
  notes: readonly Note[],
): AsyncGenerator<string> {
  yield `${encodeHeader({ session_id: id, agent, notes })}\n`;
  const history = createHistory(id);
  for await (const batch of frames) {
    const events = batch.flatMap((frame) => history.push(frame));
    if (events.length > 0) yield `${events.map(lineOf).join("\n")}\n`;
  }
  const rest = history.flush();
  if (rest.length > 0) yield `${rest.map(lineOf).join("\n")}\n`;
}

/** An event that is nested too deeply to be read back is stored as JSON text. */
function lineOf(event: HistoryEvent): string {
  try {
    return encodeEvent(event);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return encodeEvent({ type: "unknown", line: JSON.stringify(JSON.stringify(event)) });
  }
}
