import type { Hono } from "hono";
import { createDayNames } from "../../model/day-names.ts";
import { USAGE_GROUPS, type UsageReply } from "../../protocol.ts";
import type { UsageService } from "../index/usage-service.ts";
import { Refused } from "../sessions/refused.ts";

/** Adds the route of the usage of all sessions. */
export function addUsageRoute(app: Hono, usage: UsageService): void {
  app.get("/api/usage", async (context) => {
    const { by, since = "0", zone = "UTC" } = context.req.query();
    const group = USAGE_GROUPS.find((each) => each === by);
    if (group === undefined)
      throw new Refused(400, "query", `\`by\` must be one of ${USAGE_GROUPS.join(", ")}.`);
    if (!/^\d{1,15}$/.test(since))
      throw new Refused(400, "query", "`since` must be a time in milliseconds since 1970.");
    if (!isZone(zone))
      throw new Refused(400, "query", "`zone` must be a time zone, such as `Europe/Berlin`.");
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
