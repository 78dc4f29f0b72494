import type { CodedText } from "../model/text/catalog.ts";
import { daemonText } from "../model/text/daemon-texts.ts";
import { type DisplayText, textFields } from "../model/text/display-text.ts";
import type { StatusReply } from "../protocol.ts";

/** A notice for the user, with a remedy if there is one. */
export type Notice = StatusReply["notices"][number];

/** A notice with the codes of its texts. */
export const noticeOf = (level: Notice["level"], text: DisplayText, remedy?: DisplayText): Notice => ({
  level,
  ...textFields("text", text),
  ...(remedy !== undefined && textFields("remedy", remedy)),
});

/** Identifies the state of a file without reading all of it, and distinguishes files at the same path. */
export interface FileIdentity {
  /** `device:inode`. */
  inode: string;
  /** In bytes. */
  size: number;
  /** Milliseconds, with the file system's precision. */
  modified_at: number;
  /** Hex SHA-256 of the first `head_length` bytes (at most 1,024). */
  head: string;
  head_length: number;
  /** Hex SHA-256 of the last 256 bytes. */
  tail: string;
}

/**
 * `full`: no space or a failing disk, retry later. `locked`: by another program. `moved`: its files were removed or moved.
 * `broken`: the store is damaged. `refused`: any other error.
 */
export class StoreError extends Error {
  readonly kind: "full" | "locked" | "moved" | "broken" | "refused";
  constructor(kind: StoreError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** What the user can do about a store that cannot be written. */
export function remedyOf({ kind }: StoreError): CodedText {
  switch (kind) {
    case "broken":
      return daemonText("restart_quarantines");
    case "locked":
      return daemonText("close_store");
    case "moved":
      return daemonText("move_store_back");
    case "full":
    case "refused":
      return daemonText("free_data_folder");
    default:
      return kind satisfies never;
  }
}
