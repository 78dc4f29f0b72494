import { asNumber, asObject, type JsonObject } from "../../model/narrow.ts";
import type { Disposition } from "../contract.ts";
import { folded, hidden } from "./disposition.ts";
import type { TurnWriter } from "./turn-writer.ts";
import { readUsage } from "./usage.ts";

/** What `UsageRecords` keeps between two records. Plain JSON. */
export interface UsageState {
  hasRecords: boolean;
  /** The session's totals at the last count. Equal totals are ignored. */
  totals: string;
}

/**
 * Reads the token usage of model calls. Some files have a record after each answer; all have counts that events repeat. Once a
 * record was read, records are used. Nothing at the start of the file says whether there are any.
 */
export class UsageRecords {
  private readonly writer: TurnWriter;
  private readonly state: UsageState;

  constructor(writer: TurnWriter, state: UsageState) {
    this.writer = writer;
    this.state = state;
  }

  record(payload: JsonObject): Disposition {
    this.state.hasRecords = true;
    this.writer.state.endsByOutputs = false;
    const usage = readUsage(asObject(payload.usage));
    if (usage === undefined) return hidden("empty usage");
    if (!this.writer.countUsage(usage)) return hidden("usage without a step");
    return folded("the step");
  }

  tokenCount(payload: JsonObject): Disposition {
    const info = asObject(payload.info);
    if (info === undefined) return hidden("rate limits");
    const last = asObject(info.last_token_usage);
    const sum = asObject(info.total_token_usage);
    const total = `${asNumber(sum?.total_tokens)}/${asNumber(sum?.input_tokens)}/${asNumber(sum?.output_tokens)}`;
    const tokens = asNumber(last?.total_tokens);
    const limit = asNumber(info.model_context_window);
    const { session_id, now } = this.writer;
    if (tokens !== undefined && tokens > 0) {
      this.writer.push({
        type: "context.usage",
        session_id,
        at: now.at,
        tokens,
        ...(limit === undefined || limit === 0 ? {} : { limit }),
      });
    }
    const changed = total !== this.state.totals;
    this.state.totals = total;
    if (!changed || this.state.hasRecords) return folded("the session's usage");
    const usage = readUsage(last);
    if (usage === undefined || usage.input + usage.output + (usage.cache_read ?? 0) === 0) {
      return folded("the session's usage");
    }
    return this.writer.countUsage(usage) ? folded("the step") : hidden("usage without a step");
  }
}
