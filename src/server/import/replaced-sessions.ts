import { realpathSync } from "node:fs";
import type { Links } from "./links.ts";
import { isArchivedLog } from "./record-logs/log-writer.ts";
import { type IndexedSession, modifiedAt, type SessionFile } from "./session-file.ts";

interface ReplacedSessionsOptions {
  indexed: ReadonlyMap<string, IndexedSession>;
  links: Pick<Links, "facts" | "idOf">;
  /** Files and folders that the user named. */
  paths: readonly string[];
  isOff(entry: SessionFile): boolean;
}

/**
 * Finds the session that is listed in place of another one (`SessionLinkFacts.replaced_by`). An archived session does not replace
 * one that is not, and a file that the user named is listed in any case.
 */
export function createReplacedSessions(options: ReplacedSessionsOptions): (id: string) => string | undefined {
  const { indexed, links, isOff } = options;
  const named = new Set(options.paths.map(realPath));
  return (id) => {
    const replaced_by = links.facts(id)?.replaced_by;
    if (replaced_by === undefined) return undefined;
    const state = indexed.get(id);
    const other = indexed.get(links.idOf(replaced_by.session_id));
    if (state === undefined || other === undefined || named.has(state.entry.path)) return undefined;
    if (replaced_by.if_newer && modifiedAt(state.entry) > modifiedAt(other.entry)) return undefined;
    const isListed = other.summary.parts > 0 && !isOff(other.entry);
    return isListed && (!isArchived(other) || isArchived(state)) ? other.id : undefined;
  };
}

const isArchived = ({ entry }: IndexedSession): boolean => entry.gone || isArchivedLog(entry.path);

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
