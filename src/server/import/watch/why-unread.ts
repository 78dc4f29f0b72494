import { causeOf } from "../../../model/narrow.ts";

/** Whether an error says that a path does not exist. */
export function isMissing(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

/** The reason for a path that the user may not read. */
export const NO_PERMISSION = "no permission to read it";

/** Why a path cannot be read. Matches the message, because errors from other threads lose their code. */
export function whyUnread(error: unknown): string {
  const cause = causeOf(error);
  return /^E(?:ACCES|PERM):/.test(cause) ? NO_PERMISSION : `it cannot be read: ${cause}`;
}
