import { keptPath } from "../../agent/paths.ts";
import type { Frame } from "../../model/frames/frame.ts";
import { keptOutputOf } from "../../model/parts/kept-output.ts";
import { positionOf } from "../../model/transcript/accumulate.ts";
import { readAttachment, readOutputFile, readOutputPiece } from "../files/raw-records.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { recordOf } from "./record/raw-events.ts";
import type { SessionRegistry } from "./session-registry.ts";

/** Reads the record of a session: its frames, and the raw record, the attachments and the complete output of a part. */
export function createManagedRecords(
  { entries, open, filesOf }: Pick<SessionRegistry, "entries" | "open" | "filesOf">,
  store_path: string,
): Pick<Sessions, "raw" | "attachment" | "output" | "frames"> {
  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const index = view && positionOf(view.transcript, part_id);
    return index === undefined ? undefined : view?.transcript.parts.at(index);
  }

  return {
    async raw(id, part_id) {
      const part = await partOf(id, part_id);
      const recorder = entries.get(id)?.recorder;
      return part && recorder && recordOf(recorder, part, store_path);
    },
    async attachment(id, part_id, n) {
      const part = await partOf(id, part_id);
      const folder = filesOf(id);
      return (
        part &&
        (await readAttachment(part, n, (path) => readOutputFile({ folder, path: keptPath(folder, path) })))
      );
    },
    async output(id, part_id, from) {
      const part = await partOf(id, part_id);
      const kept = part && keptOutputOf(part);
      const folder = filesOf(id);
      return kept && (await readOutputPiece({ folder, path: keptPath(folder, kept.path) }, from));
    },
    async frames(id) {
      await open(id);
      const recorder = entries.get(id)?.recorder;
      return recorder && oneBatch(recorder.frames());
    },
  };
}

async function* oneBatch(frames: readonly Frame[]): AsyncGenerator<readonly Frame[]> {
  yield frames;
}
