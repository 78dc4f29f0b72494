import type { SessionLinkFacts } from "./contract.ts";

/** Link facts of a session, under its id in Verbatim. */
export interface KnownFacts extends SessionLinkFacts {
  /** The id in its file, if another source has a session with that id. Its agent, runs and calls use this id. */
  own_id?: string;
}

/** The parent of a run. Without `tool_call_id` the call that started it is unknown. It is still listed. */
interface RunToParent {
  session_id: string;
  parent_session_id: string;
  tool_call_id?: string;
}

interface CallSite {
  session_id: string;
  tool_call_id: string;
  prompt: string | undefined;
  at: number;
}

/** Clock tolerance in milliseconds. A call did not start a run that began earlier than this before it. */
const CLOCK_TOLERANCE_MS = 2_000;

/**
 * Joins runs to the calls that started them, for any format. The first match wins: the call's id, the agent's key of the run,
 * the same prompt (the earliest unmatched call before the run). A run without a matching call belongs to its parent if known,
 * otherwise to the top session of its group.
 */
export function linkRuns(facts: readonly SessionLinkFacts[]): RunToParent[] {
  const byCall = new Map<string, CallSite>();
  const byKey = new Map<string, CallSite>();
  const byPrompt = new Map<string, CallSite[]>();
  /** Globally unique keys (teammates, whose sessions are not in the group), or "several" if one occurs repeatedly. */
  const globalSites = new Map<string, CallSite | "several">();
  for (const { session_id, group, calls } of facts) {
    for (const { tool_call_id, agent_key, prompt, at } of calls) {
      const site: CallSite = { session_id, tool_call_id, prompt, at };
      setFirst(byCall, keyOf(group, tool_call_id), site);
      if (agent_key !== undefined) {
        setFirst(byKey, keyOf(group, agent_key), site);
        if (agent_key.includes("@"))
          globalSites.set(agent_key, globalSites.has(agent_key) ? "several" : site);
      }
      if (prompt !== undefined) {
        const sites = byPrompt.get(keyOf(group, prompt));
        if (sites === undefined) byPrompt.set(keyOf(group, prompt), [site]);
        else sites.push(site);
      }
    }
  }

  const runs = facts.flatMap(({ session_id, group, run }) =>
    run === undefined ? [] : [{ session_id, group, run }],
  );
  const found = new Map<string, CallSite>();
  const taken = new Set<CallSite>();
  for (const { session_id, group, run } of runs) {
    const named = run.tool_call_id === undefined ? undefined : byCall.get(keyOf(group, run.tool_call_id));
    const scoped = globalSites.get(run.agent_key);
    const site =
      named ?? byKey.get(keyOf(group, run.agent_key)) ?? (scoped === "several" ? undefined : scoped);
    if (site === undefined || site.session_id === session_id) continue;
    found.set(session_id, site);
    taken.add(site);
  }
  for (const sites of byPrompt.values()) sites.sort((a, b) => a.at - b.at);
  for (const { session_id, group, run } of [...runs].sort((a, b) => a.run.at - b.run.at)) {
    if (found.has(session_id) || run.prompt === undefined) continue;
    const site = byPrompt
      .get(keyOf(group, run.prompt))
      ?.find(
        (candidate) =>
          !taken.has(candidate) &&
          candidate.session_id !== session_id &&
          candidate.at <= run.at + CLOCK_TOLERANCE_MS &&
          (run.parent_session_id === undefined || run.parent_session_id === candidate.session_id),
      );
    if (site === undefined) continue;
    found.set(session_id, site);
    taken.add(site);
  }

  const parents = new Map<string, string>();
  return runs.flatMap(({ session_id, group, run }) => {
    const site = found.get(session_id);
    const choices = [site?.session_id, run.parent_session_id, group];
    const parent = choices.find(
      (choice) => choice !== undefined && choice !== session_id && !leadsTo(parents, choice, session_id),
    );
    if (parent === undefined) return [];
    parents.set(session_id, parent);
    return [
      {
        session_id,
        parent_session_id: parent,
        ...(site !== undefined && parent === site.session_id && { tool_call_id: site.tool_call_id }),
      },
    ];
  });
}

/** Whether following parents leads from one run to the other. Forged keys could create cycles. */
function leadsTo(parents: ReadonlyMap<string, string>, from: string, to: string): boolean {
  for (let at: string | undefined = from; at !== undefined; at = parents.get(at)) {
    if (at === to) return true;
  }
  return false;
}

function keyOf(group: string, name: string): string {
  return `${group} ${name}`;
}

function setFirst(map: Map<string, CallSite>, key: string, site: CallSite): void {
  if (!map.has(key)) map.set(key, site);
}
