import type { SessionConfig } from "../../store/history/session-config.ts";
import { Refused } from "../sessions/refused.ts";
import { type ActionChecks, otherSession } from "./action-checks.ts";
import type { Agents } from "./agents.ts";
import type { Host } from "./host.ts";
import type { Runs } from "./runs.ts";
import type { SessionActions } from "./session-actions.ts";
import { factsOf, hasPrompt } from "./session-facts.ts";
import type { SessionRegistry } from "./session-registry.ts";

/** Starts sessions, and passes the users' actions to their hosts. */
export function createActions({
  registry,
  agents,
  runs,
  checks,
  now,
}: {
  registry: SessionRegistry;
  agents: Agents;
  runs: Runs;
  checks: ActionChecks;
  now: () => number;
}): Omit<SessionActions, "fork" | "rewind"> {
  const { entries, load, hostOf, begin } = registry;
  const { check, checkNew, checkImages, checkModel, available, writable, stored } = checks;

  /** The host of a session whose agent this daemon runs. */
  async function hostFor(id: string): Promise<Host> {
    const entry = check(id);
    await load(entry);
    return hostOf(entry);
  }

  return {
    async start(session_id, { agent, model, cwd, prompt }) {
      const check_of_model = entries.has(session_id) ? undefined : checkModel(agents.find(agent), model);
      if (check_of_model) await check_of_model;
      writable();
      const known = entries.get(session_id);
      if (!known) {
        checkNew(session_id);
        const kind = available(agent);
        checkImages(kind, prompt);
        const config: SessionConfig = {
          agent,
          kind: "hosted",
          ...(model === undefined ? {} : { model }),
          cwd,
          depth: 0,
          created_at: now(),
        };
        const entry = begin(session_id, config, factsOf(config, kind));
        hostOf(entry).send(prompt, "queue");
      } else if (
        !(await hasPrompt(load, known, prompt.message_id)) ||
        known.config.agent !== agent ||
        known.config.cwd !== cwd
      ) {
        throw otherSession();
      }
      await stored(session_id);
    },
    async send(id, prompt, when) {
      const { config } = check(id);
      checkImages(agents.find(config.agent), prompt);
      (await hostFor(id)).send(prompt, when);
      await stored(id);
    },
    waiting: async (id, message_id) => (await hostFor(id)).waiting(message_id),
    async withdraw(id, message_id, withdrawal_id) {
      (await hostFor(id)).withdraw(message_id, withdrawal_id);
      await stored(id);
    },
    async beginHeld(id, message_id) {
      (await hostFor(id)).beginHeld(message_id);
      await stored(id);
    },
    async stop(id, turn_id) {
      if (!(await hostFor(id)).stop(turn_id)) return;
      for (const below of runs.below(id)) entries.get(below)?.host?.stop();
    },
    async compact(id) {
      (await hostFor(id)).compact();
      await stored(id);
    },
    async setModel(id, model) {
      await checkModel(agents.find(check(id).config.agent), model);
      (await hostFor(id)).setModel(model);
      await stored(id);
    },
    async answer(id, request_id, given) {
      const outcome = (await hostFor(id)).answer(request_id, given);
      await stored(id);
      return outcome;
    },
    async load(session_id) {
      const known = entries.get(session_id);
      if (known) await load(known);
    },
    pushed(session_id, agent) {
      writable();
      const known = entries.get(session_id);
      if (known && known.config.kind !== "pushed") {
        throw new Refused(409, "managed", "The session with this id is run by this daemon.");
      }
      if (!known) checkNew(session_id);
      const entry =
        known ??
        begin(session_id, { agent, kind: "pushed", cwd: "", depth: 0, created_at: now() }, { agent });
      entry.used_at = now();
      if (entry.recorder) return entry.recorder;
      throw new Error(`The record of session ${session_id} is not loaded.`);
    },
  };
}
