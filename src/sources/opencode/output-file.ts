import type { JsonObject } from "../../model/narrow.ts";
import { asText } from "../../model/narrow.ts";
import type { OutputFile } from "../contract.ts";
import { type NamedOutputFile, outputFileIn } from "../conversation/output-file.ts";

/** The start of a truncated output. Source: `packages/opencode/src/tool/truncate.ts` and `bash.ts` of sst/opencode. */
const NOTE = /^\.\.\.output truncated\.\.\.\n\nFull output saved to: [^\n]+\n\n/;

/** The file with the complete output of a call, by the metadata of its state. opencode deletes it after a week. */
export function outputFileOfState(metadata: JsonObject, output: string): NamedOutputFile | undefined {
  const path = asText(metadata.outputPath);
  return path === undefined ? undefined : { path, output_start: NOTE.exec(output)?.[0].length };
}

/** Long outputs of all sessions are in `tool-output` beside the store. */
export function openCodeOutputFile(store_path: string, recorded_path: string): OutputFile | undefined {
  const data = /^(.*)[\\/](?:storage(?:[\\/].*)?|[^\\/]+\.db)$/.exec(store_path)?.[1];
  return data === undefined ? undefined : outputFileIn(`${data}/tool-output`, recorded_path);
}
