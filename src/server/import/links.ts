import type { SessionLinkFacts } from "../../sources/contract.ts";
import { type KnownFacts, linkRuns } from "../../sources/link-runs.ts";

/** The parent of a run. Without `tool_call_id` the call that started it is unknown. */
export interface Link {
  parent: string;
  tool_call_id?: string;
}

/** Links runs to the calls that started them, across all files. Links are recomputed when facts change. */
export interface Links {
  /** Returns `false` if nothing changed. */
  setFacts(facts: KnownFacts): boolean;
  facts(session_id: string): KnownFacts | undefined;
  /** Maps an agent's own session id to the listed id. */
  idOf(own_id: string): string;
  /** The id by which the agent's process registry and titles refer to a session. */
  registeredAs(session_id: string): string;
  /** The session to which a registry id refers, and the later files that continue it. */
  registered(own_id: string): { session_id: string; later: ReadonlySet<string> };
  /** The sessions that this one replaces, as their own facts say. */
  replaces(session_id: string): ReadonlySet<string>;
  remove(session_id: string): void;
  of(session_id: string): Link | undefined;
  /** Ids of the runs that a session started. */
  runsOf(session_id: string): ReadonlySet<string>;
  /** Applies changes since the last call. Returns the links that changed. */
  resolve(): { session_id: string; before?: Link; after?: Link }[];
}

/** Only the beginnings of prompts are compared: all prompts in memory would be as large as the sessions. */
const PROMPT_LIMIT = 500;
const NONE: ReadonlySet<string> = new Set();

/** Computes links from facts. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the links and what they are computed from: its functions are short
export function createLinks(): Links {
  const known = new Map<string, KnownFacts>();
  /** Listed ids by the session's own id, if that differs, and by its alias. */
  const renamed = new Map<string, string>();
  /** Files that continue a session from another file, by its id in the registry. */
  const later = new Map<string, Set<string>>();
  /** Sessions that another one replaces, by the other one's own id. */
  const replaced = new Map<string, Set<string>>();
  const groups = new Map<string, Set<string>>();
  const links = new Map<string, Link>();
  const runs = new Map<string, Set<string>>();
  const changed = new Set<string>();

  function remove(session_id: string) {
    const facts = known.get(session_id);
    if (!facts) return;
    known.delete(session_id);
    forgetNames(facts);
    groups.get(facts.group)?.delete(session_id);
    changed.add(facts.group);
    const link = links.get(session_id);
    if (link) runs.get(link.parent)?.delete(session_id);
    links.delete(session_id);
  }

  function forgetNames({ own_id, alias, registered_as, replaced_by, session_id }: KnownFacts) {
    for (const name of [own_id, alias])
      if (name !== undefined && renamed.get(name) === session_id) renamed.delete(name);
    if (registered_as !== undefined) later.get(registered_as)?.delete(session_id);
    if (replaced_by !== undefined) replaced.get(replaced_by.session_id)?.delete(session_id);
  }

  const idOf = (own_id: string) => renamed.get(own_id) ?? own_id;

  /** Replaces the session ids in the facts with the listed ids. */
  function resolved(facts: KnownFacts): SessionLinkFacts {
    const { group, run } = facts;
    const parent = run?.parent_session_id;
    return {
      ...facts,
      group: idOf(group),
      ...(run && { run: parent === undefined ? run : { ...run, parent_session_id: idOf(parent) } }),
    };
  }

  /** Whether the group is a team (`name@team`). Its members are sessions of their own, so names match across groups. */
  function isScoped(group: string): boolean {
    for (const id of groups.get(group) ?? NONE) {
      const facts = known.get(id);
      if (facts?.run?.agent_key.includes("@") || facts?.calls.some((call) => call.agent_key?.includes("@"))) {
        return true;
      }
    }
    return false;
  }

  return {
    setFacts(given) {
      const facts: KnownFacts = {
        ...given,
        calls: given.calls.map(shortened),
        ...(given.run && { run: shortened(given.run) }),
      };
      const before = known.get(facts.session_id);
      if (before && JSON.stringify(before) === JSON.stringify(facts)) return false;
      if (before && before.group !== facts.group) {
        groups.get(before.group)?.delete(facts.session_id);
        changed.add(before.group);
      }
      if (before) forgetNames(before);
      for (const name of [facts.own_id, facts.alias])
        if (name !== undefined) renamed.set(name, facts.session_id);
      if (facts.registered_as !== undefined) addTo(later, facts.registered_as, facts.session_id);
      if (facts.replaced_by !== undefined) addTo(replaced, facts.replaced_by.session_id, facts.session_id);
      known.set(facts.session_id, facts);
      addTo(groups, facts.group, facts.session_id);
      changed.add(facts.group);
      return true;
    },
    facts: (session_id) => known.get(session_id),
    idOf,
    registeredAs(session_id) {
      const facts = known.get(session_id);
      return facts?.registered_as ?? facts?.own_id ?? session_id;
    },
    registered: (own_id) => ({ session_id: idOf(own_id), later: later.get(own_id) ?? NONE }),
    replaces(session_id) {
      const facts = known.get(session_id);
      return replaced.get(facts?.alias ?? facts?.own_id ?? session_id) ?? NONE;
    },
    remove,
    of: (session_id) => links.get(session_id),
    runsOf: (session_id) => runs.get(session_id) ?? NONE,
    resolve() {
      if (changed.size === 0) return [];
      if ([...changed].some(isScoped)) {
        for (const group of groups.keys()) if (isScoped(group)) changed.add(group);
      }
      const members = [...changed].flatMap((group) => [...(groups.get(group) ?? NONE)]);
      changed.clear();
      const found = new Map(
        linkRuns(members.flatMap((id) => known.get(id) ?? []).map(resolved)).map((link) => [
          link.session_id,
          link,
        ]),
      );
      return members.flatMap((session_id) => {
        const link = found.get(session_id);
        const before = links.get(session_id);
        const after: Link | undefined = link && {
          parent: link.parent_session_id,
          ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
        };
        if (before?.parent === after?.parent && before?.tool_call_id === after?.tool_call_id) return [];
        if (before) runs.get(before.parent)?.delete(session_id);
        if (after) {
          links.set(session_id, after);
          addTo(runs, after.parent, session_id);
        } else {
          links.delete(session_id);
        }
        return [{ session_id, ...(before && { before }), ...(after && { after }) }];
      });
    },
  };
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

/** A fact as it is stored. It is a copy because readers extend their facts in place. */
function shortened<Fact extends { prompt?: string }>(fact: Fact): Fact {
  return fact.prompt !== undefined && fact.prompt.length > PROMPT_LIMIT
    ? { ...fact, prompt: fact.prompt.slice(0, PROMPT_LIMIT) }
    : { ...fact };
}
