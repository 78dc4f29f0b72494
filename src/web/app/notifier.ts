import type { AttentionItem, AttentionKind } from "../screens/sessions/attention.ts";
import type { NotifyOf } from "./settings.ts";

/** How long an item must need attention before a notification is shown, in milliseconds: the user may already be answering. */
export const DWELL_MS = 5_000;
/** Minimum time between two notifications that the same session ended, in milliseconds. */
export const REPEAT_MS = 60_000;

const KINDS: Readonly<Record<NotifyOf, ReadonlySet<AttentionKind>>> = {
  off: new Set(),
  waiting: new Set(["waiting", "rule"]),
  all: new Set(["waiting", "rule", "failed", "unknown", "finished"]),
};

/**
 * Decides which notifications to show: one for each item that starts to need attention while the page is open, still needs it
 * after `DWELL_MS`, and is not on screen then.
 */
export class Notifier {
  /** When each known item is due. `undefined`: it existed when the page was opened, or was already handled. */
  private known = new Map<string, number | undefined>();
  private readonly shown_at = new Map<string, number>();
  private isFirst = true;

  /**
   * Takes the current attention list. Returns the items to show, and when to call again. `isSeen`: whether the item's session is
   * on screen.
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
    // After notifications are enabled, items that already exist are not shown.
    this.isFirst = of === "off";
    const dues = [...known.values()].filter((due) => due !== undefined);
    return { show, next: dues.length === 0 ? undefined : Math.min(...dues) };
  }

  /** Requests and alerts are always shown. The end of a session is shown at most once per `REPEAT_MS`. */
  private isTooSoon({ kind, row }: AttentionItem, now: number): boolean {
    if (kind === "waiting" || kind === "rule") return false;
    return now - (this.shown_at.get(row.id) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS;
  }
}
