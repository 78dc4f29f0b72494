import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Format, OutputFile } from "../../sources/contract.ts";

/** The file that a part's record names, where it is now. `path`: of the session's file. */
export function outputFileOf(
  { source }: TranscriptPart,
  { format, path }: { format: Format; path: string },
  recorded_path: string,
): OutputFile | undefined {
  // The records of a store are in a log of Verbatim.
  const store = source?.kind === "row" || source?.kind === "document" ? source.file : undefined;
  return format.outputFile?.(store ?? path, recorded_path);
}
