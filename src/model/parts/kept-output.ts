import type { TranscriptPart } from "../transcript/transcript.ts";

/** Bytes of it that travel at once. Not with the others in `protocol.ts`: the list, which comes first, has no use for it. */
export const OUTPUT_PIECE = 2 * 1024 * 1024;

/** A file in which an agent kept the whole of an output, of which it saw a part itself. */
interface KeptOutput {
  readonly path: string;
  readonly byte_size?: number;
}

export function keptOutputOf(part: TranscriptPart): KeptOutput | undefined {
  const extra = part.type === "tool_result" ? part.ui_extra : undefined;
  if (extra?.persisted_path === undefined) return undefined;
  const { persisted_path: path, persisted_bytes: byte_size } = extra;
  return byte_size === undefined ? { path } : { path, byte_size };
}

/** A result's text without what its agent wrote around it to say that the whole is in a file. */
export function ownOutput({ output_text, ui_extra }: TranscriptPart & { type: "tool_result" }): string {
  return ui_extra?.output_stop !== undefined
    ? output_text.slice(ui_extra.output_start, ui_extra.output_stop)
    : output_text;
}
