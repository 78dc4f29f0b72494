import { isUuid } from "../../model/is-uuid.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { repositoryName } from "../../model/repository.ts";
import type { SessionPatch } from "../../model/session.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition } from "../contract.ts";
import { keptName, keyOfText } from "./bounds.ts";
import { folded, SHOWN } from "./disposition.ts";
import type { Line } from "./line.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Names of a run, by kind. The first known one in this order is used. */
interface Names {
  nickname?: string;
  path?: string;
  role?: string;
}

/** What `ThreadFacts` keeps between two records. Plain JSON. */
export interface FactsState {
  /** The facts that were emitted, by name, in the form of `keyOfText`. */
  emitted: Record<string, string>;
  forkedFrom?: { session_id: string; at_byte?: number };
  names: Names;
  depth?: number;
  metaSeen: boolean;
  /** Id of the root thread. */
  group?: string;
  parent?: string;
  isRun: boolean;
  startedAt?: number;
  /** The agent's path in the agent tree, since 0.169. */
  ownPath?: string;
}

export const initialFacts = (): FactsState => ({ emitted: {}, names: {}, metaSeen: false, isRun: false });

/** Facts about a thread as a whole. */
export class ThreadFacts {
  readonly state: FactsState;
  private readonly writer: TurnWriter;
  /** The file continues the thread after a rewind. */
  private readonly isSegment: boolean;

  constructor(writer: TurnWriter, isSegment: boolean, state: FactsState) {
    this.writer = writer;
    this.isSegment = isSegment;
    this.state = state;
  }

  /** Reads a `session_meta` of this thread. It is repeated, sometimes with fewer fields. */
  sessionMeta(line: Line): Disposition {
    const { payload } = line;
    const { state } = this;
    const git = asObject(payload.git);
    const source = asObject(payload.source);
    // Codex itself starts internal threads, such as `memory_consolidation`. Other versions call them sub-agents.
    const kind = source?.subagent ?? source?.internal;
    const spawn = asObject(asObject(kind)?.thread_spawn);
    const parent = asString(payload.parent_thread_id) ?? asString(spawn?.parent_thread_id);
    const base = asObject(payload.history_base);
    const forked = asString(base?.thread_id) ?? asString(payload.forked_from_id);
    const before = state.forkedFrom;
    const at_byte =
      asNumber(base?.end_byte_offset) ?? (before?.session_id === forked ? before?.at_byte : undefined);
    const cwd = asString(payload.cwd);
    const branch = asString(git?.branch);
    const repository = repositoryName(asString(git?.repository_url) ?? "");
    const version = asString(payload.cli_version);
    state.startedAt ??= line.moment.at;
    setFirst(state, "group", asString(payload.session_id));
    setFirst(state, "ownPath", asString(payload.agent_path) ?? asString(spawn?.agent_path));
    state.isRun ||= kind !== undefined;
    if (parent !== undefined && isUuid(parent)) state.parent = parent;
    setName(state.names, "nickname", asText(payload.agent_nickname) ?? asText(spawn?.agent_nickname));
    setName(state.names, "path", asText(spawn?.agent_path));
    setName(state.names, "role", asText(kind) ?? asText(asObject(kind)?.other));
    const name = state.names.nickname ?? state.names.path ?? state.names.role;
    const depth = asNumber(spawn?.depth) ?? state.depth;
    if (depth !== undefined) state.depth = depth;
    this.update({
      agent: "codex",
      ...(version === undefined ? {} : { agent_version: version }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(branch === undefined ? {} : { git_branch: branch }),
      ...(repository === undefined ? {} : { repository }),
      ...(state.parent === undefined ? {} : { parent: { session_id: state.parent } }),
      ...(state.isRun
        ? {
            run: {
              ...(name === undefined ? {} : { name }),
              ...(depth === undefined ? {} : { depth }),
            },
          }
        : {}),
      ...(forked !== undefined && isUuid(forked) && state.parent === undefined
        ? {
            forked_from: {
              session_id: forked,
              ...(at_byte === undefined ? {} : { at_byte }),
              ...(this.isSegment ? { rewind: true } : {}),
            },
          }
        : {}),
    });
    const first = !state.metaSeen;
    state.metaSeen = true;
    if (!first || base === undefined || forked === undefined) return folded("the session");
    const data = { session_id: forked, ...(at_byte === undefined ? {} : { at_byte }) };
    if (this.isSegment) {
      this.writer.marker("rewind", codexTitle("codex_rewound"), undefined, data);
      return SHOWN;
    }
    const records = asNumber(base.end_ordinal_exclusive);
    this.writer.marker("note", codexTitle("records_before", { records }), undefined, data);
    return SHOWN;
  }

  /** Emits facts about the session. After its first `session_meta` only if one of them is new. */
  update(patch: SessionPatch): void {
    const { emitted, metaSeen } = this.state;
    let isNew = !metaSeen;
    for (const [name, value] of Object.entries(patch)) {
      const key = keyOfText(JSON.stringify(value));
      if (emitted[name] === key) continue;
      emitted[name] = key;
      isNew = true;
    }
    if (!isNew) return;
    const { forked_from } = patch;
    if (forked_from !== undefined) {
      const { session_id, at_byte } = forked_from;
      this.state.forkedFrom = { session_id, ...(at_byte === undefined ? {} : { at_byte }) };
    }
    const { session_id, now } = this.writer;
    this.writer.push({ type: "session.update", session_id, at: now.at, patch });
  }

  turnContext(payload: JsonObject): Disposition {
    const model = asString(payload.model);
    const cwd = asString(payload.cwd);
    const turn = asString(payload.turn_id);
    const { writer } = this;
    const { state } = writer;
    const policy = asString(payload.approval_policy);
    if (policy !== undefined) state.approval_policy = keptName(policy);
    if (turn !== undefined) writer.nameTurn(turn);
    const before = state.model;
    const after = model === undefined ? undefined : keptName(model);
    if (after === undefined || after === before) return folded("the turn");
    state.model = after;
    const isUnplaced = this.state.emitted.cwd === undefined && cwd !== undefined;
    this.update({ model: after, ...(isUnplaced ? { cwd } : {}) });
    if (before === undefined) return folded("the session");
    writer.marker("model_switch", `${before} → ${after}`);
    return SHOWN;
  }
}

/** Keeps the first known value. */
function setFirst(state: FactsState, name: "group" | "ownPath", value: string | undefined): void {
  if (value !== undefined) state[name] ??= keptName(value);
}

/** Keeps the last known value. */
function setName(names: Names, kind: keyof Names, value: string | undefined): void {
  if (value !== undefined) names[kind] = keptName(value);
}
