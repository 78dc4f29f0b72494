import type { Frame } from "../../../model/frames/frame.ts";

/** Maximum nesting of stored values. History reads 500 levels, and an event adds some. */
export const MAX_DEPTH = 400;

/** Makes a frame storable: values nested too deep (in a tool's own data) are replaced by a note. */
export function storable(frame: Frame): Frame {
  if (frame.type === "message.delta" || frame.type === "message.tool_progress") return frame;
  // The cast is safe: the limit is deeper than the frame's own fields.
  return isDeeper(frame, MAX_DEPTH) ? (cutDepth(frame, MAX_DEPTH) as Frame) : frame;
}

/** Whether a JSON value is nested deeper than `levels`. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(item, levels - 1)) return true;
  }
  return false;
}

function cutDepth(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return "(nested too deeply to store)";
  if (Array.isArray(value)) return value.map((item) => cutDepth(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutDepth(item, levels - 1)]));
}

/** Joins consecutive deltas of the same text into one frame. */
export function joinDeltas(frames: readonly Frame[]): Frame[] {
  const joined: Frame[] = [];
  /** Texts of the last frame in `joined`, concatenated when the frame is complete. */
  let texts: string[] = [];
  let length = 0;
  const close = () => {
    const last = joined.at(-1);
    if (texts.length > 1 && (last?.type === "message.delta" || last?.type === "message.tool_progress")) {
      joined[joined.length - 1] = { ...last, text: texts.join("") };
    }
    texts = [];
    length = 0;
  };
  for (const frame of frames) {
    const last = joined.at(-1);
    if (last && texts.length > 0 && continues(last, length, frame)) {
      texts.push(frame.text);
      length += frame.text.length;
      continue;
    }
    close();
    joined.push(frame);
    if (frame.type === "message.delta" || frame.type === "message.tool_progress") {
      texts = [frame.text];
      length = frame.text.length;
    }
  }
  close();
  return joined;
}

type Growth = Extract<Frame, { type: "message.delta" | "message.tool_progress" }>;

/** Whether a frame appends to the same text as `last`, at the position `length`. */
function continues(last: Frame, length: number, frame: Frame): frame is Growth {
  if (last.type === "message.delta" && frame.type === "message.delta") {
    const follows =
      last.offset === undefined ? frame.offset === undefined : frame.offset === last.offset + length;
    return follows && last.kind === frame.kind && last.part_id === frame.part_id && last.bare === frame.bare;
  }
  if (last.type === "message.tool_progress" && frame.type === "message.tool_progress") {
    return last.tool_call_id === frame.tool_call_id && frame.offset === last.offset + length;
  }
  return false;
}
