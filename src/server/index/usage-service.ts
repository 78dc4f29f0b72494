import { addCosts, type CostFigures } from "../../model/figures/cost.ts";
import { PRICES_CHECKED } from "../../model/prices/list-prices.ts";
import type { OwnPrice } from "../../model/prices/price-table.ts";
import { plainProjectName, projectKey, projectNames } from "../../model/projects.ts";
import type { SessionSummary } from "../../model/session.ts";
import { tokensOf } from "../../model/tokens.ts";
import { countUsage } from "../../model/usage.ts";
import type { UsageGroup, UsageReply, UsageRow } from "../../protocol.ts";
import type { SessionUsage } from "../../store/index/contract.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { SearchThread } from "./search-thread.ts";
import { sessionOfKey } from "./session-indexing.ts";

/** The usage of all sessions, from the steps in the part index. */
export interface UsageService {
  /** `since`: milliseconds since 1970; `zone`: IANA name of the time zone that defines days. */
  sum(by: UsageGroup, period: { since: number; zone: string }): Promise<UsageReply>;
}

export function createUsage(options: {
  thread: Pick<SearchThread, "usage">;
  sessions: Sessions;
  prices: readonly OwnPrice[];
}): UsageService {
  const { thread, sessions, prices } = options;

  /** The listed session of an indexed one; `undefined`: it is a sample, or shown from another source. */
  function listed({ source, session }: SessionUsage): SessionSummary | undefined {
    const id = sessionOfKey(source) ?? sessions.indexedAs?.(source, session.id);
    const row = id === undefined ? undefined : sessions.get(id);
    return row?.sample === true || row?.scripted === true ? undefined : row;
  }

  return {
    async sum(by, { since, zone }) {
      const found = await thread.usage({ since, zone, prices });
      const groupOf = groupsBy(by, sessions);
      const groups = new Map<string, UsageSum>();
      const total = new UsageSum("", "");
      const known = new Map<string, SessionSummary | undefined>();
      const rowOf = (usage: SessionUsage): SessionSummary | undefined => {
        const id = `${usage.source} ${usage.session.id}`;
        if (!known.has(id)) known.set(id, listed(usage));
        return known.get(id);
      };
      for (const usage of found) {
        const row = rowOf(usage);
        if (row === undefined) continue;
        const { id, key, name = key } = groupOf(usage, row);
        const group = groups.get(id ?? key) ?? new UsageSum(key, name);
        groups.set(id ?? key, group);
        for (const sum of [group, total]) sum.add(usage, row);
      }
      const rows = [...groups.values()].map((group) => group.row());
      return {
        total: total.row(),
        rows: rows.toSorted((one, other) =>
          by === "day"
            ? other.key.localeCompare(one.key)
            : tokensIn(other) - tokensIn(one) || other.sessions - one.sessions,
        ),
        not_indexed: sessions.unindexed ?? 0,
        prices_checked: PRICES_CHECKED,
      };
    },
  };
}

const tokensIn = ({ usage }: UsageRow): number => (usage === undefined ? 0 : tokensOf(usage));

/** A group of usage: the key and the display name of its row. `id`: what identifies the group, if its key does not. */
interface Group {
  id?: string;
  key: string;
  name?: string;
}

/** Returns a function that assigns usage to its group. */
function groupsBy(by: UsageGroup, sessions: Sessions): (usage: SessionUsage, row: SessionSummary) => Group {
  switch (by) {
    case "day":
      return ({ day }) => ({ key: day });
    case "project": {
      // The same projects as in the list.
      const nameOf = projectNames(sessions.list());
      return ({ session }, row) => {
        const cwd = row.cwd ?? session.cwd;
        const project = nameOf(cwd === undefined ? row : { ...row, cwd });
        return { id: projectKey(project), key: plainProjectName(project) };
      };
    }
    case "agent":
      return (_usage, { agent, agent_name }) => ({
        key: agent,
        ...(agent_name !== undefined && { name: agent_name }),
      });
    case "model":
      return ({ model }, row) => ({ key: model ?? row.model ?? "" });
  }
  return by satisfies never;
}

/** The sum of a group. A session counts once, even if it worked on several days. */
class UsageSum {
  private readonly sessions = new Set<string>();
  private readonly runs = new Set<string>();
  private readonly costs: CostFigures[] = [];
  private readonly sum: UsageRow;

  constructor(key: string, name: string) {
    this.sum = {
      ...{ key, name, sessions: 0, runs: 0, steps: 0, tool_calls: 0, failed: 0, active: 0 },
      cost: addCosts([]),
    };
  }

  add(usage: SessionUsage, row: SessionSummary): void {
    const { sum } = this;
    (row.parent === undefined ? this.sessions : this.runs).add(row.id);
    for (const field of ["steps", "tool_calls", "failed", "active"] as const) sum[field] += usage[field];
    if (usage.usage !== undefined) sum.usage = countUsage(sum.usage, undefined, usage.usage);
    this.costs.push(usage.cost);
  }

  row(): UsageRow {
    return {
      ...this.sum,
      sessions: this.sessions.size,
      runs: this.runs.size,
      cost: addCosts(this.costs),
    };
  }
}
