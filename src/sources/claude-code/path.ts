import { isUuid } from "../../model/is-uuid.ts";
import { uuidFrom } from "../../model/uuid.ts";

/** Facts from a file's path. */
export interface FilePath {
  /** The file's name without its extension. */
  stem: string;
  /** The session that a person started, named by the file or, for a run, by its folder. */
  session_id: string | undefined;
  /** Present for a sub-agent's file. */
  agent_id: string | undefined;
  /** The workflow run that the agent belongs to. */
  workflow: string | undefined;
}

/** The id of a run's session in Verbatim. `main_id`: the session that a person started. */
export function runId(main_id: string, agent_id: string): string {
  return uuidFrom(main_id, `agent-${agent_id}`);
}

/**
 * Parses `<session>.jsonl`, `agent-<id>.jsonl` in the same folder (until early 2.1), `<session>/subagents/agent-<id>.jsonl`, or
 * `<session>/subagents/workflows/<run>/agent-<id>.jsonl`.
 */
export function parsePath(path: string): FilePath {
  const segments = path.split(/[\\/]/);
  const stem = (segments.at(-1) ?? "").replace(/\.jsonl$/, "");
  const own = isUuid(stem) ? stem.toLowerCase() : undefined;
  if (own !== undefined || !stem.startsWith("agent-")) {
    return { stem, session_id: own, agent_id: undefined, workflow: undefined };
  }
  const agent_id = stem.slice("agent-".length);
  const inWorkflow = segments.at(-3) === "workflows" && segments.at(-4) === "subagents";
  const folder = inWorkflow ? segments.at(-5) : segments.at(-2) === "subagents" ? segments.at(-3) : undefined;
  return {
    stem,
    session_id: isUuid(folder) ? folder.toLowerCase() : undefined,
    agent_id,
    workflow: inWorkflow ? segments.at(-2) : undefined,
  };
}
