import { saveCheckpoint, savedState } from "../checkpoint.ts";
import type { LinkFacts, Reader, ReaderOptions, ReadRecord } from "../contract.ts";
import { createLineReader, type LinePosition, type LineRecord } from "../lines/lines.ts";
import { readSide } from "./file-facts.ts";
import { closeFile, linkFactsOf, readRecord, settleFile } from "./file-records.ts";
import { type FileState, identify, initialFile, sessionNameOf } from "./file-state.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { parsePath } from "./path.ts";
import { savedGraph } from "./saved-graph.ts";

/** `Format.id`. */
const CLAUDE_CODE = "claude-code";

/** After this many records without a session id, the file is treated as a session of its own. */
const MAX_HELD = 256;

/** The saved state of a reader. */
interface SavedState {
  lines: LinePosition;
  side?: string;
  /** Absent: the session's id is not known. */
  file?: FileState;
}

/** Reads a session file, or the file of one sub-agent. */
export function createClaudeCodeReader({ path, start, checkpoint }: ReaderOptions): Reader {
  const saved: SavedState =
    checkpoint === undefined
      ? { lines: start ?? { line: 1, byte: 0 } }
      : // `checkpoint` below wrote it, in the same version.
        (savedGraph.fromJson(savedState(checkpoint, CLAUDE_CODE)) as SavedState);
  const lines = createLineReader(saved.lines);
  const filePath = parsePath(path);
  /** Records read before the session's id is known. */
  let held: LineRecord[] = [];
  /** Position before the first of them. */
  let heldFrom = saved.lines;
  let file: OpenFile | undefined = saved.file && openFile(path, saved.file);
  /** Text of a side file that was read before the session's id was known. */
  let { side } = saved;

  function read(records: LineRecord[], final: boolean): ReadRecord[] {
    if (file !== undefined) return readAll(file, records);
    held = held.concat(records);
    const named = held.find(({ value }) => value !== undefined && sessionNameOf(value) !== undefined)?.value;
    const known = filePath.session_id !== undefined;
    if (!known && named === undefined && !final && held.length < MAX_HELD) {
      if (held.length === 0) heldFrom = lines.position();
      return [];
    }
    file = openFile(path, initialFile(identify(filePath, named)));
    const read = readAll(file, held);
    held = [];
    if (side !== undefined) read.push(...readSide(file, side));
    side = undefined;
    return read;
  }

  return {
    push: (chunk) => read(lines.push(chunk), false),
    settle() {
      const records = read(lines.settle(), false);
      const ending = file && settleFile(file);
      return ending === undefined ? records : [...records, ending];
    },
    close(stopped) {
      const records = read(lines.close(), true);
      const ending = file && closeFile(file, stopped);
      return ending === undefined ? records : [...records, ending];
    },
    readSide(text) {
      if (file !== undefined) return readSide(file, text);
      side = text;
      return [];
    },
    linkFacts: (): LinkFacts => (file ? linkFactsOf(file) : { sessions: [] }),
    checkpoint() {
      // Buffered records were not returned, so they are read again.
      const position = file === undefined ? heldFrom : lines.position();
      const state: SavedState = {
        lines: position,
        ...(side !== undefined && { side }),
        ...(file !== undefined && { file: file.state }),
      };
      return saveCheckpoint(CLAUDE_CODE, position.byte, savedGraph.toJson(state));
    },
  };
}

function readAll(file: OpenFile, records: readonly LineRecord[]): ReadRecord[] {
  return records.map((record) => readRecord(file, record));
}
