import { randomUUID } from "node:crypto";
import type { Frame } from "../../model/frames/frame.ts";
import { accumulateAndAddress, finalizeTranscript } from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../protocol.ts";

/** Number of frames that are kept for clients that reconnect. */
const MAX_FRAMES = 5_000;

/** One epoch of a session's channel: its transcript, its position, and the latest frames. */
export interface FrameBuffer {
  readonly epoch: string;
  readonly seq: number;
  readonly transcript: Transcript;
  /** Folds a frame and returns it as it is sent to clients. */
  push(frame: Frame): ChannelFrame;
  /** The frames after a position of this epoch; `undefined`: no longer kept, or not yet reached. */
  after(seq: number): readonly ChannelFrame[] | undefined;
  /** Starts keeping frames. Earlier ones are only in the transcript. */
  hold(): void;
  /**
   * Ends what was left open by a crash or by a person (`stopped`). Returns a new epoch, because no frame records this.
   * `undefined`: nothing was open.
   */
  finalized(at: number, stopped: boolean): FrameBuffer | undefined;
}

export function createFrameBuffer(
  session_id: string,
  start: Transcript = emptyTranscript(session_id),
): FrameBuffer {
  const epoch = randomUUID();
  let transcript = start;
  let seq = 0;
  let holding = false;
  /** The frames `seq - held.length + 1 … seq`, and some dropped ones before index `dropped`. */
  let held: ChannelFrame[] = [];
  let dropped = 0;
  return {
    epoch,
    get seq() {
      return seq;
    },
    get transcript() {
      return transcript;
    },
    push(frame) {
      const folded = accumulateAndAddress(transcript, frame);
      transcript = folded.transcript;
      seq += 1;
      const channelFrame = { seq, frame: folded.frame };
      if (holding) {
        held.push(channelFrame);
        if (held.length - dropped > MAX_FRAMES) dropped += 1;
        // Shifting the array for every frame would be expensive.
        if (dropped > MAX_FRAMES) {
          held = held.slice(dropped);
          dropped = 0;
        }
      }
      return channelFrame;
    },
    after(from) {
      const missed = seq - from;
      if (missed < 0 || missed > held.length - dropped) return undefined;
      return missed === 0 ? [] : held.slice(-missed);
    },
    hold() {
      holding = true;
    },
    finalized(at, stopped) {
      const ended = finalizeTranscript(transcript, at, stopped);
      if (ended === transcript) return undefined;
      const fold = createFrameBuffer(session_id, ended);
      fold.hold();
      return fold;
    },
  };
}
