import { isOpenedSession } from "../../../model/opened-session.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { OpenedFilesReply } from "../../../protocol.ts";
import { Refused } from "../../sessions/refused.ts";
import { sizeText } from "../large-files/segments.ts";
import type { GivenSessions } from "./given-sessions.ts";

/** Files are closed after this time without use, in milliseconds. */
export const UNUSED_MS = 60 * 60 * 1000;
/** Files stay open for this time after the last viewer leaves, so that the page can be reloaded. Milliseconds. */
export const UNVIEWED_MS = 60 * 1000;

/** Files that were opened together. */
export interface Group {
  given: GivenSessions;
  reply: OpenedFilesReply;
  bytes: number;
  /** Number of subscriptions to its sessions. */
  viewers: number;
  expires_at: number;
}

/** The groups of opened files, by the ids of their sessions. */
export interface Groups {
  /** The group of a session. Each lookup counts as use. */
  of(id: string): Group | undefined;
  /** Whether the session still belongs to this group. */
  has(id: string, group: Group): boolean;
  /** See `OpenedFiles`. */
  reserve(bytes: number): () => void;
  add(ids: Iterable<string>, group: Group): void;
  /** Closes the groups that expired. */
  sweep(): void;
  clear(): void;
}

/** Keeps groups until they expire. `limit`: their maximum total size in bytes. `onClose`: called with each session's id. */
export function createGroups(now: () => number, limit: number, onClose: (id: string) => void): Groups {
  const groups = new Map<string, Group>();
  let reserved = 0;

  function evict(group: Group): void {
    for (const [id, one] of groups) {
      if (one !== group) continue;
      groups.delete(id);
      onClose(id);
    }
    reserved -= group.bytes;
  }

  function sweep(): void {
    for (const group of new Set(groups.values())) if (group.expires_at <= now()) evict(group);
  }

  function of(id: string): Group | undefined {
    const group = isOpenedSession(id) ? groups.get(id) : undefined;
    if (group === undefined) return undefined;
    if (group.expires_at <= now()) {
      evict(group);
      return undefined;
    }
    group.expires_at = Math.max(group.expires_at, now() + (group.viewers > 0 ? UNUSED_MS : UNVIEWED_MS));
    return group;
  }

  function reserve(bytes: number): () => void {
    if (bytes > limit)
      throw new Refused(
        413,
        "too_large",
        daemonText("opened_together_too_large", { limit: sizeText(limit) }),
      );
    sweep();
    const unwatched = [...new Set(groups.values())]
      .filter(({ viewers }) => viewers === 0)
      .sort((one, other) => one.expires_at - other.expires_at);
    for (const group of unwatched) if (reserved + bytes > limit) evict(group);
    if (reserved + bytes > limit)
      throw new Refused(
        413,
        "too_large",
        daemonText("opened_all_too_large", { limit: sizeText(limit) }),
        daemonText("close_opened"),
      );
    reserved += bytes;
    let released = false;
    return () => {
      if (!released) reserved -= bytes;
      released = true;
    };
  }

  return {
    of,
    has: (id, group) => groups.get(id) === group,
    reserve,
    add(ids, group) {
      for (const id of ids) groups.set(id, group);
    },
    sweep,
    clear: () => groups.clear(),
  };
}
