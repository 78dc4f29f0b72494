import type { StatusReply } from "../protocol.ts";

/** A notice for the user, with a remedy if there is one. */
export type Notice = StatusReply["notices"][number];

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
export function remedyOf({ kind }: StoreError): string {
  switch (kind) {
    case "broken":
      return "Restart Verbatim. It quarantines the damaged store and creates a new one.";
    case "locked":
      return "Close the store in the other program. Writing then resumes automatically.";
    case "moved":
      return "Move the store back, and writing resumes automatically. Or restart Verbatim to use what is there now.";
    case "full":
    case "refused":
      return "Free some space on the disk of the data folder. Writing then resumes automatically.";
    default:
      return kind satisfies never;
  }
}
