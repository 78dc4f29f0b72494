import type { RecordPlace } from "./format.ts";

/** One record of a file of JSON lines: parsed, or what kept it from being parsed. */
export type LineRecord =
  | { place: RecordPlace; value: unknown; text?: undefined; error?: undefined }
  | { place: RecordPlace; text: string; error: string; value?: undefined };

/**
 * Cuts bytes into JSON records: splits at newline bytes only (never at U+2028), survives chunks that end anywhere, takes
 * apart records joined on one line (`}{`), skips runs of NUL bytes, and gives every record its place.
 */
export interface LineReader {
  push(chunk: Uint8Array): LineRecord[];
  settle(): LineRecord[];
  close(): LineRecord[];
}
export declare function createLineReader(): LineReader;
