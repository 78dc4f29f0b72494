import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { promptKey, setRuns } from "../conversation/runs.ts";
import { first, inputOf } from "../conversation/tool-payload.ts";
import type { OhMyPiState } from "./state.ts";

/** The name of a session's file or folder: its time and id. */
const SESSION = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/;
/** Stem of the transcripts of advisors: models that watch a session. `__advisor.<name>` for the named ones. */
const ADVISOR = /^__advisor(?:\.(.+))?$/;
/** What oh-my-pi writes before the task of a sub-agent. */
const PREAMBLE = /^Complete (?:the )?assignment[^\n]*\n+/i;

/** The id in the name of a session's file or folder; any other name as it is. */
export const idIn = (name: string): string => SESSION.exec(name)?.[1] ?? name;

/** What the path of a sub-agent's file says about it. */
export interface RunPath {
  /** The id of the top session. */
  top: string;
  /** Its id within the top session. A sub-agent of a sub-agent has the ids of both: `Mara.Tide`. */
  key: string;
  name: string;
  /** A session started it, not another sub-agent. */
  isDirect: boolean;
}

/** `undefined`: the path is not of a sub-agent. */
export function runOf(path: string): RunPath | undefined {
  const folders = namesOf(path).slice(0, -1);
  const at = folders.findIndex((name) => SESSION.test(name));
  if (at === -1) return undefined;
  const stem = stemOf(path);
  const above = folders.slice(at + 1);
  const advisor = ADVISOR.exec(stem);
  const name = advisor === null ? stem : advisor[1] === undefined ? "advisor" : `advisor: ${advisor[1]}`;
  return {
    top: idIn(folders[at] ?? ""),
    key: advisor === null ? stem : [...above, stem].join("/"),
    name,
    isDirect: above.length === 0 && (advisor !== null || !stem.includes(".")),
  };
}

/** The task of a sub-agent without what oh-my-pi adds to it. */
export const taskOf = (prompt: string): string => prompt.replace(PREAMBLE, "");

/** Remembers the sub-agents that a call of `task` starts: one, or a list. They may get other ids if their names are taken. */
export function noteTasks(
  state: OhMyPiState,
  { id, input }: { id: string; input: unknown },
  at: number,
): void {
  const values = inputOf(input) ?? {};
  const tasks = asArray(values.tasks).map((task) => asObject(task) ?? {});
  const above = state.run === undefined ? "" : `${state.run.key}.`;
  const starts = (tasks.length > 0 ? tasks : [values]).map((task) => {
    const name = asText(task.name)?.trim();
    const prompt = first(task, "task", "assignment");
    return {
      at,
      ...(name !== undefined && { agent_key: `${above}${name}` }),
      ...(prompt !== undefined && { prompt: promptKey(prompt) }),
    };
  });
  setRuns(state, id, starts);
}

/** Remembers the ids of the sub-agents that a call of `task` started, which its result names. */
export function nameTasks(state: OhMyPiState, message: JsonObject): void {
  const id = asText(message.toolCallId);
  const start = state.runs.find((run) => run.tool_call_id === id);
  if (id === undefined || start === undefined) return;
  const details = asObject(message.details);
  const ids = [...asArray(details?.results), ...asArray(details?.progress)].flatMap(
    (run) => asText(asObject(run)?.id) ?? [],
  );
  if (ids.length === 0) return;
  setRuns(
    state,
    id,
    [...new Set(ids)].map((agent_key) => ({ at: start.at, agent_key })),
  );
}
