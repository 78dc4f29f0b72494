import type { Frame } from "../../model/frames/frame.ts";
import type { ReadRecord } from "../../sources/contract.ts";
import type { FileContent } from "../files/file-content.ts";
import { createDecoder } from "../files/follow.ts";
import type { SessionFile } from "./session-file.ts";

/** Bytes read at a time. */
const BLOCK = 1024 * 1024;

/**
 * All frames of a session, read again from its file or from the archive. `idFor`: the id under which a session of this file is
 * listed. `is_open`: its agent may still write, so parts that are open at the end of the file stay open. The content stays open
 * until the last batch is consumed.
 */
export async function* sessionFrames(
  id: string,
  entry: SessionFile,
  content: FileContent,
  idFor: (session_id: string) => string,
  is_open = false,
): AsyncGenerator<readonly Frame[]> {
  const reader = entry.format.createReader({ path: entry.path });
  let records: ReadRecord[] = [];
  const decoder = createDecoder(entry.path, (bytes) => {
    records.push(...reader.push(bytes));
  });
  const take = (): Frame[] => {
    const frames = records.flatMap((record) => record.frames);
    records = [];
    return frames
      .filter(({ session_id }) => idFor(session_id) === id)
      .map((frame) => (frame.session_id === id ? frame : { ...frame, session_id: id }));
  };
  try {
    for (let at = 0; at < content.size; ) {
      const bytes = await content.read(at, Math.min(BLOCK, content.size - at));
      if (bytes.length === 0) break;
      await decoder.write(bytes);
      at += bytes.length;
      yield take();
    }
    await decoder.end();
    if (entry.side_text !== undefined) records.push(...reader.readSide(entry.side_text));
    records.push(...(is_open ? reader.settle() : reader.close()));
    yield take();
  } finally {
    await content.close();
  }
}
