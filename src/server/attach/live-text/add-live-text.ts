import type { Frame } from "../../../model/frames/frame.ts";
import type { TranscriptPart } from "../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../../protocol.ts";
import type { OpenSession } from "../../sessions/sessions.ts";
import type { LiveTexts } from "./live-texts.ts";

/** Number of parts at the end of a transcript that are compared with the live parts when it is opened or replaced. */
const TAIL = 200;

type Recorded = TranscriptPart | { type: "turn_end"; at: number };

/**
 * Adds the live parts to an opened session. Its transcript and frames are unchanged: live parts are sent beside them, and the
 * event with the frames of a record also has the change that removes the replaced live part. At most one subscriber per session
 * at a time, which is its channel.
 */
export function addLiveText(open: OpenSession, texts: LiveTexts): OpenSession {
  const { id } = open;
  return {
    id,
    get epoch() {
      return open.epoch;
    },
    get seq() {
      return open.seq;
    },
    get transcript() {
      return open.transcript;
    },
    get summary() {
      return open.summary;
    },
    get live() {
      return texts.partsOf(id);
    },
    framesAfter: (epoch, seq, check) => open.framesAfter(epoch, seq, check),
    checkAt: (seq) => open.checkAt?.(seq),
    subscribe(listener) {
      texts.record(id, tailOf(open.transcript));
      const endLive = texts.subscribe(id, (live) => listener({ type: "frames", frames: [], live }));
      const endFrames = open.subscribe((event) => {
        if (event.type === "reset") {
          texts.record(id, tailOf(open.transcript));
          return listener(event);
        }
        const live = texts.record(id, recordedBy(event.frames, open.transcript));
        listener(live === undefined ? event : { ...event, live });
      });
      return () => {
        endLive();
        endFrames();
      };
    },
  };
}

/** What frames have recorded: the parts that they opened or changed, in order, and ends of turns. */
function recordedBy(frames: readonly ChannelFrame[], transcript: Transcript): Recorded[] {
  const recorded: Recorded[] = [];
  const positions = new Set<number>();
  for (const { frame } of frames) {
    const { part_index } = frame;
    if (part_index !== undefined && !positions.has(part_index)) {
      positions.add(part_index);
      const part = transcript.parts.at(part_index);
      if (part !== undefined) recorded.push(part);
    }
    if (endsTurn(frame)) recorded.push({ type: "turn_end", at: frame.at });
  }
  return recorded;
}

/** Whether the frame ends the running turn. */
function endsTurn(frame: Frame): boolean {
  switch (frame.type) {
    case "turn.end":
    case "interrupt":
    case "end":
      return true;
    case "user.message":
      return frame.queued !== true;
    case "marker":
      return frame.kind === "interrupt";
    default:
      return false;
  }
}

/** The end of a transcript, as if it had just been recorded. */
function tailOf({ parts, turns }: Transcript): Recorded[] {
  const turn = turns.at(turns.length - 1);
  const recorded: Recorded[] = [];
  const first = Math.max(turn?.first_part ?? 0, parts.length - TAIL);
  for (let index = first; index < parts.length; index += 1) {
    const part = parts.at(index);
    if (part !== undefined) recorded.push(part);
  }
  if (turn !== undefined && turn.status !== "running" && turn.ended_at !== undefined)
    recorded.push({ type: "turn_end", at: turn.ended_at });
  return recorded;
}
