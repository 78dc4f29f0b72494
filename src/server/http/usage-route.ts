import type { Hono } from "hono";
import { createDayNames } from "../../model/day-names.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { USAGE_GROUPS, type UsageReply } from "../../protocol.ts";
import type { UsageService } from "../index/usage-service.ts";
import { Refused } from "../sessions/refused.ts";

/** Adds the route of the usage of all sessions. */
export function addUsageRoute(app: Hono, usage: UsageService): void {
  app.get("/api/usage", async (context) => {
    const { by, since = "0", zone = "UTC" } = context.req.query();
    const group = USAGE_GROUPS.find((each) => each === by);
    if (group === undefined)
      throw new Refused(400, "query", daemonText("usage_by_not_known", { groups: USAGE_GROUPS.join(", ") }));
    if (!/^\d{1,15}$/.test(since)) throw new Refused(400, "query", daemonText("usage_since_not_time"));
    if (!isZone(zone)) throw new Refused(400, "query", daemonText("usage_zone_not_known"));
    const reply: UsageReply = await usage.sum(group, { since: Number(since), zone });
    return context.json(reply);
  });
}

function isZone(zone: string): boolean {
  try {
    createDayNames(zone);
    return true;
  } catch {
    return false;
  }
}
