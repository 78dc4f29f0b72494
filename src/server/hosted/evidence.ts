import type { TranscriptPart } from "../../model/transcript.ts";
import type { RawReply } from "../../protocol.ts";
import { parseDataUrl, readOwn } from "../evidence.ts";
import { cutText, mediaOf } from "../pages.ts";
import type { Recorder } from "./recorder.ts";

/** Characters of a stored event that are shown. */
const RECORD_LIMIT = 1024 * 1024;

/** The event of history that a part was made from, as it is stored. `undefined`: its message is not whole yet. */
export function recordOf(recorder: Recorder, part: TranscriptPart, file: string): RawReply | undefined {
  const found =
    recorder.find((_, line) => line.includes(part.id)) ??
    recorder.find((event) => "role" in event && event.id === part.message_id);
  if (!found) return undefined;
  const { line, position } = found;
  const text = cutText(line, RECORD_LIMIT);
  return {
    file,
    line: position + 1,
    byte: 0,
    length: line.length,
    text,
    ...(text.length < line.length && { truncated: line.length }),
    archived: false,
  };
}

/** The bytes of a part's medium: of a data URL, or of a file in the session's own folder, and of nothing else. */
export async function attachmentOf(
  part: TranscriptPart,
  n: number,
  folder: string,
): Promise<{ mime_type: string; bytes: Uint8Array } | undefined> {
  const media = mediaOf(part)[n];
  if (!media) return undefined;
  if (media.type !== "image_file") return parseDataUrl(media.url);
  const bytes = await readOwn(folder, media.file_path);
  return bytes && { mime_type: media.mime_type ?? "application/octet-stream", bytes };
}
