import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { OutputFile } from "../contract.ts";

/** A file that a result names, with the output that was too long for the record. */
export interface NamedOutputFile {
  path: string;
  /** Length of the file in bytes. */
  byte_size?: number | undefined;
  /** Start of the tool's own output in the record's text, after the agent's note about the file. */
  output_start?: number | undefined;
}

/** Adds the file with the complete output to a result's payload. */
export function withOutputFile(
  payload: UiExtra | undefined,
  file: NamedOutputFile | undefined,
): UiExtra | undefined {
  if (file === undefined) return payload;
  const { path, byte_size, output_start } = file;
  return {
    ...(payload ?? { type: "output" }),
    persisted_path: path,
    ...(byte_size !== undefined && { persisted_bytes: byte_size }),
    ...(output_start !== undefined && { output_start }),
  };
}

/**
 * The file that a record names, in the agent's folder for outputs. The recorded path may begin differently, because the session was
 * moved since. `undefined`: the path does not lead into such a folder.
 */
export function outputFileIn(folder: string, recorded: string): OutputFile | undefined {
  const names = recorded.split(/[\\/]/);
  const name = folder.split(/[\\/]/).at(-1) ?? "";
  const below = names.slice(names.lastIndexOf(name) + 1);
  const isInside = below.length < names.length && below.every((each) => !["", ".", ".."].includes(each));
  return isInside && below.length > 0 ? { folder, path: `${folder}/${below.join("/")}` } : undefined;
}
