import type { Hono } from "hono";
import { isUuid } from "../../model/is-uuid.ts";
import { ruleBody, ruleTrialBody } from "../../model/rules/rule.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { RulesReply } from "../../protocol.ts";
import { SearchTimeout } from "../index/search-thread.ts";
import type { RuleTrial } from "../index/try-rule.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Rules } from "../sessions/rules.ts";

/** Adds the routes that list, change and try the rules, and end their alerts. `trial` absent: nothing is indexed. */
export function addRulesRoutes(app: Hono, rules: Rules, trial: RuleTrial | undefined): void {
  app.get("/api/rules", (context) => {
    const reply: RulesReply = { rules: [...rules.list()] };
    return context.json(reply);
  });
  app.post("/api/rules/try", async (context) => {
    const body = await readBody(context, ruleTrialBody);
    if (!trial) throw new Refused(409, "no_index", daemonText("no_index"));
    try {
      return context.json(await trial.tryRule(body));
    } catch (error) {
      if (!(error instanceof SearchTimeout)) throw error;
      throw new Refused(400, "slow_query", error.title, daemonText("simpler_expression"));
    }
  });
  app.post("/api/rules/:rule", async (context) => {
    const id = context.req.param("rule");
    if (!isUuid(id)) throw new Refused(400, "rule_id", daemonText("rule_id_not_uuid"));
    return context.json({ rule: rules.put(id, await readBody(context, ruleBody)) });
  });
  app.post("/api/rules/:rule/delete", (context) => {
    rules.remove(context.req.param("rule"));
    return context.json({});
  });
  app.post("/api/rules/:rule/done/:session", (context) => {
    rules.done(context.req.param("rule"), context.req.param("session"));
    return context.json({});
  });
}
