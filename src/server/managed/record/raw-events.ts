import { basename, dirname, join } from "node:path";
import { imageType } from "../../../agent/image-type.ts";
import type { HistoryEvent } from "../../../model/messages/history.ts";
import type { ImageFilePart } from "../../../model/messages/part.ts";
import type { TranscriptPart } from "../../../model/transcript/transcript.ts";
import { truncateText } from "../../../model/truncate/truncator.ts";
import type { RawReply } from "../../../protocol.ts";
import { readOutputFile } from "../../files/raw-records.ts";
import type { Recorder } from "./recorder.ts";

/** Maximum number of characters of a stored event that are shown. */
const RECORD_LIMIT = 1024 * 1024;

/** The stored event that a part was made from. `undefined`: its message is not complete yet. */
export function recordOf(recorder: Recorder, part: TranscriptPart, file: string): RawReply | undefined {
  const found =
    recorder.find((event) => isSourceOf(event, part)) ??
    recorder.find((event) => "role" in event && event.id === part.message_id);
  if (!found) return undefined;
  const { line, position } = found;
  const text = truncateText(line, RECORD_LIMIT);
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

/** Whether a part was made from this event. Other events may refer to the part too, for example to retract it. */
function isSourceOf(event: HistoryEvent, part: TranscriptPart): boolean {
  const part_id = part.id;
  if ("type" in event && event.type === "request") return event.request.request_id === part_id;
  if ("type" in event && event.type === "error" && event.part_id === undefined) {
    // An error without an id is matched by its text and time.
    const isError = part.type === "marker" && part.kind === "error";
    return isError && event.at === part.at && event.message === (part.text ?? part.title);
  }
  if ("type" in event && event.type === "retract") return false;
  if ("part_id" in event && event.part_id === part_id) return true;
  if ("interrupt" in event && event.interrupt?.part_id === part_id) return true;
  return (
    "parts" in event && event.parts?.some((part) => "part_id" in part && part.part_id === part_id) === true
  );
}

/** The folder of a session's files, in the data folder. */
export function filesFolder(data_folder: string, session_id: string): string {
  return join(data_folder, "files", session_id);
}

/**
 * An image as a data URL for a model. Only images in a session's own folder are read, where tools put them. A fork's history
 * refers to files of the original session.
 */
export async function imageOf(
  data_folder: string,
  { file_path }: ImageFilePart,
): Promise<string | undefined> {
  const folder = dirname(file_path);
  if (folder !== filesFolder(data_folder, basename(folder))) return undefined;
  const bytes = Buffer.from((await readOutputFile({ folder, path: file_path })) ?? []);
  const mime_type = imageType(bytes);
  return mime_type && `data:${mime_type};base64,${bytes.toString("base64")}`;
}
