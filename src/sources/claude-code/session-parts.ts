import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { isUuid } from "../../model/is-uuid.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { titleFields } from "../../model/text/titles.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import type { Disposition } from "../contract.ts";
import { MAX_PARTS_OF_LINE } from "./memory.ts";
import type { Line, Session, SessionFunctions } from "./session-types.ts";

/** Completes a frame in place. Copying each frame would take a tenth of the reading time. */
export function complete(session: Session, line: Line, frame: FrameBody): Frame {
  // `Omit` over a union loses the relation between members. The fields complete any of them.
  const whole = frame as Frame;
  whole.session_id = session.session_id;
  whole.at = line.at;
  line.frames.push(whole);
  return whole;
}

/** Pushes a frame without a source: turn and step boundaries derive from several records. */
export function pushUnplaced(session: Session, line: Line, frame: FrameBody): void {
  complete(session, line, frame);
}

/** Pushes a record, or a part of it, of an unknown kind. */
export function pushUnknown(session: Session, line: Line, raw: unknown, title: DisplayText): Disposition {
  const { part_id } = session.recordPart(line);
  session.push(line, { type: "unknown", part_id, raw, ...titleFields(title) });
  return { kind: "unknown" };
}

function remember(session: Session, line: Line, message_id: string, part_id: string): void {
  // A uuid that several lines share identifies none of them.
  if (line.uuid === undefined || line.key !== line.uuid) return;
  const known = session.partsOfLine.get(line.uuid);
  if (known === undefined) session.partsOfLine.set(line.uuid, { message_id, part_ids: [part_id] });
  else {
    known.part_ids.push(part_id);
    if (known.part_ids.length > MAX_PARTS_OF_LINE) known.part_ids.shift();
  }
}

/** Emits the facts of a patch that have changed. */
function update(session: Session, line: Line, patch: SessionPatch): void {
  const { own } = session;
  let changes: SessionPatch | undefined;
  // A run's name and task are recorded in several places.
  const whole =
    patch.run === undefined ? patch : { ...patch, run: { ...own.emitted_patch.run, ...patch.run } };
  for (const name in whole) {
    // `for…in` types its keys as `string`.
    const key = name as keyof SessionPatch;
    const value = whole[key];
    const before = own.emitted_patch[key];
    if (value === undefined || value === before) continue;
    if (typeof value === "object" && JSON.stringify(before) === JSON.stringify(value)) continue;
    changes = { ...changes, [key]: value };
  }
  if (changes === undefined) return;
  Object.assign(own.emitted_patch, changes);
  pushUnplaced(session, line, { type: "session.update", patch: changes });
}

/** The ids and contents of a session's parts. */
export function partFunctions(
  session: Session,
): Pick<SessionFunctions, "update" | "recordPart" | "stepPart" | "marker"> {
  const { own } = session;
  /** The record whose parts `recordPart` counts. */
  let counted: { line: Line; message_id: string; parts: number } | undefined;
  return {
    update: (line, patch) => update(session, line, patch),

    recordPart(line) {
      own.stopped = false;
      if (counted?.line !== line) {
        // Use the agent's id if it is a UUID: hashing a name for every record would be slow in long sessions.
        const message_id = isUuid(line.key) ? line.key : uuidFrom(session.session_id, "record:", line.key);
        counted = { line, message_id, parts: 0 };
      }
      const part_id = partId(counted.message_id, counted.parts);
      counted.parts += 1;
      remember(session, line, counted.message_id, part_id);
      return { message_id: counted.message_id, part_id };
    },

    stepPart(line, step) {
      own.stopped = false;
      const part_id = partId(step.message_id, step.parts);
      step.parts += 1;
      remember(session, line, step.message_id, part_id);
      // A late block of an answer that seemed complete: its turn is running again.
      session.turnOpen = true;
      return part_id;
    },

    marker(line, kind, title, text, data) {
      const { message_id, part_id } = session.recordPart(line);
      session.push(line, {
        type: "marker",
        part_id,
        message_id,
        kind,
        ...titleFields(title),
        ...(text !== undefined && text !== "" && { text }),
        ...(data !== undefined && { data }),
      });
    },
  };
}
