import { fingerprint } from "../fingerprint.ts";
import { asSessionId, type FileState } from "./file-state.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session-types.ts";

/** A file that is being read. */
export interface OpenFile {
  readonly path: string;
  /** Changes as the file is read. */
  readonly state: FileState;
  readonly main: Session;
  /** The runs of `state.inline`, in its order. */
  readonly inline: Session[];
  /** Whether a session's name is this file's. */
  isOwn(name: string): boolean;
  /** The fingerprint of a uuid. */
  printOf(uuid: string): number;
}

/** Continues a file from its state. */
export function openFile(path: string, state: FileState): OpenFile {
  const { session_id } = state.identity;
  return {
    path,
    state,
    main: openSession(state.main, path),
    inline: state.inline.map(({ session }) => openSession(session, path)),
    isOwn: (name) => asSessionId(name) === session_id,
    printOf: createPrints(),
  };
}

function createPrints(): OpenFile["printOf"] {
  /** Fingerprints of the uuids of this line and of the previous one, which is usually its parent. */
  let newest = { uuid: "", print: 0 };
  let previous = newest;
  return (uuid) => {
    if (uuid === newest.uuid) return newest.print;
    if (uuid === previous.uuid) return previous.print;
    previous = newest;
    newest = { uuid, print: fingerprint(uuid) };
    return newest.print;
  };
}
