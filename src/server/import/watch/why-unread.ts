import { causeOf } from "../../../model/narrow.ts";
import type { CodedText } from "../../../model/text/catalog.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";

/** Whether an error says that a path does not exist. */
export function isMissing(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

/** Why a path cannot be read. Matches the message, because errors from other threads lose their code. */
export function whyUnread(path: string, error: unknown): CodedText {
  const cause = causeOf(error);
  return /^E(?:ACCES|PERM):/.test(cause)
    ? daemonText("path_no_permission", { path })
    : daemonText("path_unreadable", { path, error: cause });
}
