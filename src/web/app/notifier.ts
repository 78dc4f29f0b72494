import type { AttentionItem, AttentionKind } from "../screens/sessions/attention.ts";
import type { NotifyOf } from "./settings.ts";

/** How long something must need attention before a notification is shown, in milliseconds: a person may be answering already. */
export const DWELL_MS = 5_000;
/** After a notification that a session ended, so long none says that it ended again, in milliseconds. */
export const REPEAT_MS = 60_000;

const KINDS: Readonly<Record<NotifyOf, ReadonlySet<AttentionKind>>> = {
  off: new Set(),
  waiting: new Set(["waiting"]),
  all: new Set(["waiting", "failed", "finished"]),
};

/**
 * Decides what a notification is shown of: what begins to need attention while the page is open, still does after a dwell, and is
 * not on screen by then. Each is shown once.
 */
export class Notifier {
  /** What has been seen, and when it is due; `undefined`: it was there when the page opened, or is done with. */
  private known = new Map<string, number | undefined>();
  private readonly shown_at = new Map<string, number>();
  private isFirst = true;

  /**
   * Takes the attention list as it is now. Returns what is to be shown, and when to look again. `isSeen`: whether the item's
   * session is what the reader looks at.
   */
  take(
    items: readonly AttentionItem[],
    of: NotifyOf,
    now: number,
    isSeen: (item: AttentionItem) => boolean,
  ): { show: AttentionItem[]; next: number | undefined } {
    const known = new Map<string, number | undefined>();
    const show: AttentionItem[] = [];
    for (const item of items) {
      if (!KINDS[of].has(item.kind)) continue;
      const isNew = !this.known.has(item.key) && !this.isFirst;
      const due = isNew ? now + DWELL_MS : this.known.get(item.key);
      const isDue = due !== undefined && due <= now;
      known.set(item.key, isDue ? undefined : due);
      if (isDue && !isSeen(item) && !this.isTooSoon(item, now)) {
        show.push(item);
        this.shown_at.set(item.row.id, now);
      }
    }
    this.known = known;
    // A reader who switches notifications on is not told of what was there before.
    this.isFirst = of === "off";
    const dues = [...known.values()].filter((due) => due !== undefined);
    return { show, next: dues.length === 0 ? undefined : Math.min(...dues) };
  }

  /** A question is always shown; that a session ended, not twice in a short time. */
  private isTooSoon({ kind, row }: AttentionItem, now: number): boolean {
    return kind !== "waiting" && now - (this.shown_at.get(row.id) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS;
  }
}
