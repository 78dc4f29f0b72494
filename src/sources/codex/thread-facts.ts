import { isUuid } from "../../model/is-uuid.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { Disposition } from "../contract.ts";
import { folded, SHOWN } from "./disposition.ts";
import type { Line } from "./line.ts";
import type { TurnWriter } from "./turns.ts";

const REWOUND =
  "Rewound to an earlier prompt: what came before it stands in the session that this one goes on from";

/** Facts about a thread as a whole. */
export class ThreadFacts {
  private readonly writer: TurnWriter;
  /** The file continues the thread after a rewind. */
  private readonly isSegment: boolean;
  private patch: SessionPatch = {};
  /** Latest names of a run, by kind. The first known one in this order is used. */
  private names: Record<"nickname" | "path" | "role", string | undefined> = {
    nickname: undefined,
    path: undefined,
    role: undefined,
  };
  private depth: number | undefined;
  metaSeen = false;
  /** Id of the root thread. */
  group: string | undefined;
  parent: string | undefined;
  isRun = false;
  startedAt: number | undefined;
  /** The agent's path in the agent tree, since 0.169. */
  ownPath: string | undefined;

  constructor(writer: TurnWriter, isSegment: boolean) {
    this.writer = writer;
    this.isSegment = isSegment;
  }

  get forkedFrom(): string | undefined {
    return this.patch.forked_from?.session_id;
  }

  /** Reads a `session_meta` of this thread. It is repeated, sometimes with fewer fields. */
  sessionMeta(line: Line): Disposition {
    const { payload } = line;
    const git = asObject(payload.git);
    const spawn = asObject(asObject(asObject(payload.source)?.subagent)?.thread_spawn);
    const kind = asObject(payload.source)?.subagent;
    const parent = asString(payload.parent_thread_id) ?? asString(spawn?.parent_thread_id);
    const base = asObject(payload.history_base);
    const forked = asString(base?.thread_id) ?? asString(payload.forked_from_id);
    const before = this.patch.forked_from;
    const at_byte =
      asNumber(base?.end_byte_offset) ?? (before?.session_id === forked ? before?.at_byte : undefined);
    const cwd = asString(payload.cwd);
    const branch = asString(git?.branch);
    const version = asString(payload.cli_version);
    this.startedAt ??= line.moment.at;
    this.group ??= asString(payload.session_id);
    this.ownPath ??= asString(payload.agent_path) ?? asString(spawn?.agent_path);
    this.isRun ||= kind !== undefined;
    if (parent !== undefined && isUuid(parent)) this.parent = parent;
    const nickname = asText(payload.agent_nickname) ?? asText(spawn?.agent_nickname) ?? this.names.nickname;
    const path = asText(spawn?.agent_path) ?? this.names.path;
    const role = asText(kind) ?? asText(asObject(kind)?.other) ?? this.names.role;
    this.names = { nickname, path, role };
    const name = nickname ?? path ?? role;
    this.depth = asNumber(spawn?.depth) ?? this.depth;
    const { depth } = this;
    this.update({
      agent: "codex",
      ...(version === undefined ? {} : { agent_version: version }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(branch === undefined ? {} : { git_branch: branch }),
      ...(this.parent === undefined ? {} : { parent: { session_id: this.parent } }),
      ...(this.isRun
        ? {
            run: {
              ...(name === undefined ? {} : { name }),
              ...(depth === undefined ? {} : { depth }),
            },
          }
        : {}),
      ...(forked !== undefined && isUuid(forked) && this.parent === undefined
        ? {
            forked_from: {
              session_id: forked,
              ...(at_byte === undefined ? {} : { at_byte }),
              ...(this.isSegment ? { rewind: true } : {}),
            },
          }
        : {}),
    });
    const first = !this.metaSeen;
    this.metaSeen = true;
    if (!first || base === undefined || forked === undefined) return folded("the session");
    const data = { session_id: forked, ...(at_byte === undefined ? {} : { at_byte }) };
    if (this.isSegment) {
      this.writer.marker("rewind", REWOUND, undefined, data);
      return SHOWN;
    }
    const ordinal = asNumber(base.end_ordinal_exclusive);
    const records = ordinal === undefined ? "The records" : `${ordinal} records`;
    const title = `${records} before this stand in the session that this one continues`;
    this.writer.marker("note", title, undefined, data);
    return SHOWN;
  }

  update(patch: SessionPatch): void {
    const before = this.patch;
    const after = { ...before, ...patch };
    if (this.metaSeen && JSON.stringify(before) === JSON.stringify(after)) return;
    this.patch = after;
    const { session_id, now } = this.writer;
    this.writer.push({ type: "session.update", session_id, at: now.at, patch });
  }

  turnContext(payload: JsonObject): Disposition {
    const model = asString(payload.model);
    const cwd = asString(payload.cwd);
    const turn = asString(payload.turn_id);
    const { writer } = this;
    writer.approval_policy = asString(payload.approval_policy) ?? writer.approval_policy;
    if (turn !== undefined && writer.turn !== undefined && !writer.turn.explicit) {
      writer.turn.codex_id = turn;
    }
    const before = writer.model;
    if (model === undefined || model === before) return folded("the turn");
    writer.model = model;
    this.update({ model, ...(this.patch.cwd === undefined && cwd !== undefined ? { cwd } : {}) });
    if (before === undefined) return folded("the session");
    writer.marker("model_switch", `${before} → ${model}`);
    return SHOWN;
  }
}
