import type { TranscriptPart } from "../transcript/transcript.ts";

/**
 * Maximum bytes of a file per reply. Not in `protocol.ts` like the other limits, because the list, which is loaded first, does
 * not need it.
 */
export const OUTPUT_PIECE = 2 * 1024 * 1024;

/** A file with the complete output of a call, of which the agent saw only a part. */
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

/** A result's text without the agent's notice about the file with the complete output. */
export function ownOutput({ output_text, ui_extra }: TranscriptPart & { type: "tool_result" }): string {
  return output_text.slice(ui_extra?.output_start, ui_extra?.output_stop);
}
