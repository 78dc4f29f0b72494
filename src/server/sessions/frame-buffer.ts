import { hash, randomUUID } from "node:crypto";
import type { Frame } from "../../model/frames/frame.ts";
import {
  accumulateAndAddress,
  type FinalizeOptions,
  finalizeTranscript,
} from "../../model/transcript/accumulate.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../protocol.ts";

/** Number of frames that are kept for clients that reconnect. */
const MAX_FRAMES = 5_000;
/** Number of frames that are kept before the transcript is shown, for clients that were connected before a restart. */
const MAX_READ_FRAMES = 500;

/** One epoch of a session's channel: its transcript, its position, and the latest frames. */
export interface FrameBuffer {
  readonly epoch: string;
  readonly seq: number;
  readonly transcript: Transcript;
  /** Folds a frame and returns it as it is sent to clients. */
  push(frame: Frame): ChannelFrame;
  /** The frames after a position of this epoch; `undefined`: no longer kept, or not yet reached. */
  after(seq: number): readonly ChannelFrame[] | undefined;
  /**
   * A digest of all frames up to `seq`, and of the ends that no frame records. Two buffers with the same digest at the same `seq`
   * have the same transcript there, even across a restart of the daemon. `undefined`: not resumable, or no longer kept.
   */
  checkAt(seq: number): string | undefined;
  /** Keeps more frames from now on, because the transcript is shown. */
  hold(): void;
  /**
   * Ends parts that were left open by a crash or by a person (`stopped`). Returns a new epoch, because no frame records this.
   * `undefined`: nothing was open.
   */
  finalized(at: number, options: FinalizeOptions): FrameBuffer | undefined;
}

/** `resumable`: computes digests, so that clients can resume after a restart. `transcript`: what the first frame continues. */
export function createFrameBuffer(
  session_id: string,
  resumable = false,
  transcript = emptyTranscript(session_id),
): FrameBuffer {
  return createBuffer(session_id, {
    transcript,
    seq: 0,
    ...(resumable && { check: "" }),
  });
}

function createBuffer(
  session_id: string,
  start: { transcript: Transcript; seq: number; check?: string },
): FrameBuffer {
  const epoch = randomUUID();
  let { transcript, seq, check } = start;
  /** The digest before the first kept frame, and after each of them. */
  let checks = [check];
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
      if (check !== undefined) check = hash("sha1", check + JSON.stringify(folded.frame), "base64");
      if (holding || check !== undefined) {
        const most = holding ? MAX_FRAMES : MAX_READ_FRAMES;
        held.push(channelFrame);
        checks.push(check);
        if (held.length - dropped > most) dropped += 1;
        // Shifting the array for every frame would be expensive.
        if (dropped > most) {
          held = held.slice(dropped);
          checks = checks.slice(dropped);
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
    checkAt(at) {
      const missed = seq - at;
      return missed < 0 || missed > held.length - dropped ? undefined : checks.at(-1 - missed);
    },
    hold() {
      holding = true;
    },
    finalized(at, options) {
      const ended = finalizeTranscript(transcript, at, options);
      if (ended === transcript) return undefined;
      const fold = createBuffer(session_id, {
        transcript: ended,
        seq,
        ...(check !== undefined && {
          check: hash("sha1", `${check} ended ${at} ${options.stopped === true}`, "base64"),
        }),
      });
      fold.hold();
      return fold;
    },
  };
}
