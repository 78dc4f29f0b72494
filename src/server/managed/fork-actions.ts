import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { Refused } from "../sessions/refused.ts";
import { type ActionChecks, otherSession } from "./action-checks.ts";
import type { Agents } from "./agents.ts";
import { historyBefore, inheritFiles, rewindFrames } from "./fork.ts";
import type { ManagedSession } from "./managed-session.ts";
import type { Recorder } from "./record/recorder.ts";
import type { SessionActions } from "./session-actions.ts";
import { factsOf, hasPrompt } from "./session-facts.ts";
import type { SessionRegistry } from "./session-registry.ts";

/** Forks and rewinds sessions. */
export function createForkActions({
  registry,
  agents,
  checks,
  now,
}: {
  registry: SessionRegistry;
  agents: Agents;
  checks: ActionChecks;
  now: () => number;
}): Pick<SessionActions, "fork" | "rewind"> {
  const { entries, load, hostOf, begin } = registry;
  const { check, checkNew, checkImages, checkModel, available, stored } = checks;

  async function isForkOf(entry: ManagedSession, source: string): Promise<boolean> {
    const isOrigin = (event: HistoryEvent) =>
      "type" in event && event.type === "session_update" && event.patch.forked_from?.session_id === source;
    return entry.config.kind === "hosted" && (await load(entry)).history().some(isOrigin);
  }

  return {
    async fork(id, { session_id, before, prompt }) {
      const source = check(id);
      if (!entries.has(session_id)) {
        const { agent, model } = (await load(source)).config;
        const check_of_model = checkModel(agents.find(agent), model);
        if (check_of_model) await check_of_model;
      }
      const recorder = await load(source);
      const known = entries.get(session_id);
      if (!known) {
        checkNew(session_id);
        const kind = available(recorder.config.agent);
        if (!kind.from_history) {
          throw new Refused(409, "cannot", daemonText("cannot_fork"));
        }
        if (prompt) checkImages(kind, prompt);
        const inherited = findPart(recorder, before).events;
        inheritFiles(registry.filesOf(id), registry.filesOf(session_id));
        const { parent: _, ...config } = recorder.config;
        const entry = begin(
          session_id,
          { ...config, depth: 0, created_at: now() },
          { ...factsOf(config, kind), forked_from: { session_id: id } },
          inherited,
        );
        const host = hostOf(entry);
        if (prompt) host.send(prompt, "queue");
      } else if (
        !(await isForkOf(known, id)) ||
        (prompt && !(await hasPrompt(load, known, prompt.message_id)))
      ) {
        throw otherSession();
      }
      await stored(session_id);
    },
    async rewind(id, before) {
      const entry = check(id);
      const recorder = await load(entry);
      const kind = available(recorder.config.agent);
      if (!kind.from_history) {
        throw new Refused(409, "cannot", daemonText("cannot_rewind"));
      }
      const cut = findPart(recorder, before);
      if (entry.host?.working) {
        throw new Refused(409, "busy", daemonText("agent_running"), daemonText("stop_or_wait"));
      }
      const frames: Frame[] = rewindFrames(recorder.buffer.transcript, cut.message_id, now());
      if (frames.length > 0) {
        recorder.emit(...frames);
        recorder.setState({ queue: recorder.state.queue.map((prompt) => ({ ...prompt, held: true })) });
      }
      await stored(id);
    },
  };
}

/** The history before a prompt, at which the session is cut. */
function findPart(recorder: Recorder, before: string) {
  const cut = historyBefore(recorder.history(), before);
  if (cut) return cut;
  throw new Refused(400, "before", daemonText("before_unknown"), daemonText("use_prompt_id"));
}
