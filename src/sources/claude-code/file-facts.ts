import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition, ReadRecord } from "../contract.ts";
import { fingerprint } from "../fingerprint.ts";
import { parseObject } from "../lines/parse-object.ts";
import { agentMessages } from "./agent-messages.ts";
import { asSessionId, SIDE_FACTS } from "./file-state.ts";
import { framedTask } from "./frames.ts";
import type { OpenFile } from "./open-file.ts";
import { runId } from "./path.ts";
import type { Line, Session } from "./session-types.ts";
import { parseWrappers } from "./wrappers.ts";

/** Sources of titles by increasing precedence. Among equal ones the last wins. */
export const TITLES: readonly string[] = ["summary", "agent-name", "ai-title", "custom-title"];

/** Tags of content that is inserted before a prompt. */
const NOISE = new Set([
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "system-reminder",
]);

/** Emits the session's facts at its first line and whenever they change. */
export function begin(file: OpenFile, session: Session, line: Line): void {
  const { main, state } = file;
  const { value } = line;
  state.version = asText(value.version) ?? asText(value.claude_code_version) ?? state.version;
  const git_branch = asText(value.gitBranch);
  const patch: SessionPatch = {};
  if (state.version !== undefined) patch.agent_version = state.version;
  if (git_branch !== undefined) patch.git_branch = git_branch;
  const cwd = asText(value.cwd);
  if (cwd !== undefined && !session.located) {
    session.located = true;
    patch.cwd = cwd;
  }
  if (!session.begun) {
    session.begun = true;
    patch.agent = "claude-code";
    if (session === main) Object.assign(patch, state.early);
    const fact = session.facts.run;
    if (fact !== undefined) {
      fact.at = line.at;
      patch.parent = {
        session_id: state.identity.main_id,
        ...(fact.tool_call_id !== undefined && { tool_call_id: fact.tool_call_id }),
      };
      const depth = session === main && state.identity.run !== undefined ? undefined : 1;
      const name = asText(value.attributionAgent);
      const described = {
        ...(name !== undefined && { name }),
        ...(depth !== undefined && { depth }),
        ...patch.run,
      };
      patch.run = described;
    }
  }
  if (session === main && state.identity.run === undefined) {
    noteCopies(file, line);
    const member = noteTeam(file, line);
    if (member !== undefined) patch.run = { ...patch.run, ...member };
  }
  // A teammate may be identified only after its task.
  if (value.type === "user" && session.asked === undefined) {
    const task = taskOf(value);
    if (task !== undefined) session.asked = task;
  }
  const task = session.asked;
  if (session.facts.run !== undefined && task !== undefined) session.facts.run.prompt = task;
  session.update(line, patch);
  const summary = line.uuid === undefined ? undefined : state.summaries.get(line.uuid);
  if (summary !== undefined) retitle(file, line, 0, summary);
}

/** Records the origin of copied lines. Resuming copies lines of another session into this file; a fork names it. */
function noteCopies(file: OpenFile, line: Line): void {
  const { state } = file;
  const { session_id } = state.identity;
  const fork = asObject(line.value.forkedFrom);
  const from =
    asText(fork?.sessionId) ?? asText(line.value.forkedFrom) ?? asText(line.value.requestSessionId);
  const named = asText(line.value.sessionId);
  const other = from ?? (named !== undefined && asSessionId(named) !== session_id ? named : undefined);
  if (other !== undefined && other !== state.otherSession) {
    state.otherSession = other;
    const origin = asSessionId(other);
    if (origin !== session_id) file.main.update(line, { forked_from: { session_id: origin } });
  }
}

/** Links a teammate's session, which has its own file, once. The call that started it returned `name@team`. */
function noteTeam(file: OpenFile, line: Line): { name: string } | undefined {
  const { main } = file;
  const team = asText(line.value.teamName);
  const name = asText(line.value.agentName);
  if (team === undefined || name === undefined || main.facts.run !== undefined) return undefined;
  // The file's path does not make it a run, so a person can still open the session by itself.
  main.facts.run = { agent_key: `${name}@${team}`, at: line.at };
  return { name };
}

/** Reads a title of the session. `rank`: the index of its source in `TITLES`. */
export function readTitle(file: OpenFile, line: Line, rank: number): Disposition {
  const { state } = file;
  const { value } = line;
  const kind = TITLES[rank];
  const text =
    asText(value.customTitle) ?? asText(value.aiTitle) ?? asText(value.agentName) ?? asText(value.summary);
  if (text === undefined) return { kind: "hidden", rule: `bookkeeping: ${kind}` };
  if (kind === "summary") {
    // This file may also contain summaries of other sessions.
    const leaf = asText(value.leafUuid);
    if (leaf !== undefined && !state.seen.has(fingerprint(leaf))) {
      state.summaries.set(leaf, text);
      return { kind: "hidden", rule: "title of another session" };
    }
  }
  retitle(file, line, rank, text);
  return { kind: "folded", into: "the session's title" };
}

