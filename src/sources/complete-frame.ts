import type { Frame } from "../model/frames/frame.ts";
import type { FrameBody } from "../model/frames/frame-writer.ts";

/**
 * Completes a frame's body in place, because copying objects of many shapes is one of the slowest steps of reading. `source`:
 * used if the body has none.
 */
export function completeFrame(
  body: FrameBody,
  session_id: string,
  at: number,
  source: Frame["source"] | undefined,
): Frame {
  // Every member of `FrameBody` becomes a member of `Frame` with these fields.
  const frame = body as Frame;
  frame.session_id = session_id;
  frame.at = at;
  if (source !== undefined && frame.source === undefined) frame.source = source;
  return frame;
}
