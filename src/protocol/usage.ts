import type * as z from "zod";
import type { CostFigures } from "../model/figures/cost.ts";
import type { usage } from "../model/messages/message.ts";

/** The groups into which the usage of all sessions can be divided. */
export const USAGE_GROUPS = ["day", "project", "agent", "model"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The usage of a group's steps. */
export interface UsageRow {
  /**
   * The day such as `2026-09-16`, the project (`owner/name` of its repository, with the host unless it is github.com, or its
   * folder), the agent's id, or the model. Empty: not recorded.
   */
  key: string;
  /** Display name. */
  name: string;
  /** Number of sessions and of runs with steps in the group. */
  sessions: number;
  runs: number;
  steps: number;
  tool_calls: number;
  failed: number;
  /** Milliseconds in which models or tools were active, summed over the sessions. */
  active: number;
  /** Absent: no step has usage. */
  usage?: z.infer<typeof usage>;
  cost: CostFigures;
}

/** `GET /api/usage?by=&since=&zone=`: days sorted newest first, other groups by tokens in descending order. */
export interface UsageReply {
  rows: readonly UsageRow[];
  total: UsageRow;
  /** Number of files and sessions whose current state is not indexed yet. */
  not_indexed: number;
  /** Date of the list prices. */
  prices_checked: string;
}