function retitle(file: OpenFile, line: Line, rank: number, title: string): void {
  const { state } = file;
  if (rank < state.titleRank) return;
  state.titleRank = rank;
  updateSession(file, line, { title });
}

/** Emits facts that may precede the conversation. A file without a conversation is not a session. */
export function updateSession(file: OpenFile, line: Line, patch: SessionPatch): void {
  const { main, state } = file;
  if (main.begun) main.update(line, patch);
  else state.early = { ...state.early, ...patch };
}

/** Reads the agent's own cost of the whole session; the last value wins. */
export function readCost(file: OpenFile, line: Line): Disposition {
  const usd = asNumber(line.value.totalCostUSD);
  if (usd === undefined) return { kind: "hidden", rule: "bookkeeping: cost-state" };
  const partial = line.value.hasUnknownModelCost === true;
  updateSession(file, line, { agent_cost: { usd, ...(partial && { partial }) } });
  return { kind: "folded", into: "the session's cost" };
}

/** Writes a note when the permission mode changes. */
export function readPermissionMode(
  file: OpenFile,
  session: Session,
  line: Line,
  mode: string | undefined,
): Disposition {
  const { state } = file;
  const repeated: Disposition = { kind: "hidden", rule: "bookkeeping: permission-mode" };
  if (mode === undefined) return repeated;
  const before = state.permissionMode;
  state.permissionMode = mode;
  if (!session.begun) return repeated;
  const isChanged = before === undefined ? mode !== "default" : before !== mode;
  if (state.toldMode === mode || (!isChanged && (state.toldMode !== undefined || mode === "default")))
    return repeated;
  const from = state.toldMode ?? (before === mode ? undefined : before);
  state.toldMode = mode;
  const title =
    from === undefined
      ? sourceTitle("permission_mode", { mode })
      : claudeCodeTitle("permission_mode_changed", { before: from, now: mode });
  session.marker(line, "note", title, undefined, { permission_mode: mode });
  return { kind: "shown" };
}

/** Reads a side file, which describes a run. */
export function readSide(file: OpenFile, text: string): ReadRecord[] {
  const { main, state } = file;
  const fields = parseObject(text);
  // The file is incomplete and will be read again.
  if (fields === undefined || main.facts.run === undefined) return [];
  const meta = state.sideFacts;
  for (const name of SIDE_FACTS) {
    const fact = fields[name];
    if (fact !== undefined) meta[name] = asString(fact) ?? asNumber(fact) ?? null;
  }
  const call = asText(meta.toolUseId);
  const parent = asText(meta.parentAgentId);
  if (call !== undefined) main.facts.run.tool_call_id = call;
  if (parent !== undefined) main.facts.run.parent_session_id = runId(state.identity.main_id, parent);
  // All agents of a workflow have the same type. Phases distinguish them.
  const phase = asText(meta.workflowPhase);
  const name = asText(meta.name) ?? phase ?? asText(meta.agentType);
  const task = asText(meta.description);
  const depth = asNumber(meta.spawnDepth);
  // The call of a nested run is in another run's file, which only linking finds.
  const isDeep = depth !== undefined && depth > 1 && parent === undefined;
  const patch: SessionPatch = {
    parent: {
      session_id: main.facts.run.parent_session_id ?? state.identity.main_id,
      ...(call !== undefined && !isDeep && { tool_call_id: call }),
    },
    run: {
      ...(name !== undefined && { name }),
      ...(task !== undefined && { task }),
      ...(depth !== undefined && { depth }),
      ...(phase !== undefined && { phase }),
    },
  };
  const line: Line = {
    place: { line: 0, byte: 0, length: 0 },
    value: {},
    raw: new RawJson({ text: "" }),
    uuid: undefined,
    print: 0,
    key: "side",
    at: state.lastAt,
    frames: [],
    inherited: false,
  };
  if (main.hidden !== undefined) return [];
  updateSession(file, line, patch);
  if (line.frames.length === 0) return [];
  return [
    {
      place: line.place,
      disposition: { kind: "folded", into: "the session's facts" },
      frames: line.frames,
    },
  ];
}

/** The task in a run's first prompt, in the form in which the call contains it. */
function taskOf(value: JsonObject): string | undefined {
  const text = value.isMeta === true ? undefined : promptOf(value);
  if (text === undefined) return undefined;
  const [message] = agentMessages(text) ?? [];
  if (message !== undefined) return message.text;
  const framed = framedTask(text);
  if (framed !== undefined) return framed.task;
  const isNoise = parseWrappers(text)?.every(({ tag }) => NOISE.has(tag)) === true;
  return isNoise ? undefined : text;
}

function promptOf(value: JsonObject): string | undefined {
  const content = asObject(value.message)?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((block) => {
    const text = asObject(block);
    return text?.type === "text" ? [asString(text.text) ?? ""] : [];
  });
  return texts.length === 0 ? undefined : texts.join("\n");
}
