import { randomUUID } from "node:crypto";
import type { Frame } from "../../model/frames/frame.ts";
import { accumulateAndAddress, finalizeTranscript } from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../protocol.ts";

/** Frames that are held for clients that lost their connection for a moment. */
const MAX_FRAMES = 5_000;

/** One life of a session's channel: its transcript, its position, and the last frames. */
export interface FrameBuffer {
  readonly epoch: string;
  readonly seq: number;
  readonly transcript: Transcript;
  /** Folds a frame; gives it as it goes to clients. */
  push(frame: Frame): ChannelFrame;
  /** The frames after a position of this life; `undefined`: no longer held, or not yet there. */
  after(seq: number): readonly ChannelFrame[] | undefined;
  /** From here on frames are held: what came before is only in the transcript. */
  hold(): void;
  /**
   * Ends what a crash, or a person (`stopped`), left open, as a new life of the channel, since no frame says such a thing.
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
  /** The frames `seq - held.length + 1 … seq`, and some dropped ones before `dropped`. */
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
        // Moving the array for every frame would cost what it holds.
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
