import { join } from "node:path";
import type { Format, SessionPath } from "../../../sources/contract.ts";

/** A folder below which one agent keeps its sessions. */
export interface WatchRoot {
  format: Format;
  /** The agent's folder. `Format.classify` gets paths relative to it. */
  path: string;
  /** Contains the samples that ship with Verbatim. */
  sample?: boolean;
  /** An internal folder of Verbatim that the page does not show. */
  internal?: boolean;
  /** Subfolders to scan. Absent: those of the format. */
  folders?: readonly string[];
}

/** A session file's metadata, known without reading it. */
export interface FoundFile {
  path: string;
  format: Format;
  kind: SessionPath["kind"];
  side?: string;
  /** See `SessionPath`. */
  replaced_by?: string;
  /** Changes when the side file does. Absent: there is no side file. */
  side_stamp?: string;
  /** `device:inode`. */
  inode: string;
  size: number;
  modified_at: number;
  sample: boolean;
}

/** The known classification of a file. */
export type KnownFile = Pick<FoundFile, "path" | "format" | "kind" | "side">;

/** The folders that are scanned below a root. */
export const scannedFolders = ({ format, path, folders = format.root?.folders ?? [] }: WatchRoot): string[] =>
  folders.map((folder) => join(path, folder));

/** Whether another file of the same session is read instead of this one. */
export const isReplaced = (
  { replaced_by }: Pick<FoundFile, "replaced_by">,
  files: ReadonlyMap<string, FoundFile>,
): boolean => replaced_by !== undefined && (files.get(replaced_by)?.size ?? 0) > 0;
