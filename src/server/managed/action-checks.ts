import type { Prompt } from "../../agent/agent.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { displayText, prefixed } from "../../model/text/display-text.ts";
import { Refused } from "../sessions/refused.ts";
import type { AgentKind, Agents } from "./agents.ts";
import type { ManagedSession } from "./managed-session.ts";
import type { CommitQueue } from "./record/commit-queue.ts";

/** Maximum time an action waits for a failing disk. The action itself continues. */
const DISK_LIMIT = 10_000;

interface ActionChecksOptions {
  entries: ReadonlyMap<string, ManagedSession>;
  agents: Agents;
  commit_queue: CommitQueue;
  /** See `ManagedSessionsOptions`. */
  isInOtherSource?(id: string): boolean;
}

/** The conditions of the users' actions. Each throws or rejects with a `Refused`. */
export type ActionChecks = ReturnType<typeof createActionChecks>;

/** Creates the checks of the users' actions. */
export function createActionChecks(options: ActionChecksOptions) {
  const { entries, agents, commit_queue } = options;

  /** The id of a new session must not be in use. */
  function checkNew(session_id: string) {
    if (options.isInOtherSource?.(session_id) !== true) return;
    throw new Refused(409, "session_id", daemonText("id_in_file"), daemonText("choose_uuid"));
  }

  /** A session whose agent this daemon runs. */
  function check(id: string): ManagedSession {
    writable();
    const entry = entries.get(id);
    if (!entry)
      throw new Refused(404, "no_session", daemonText("session_unknown"), daemonText("reload_list"));
    if (entry.config.kind === "pushed") {
      throw new Refused(409, "pushed", daemonText("session_pushed"));
    }
    return entry;
  }

  function writable() {
    if (commit_queue.writable) return;
    const [why] = commit_queue.notices;
    throw new Refused(
      409,
      "read_only",
      daemonText("no_sessions_run", { reason: why?.text ?? "" }),
      why?.remedy && displayText(why.remedy, why.remedy_code),
    );
  }

  /** An action is confirmed once it is on disk. */
  async function stored(id: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<"overdue">((resolve) => {
      timer = setTimeout(() => resolve("overdue"), DISK_LIMIT);
    });
    const how = await Promise.race([commit_queue.stored(id), overdue]);
    clearTimeout(timer);
    if (how === "overdue") {
      const { remedy, remedy_code } = commit_queue.write_error ?? {};
      throw new Refused(
        503,
        "disk",
        daemonText("not_on_disk"),
        remedy === undefined ? daemonText("free_space") : displayText(remedy, remedy_code),
      );
    }
  }

  /** An agent that can be started. */
  function available(agent: string): AgentKind {
    const kind = agents.find(agent);
    if (!kind) throw new Refused(400, "agent", daemonText("agent_unknown", { agent }));
    const { unavailable } = kind.entry;
    if (unavailable) {
      const { message, message_code, remedy, remedy_code } = unavailable;
      throw new Refused(
        409,
        "unavailable",
        displayText(message, message_code),
        displayText(remedy, remedy_code),
      );
    }
    return kind;
  }

  function checkImages(kind: AgentKind | undefined, { parts }: Prompt) {
    if (kind?.entry.takes_images === false && parts.some(({ type }) => type !== "text")) {
      throw new Refused(400, "images", daemonText("no_images"));
    }
  }

  /** Returns `undefined` if the model cannot be checked: the session then begins without waiting. */
  function checkModel(kind: AgentKind | undefined, model: string | undefined): Promise<void> | undefined {
    if (model === undefined) return undefined;
    return kind?.problemOf?.(model).then((problem) => {
      if (problem !== undefined) throw new Refused(400, "model", prefixed("`model`", problem));
    });
  }

  return { checkNew, check, writable, stored, available, checkImages, checkModel };
}

/** The error for an id that another session has. */
export const otherSession = () => new Refused(409, "session_id", daemonText("id_of_other_session"));
