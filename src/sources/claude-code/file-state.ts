import { asText, type JsonObject } from "../../model/narrow.ts";
import type { SessionPatch } from "../../model/session.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { Recent } from "../recent.ts";
import { Copies } from "./copies.ts";
import { MAX_LINES, MAX_NAMES } from "./memory.ts";
import { MessageStream } from "./message-stream.ts";
import { type FilePath, runId } from "./path.ts";
import { initialSession } from "./session.ts";
import type { KeptLine, SessionState } from "./session-types.ts";

/** The fields of a side file that are read. */
export const SIDE_FACTS = [
  "agentType",
  "description",
  "name",
  "parentAgentId",
  "spawnDepth",
  "toolUseId",
  "workflowPhase",
] as const;
/** Facts from a side file; `null`: neither a string nor a number. */
export type SideFacts = Partial<Record<(typeof SIDE_FACTS)[number], string | number | null>>;

/** The id of a line's session, in session files and in the output of `claude -p`. */
export function sessionNameOf(value: JsonObject): string | undefined {
  return asText(value.sessionId) ?? asText(value.session_id);
}

/** Whose file it is. */
export interface Identity {
  /** The session of this file. */
  session_id: string;
  /** The session that a person started: this session, or the one that started this sub-agent. */
  main_id: string;
  run: { agent_id: string; workflow: string | undefined; hidden: string | undefined } | undefined;
}

/** Identifies a file by its path and its first line with a session id, `named`. */
export function identify(path: FilePath, named: JsonObject | undefined): Identity {
  const name = named === undefined ? undefined : sessionNameOf(named);
  const main_id = path.session_id ?? asSessionId(name ?? path.stem);
  // A renamed run file still contains the agent's id.
  const agent_id = path.agent_id ?? (named?.isSidechain === true ? asText(named.agentId) : undefined);
  if (agent_id === undefined || (path.agent_id === undefined && path.session_id !== undefined)) {
    return { session_id: main_id, main_id, run: undefined };
  }
  const hidden = agent_id.startsWith("acompact-") ? "helper of a compaction" : undefined;
  return {
    session_id: runId(main_id, agent_id),
    main_id,
    run: { agent_id, workflow: path.workflow, hidden },
  };
}

/** Verbatim's id of the session with this name. */
export function asSessionId(name: string): string {
  return sessionIdOf("claude-code", name);
}

/** The state of a file: its sessions, and facts that concern all of them. */
export interface FileState {
  readonly identity: Identity;
  readonly main: SessionState;
  /** Runs that old versions wrote into their parent's file, by the first line's uuid or the agent's id. */
  readonly inline: { key: string; session: SessionState }[];
  /** The index in `inline` of each line's run, by the line's fingerprint. */
  readonly inlineOfLine: Recent<number, number>;
  lastInline: number | undefined;
  /** Signatures of lines by their uuid, as fingerprints. They distinguish a copy from another line with the same uuid. */
  readonly seen: Recent<number, number>;
  /** Keys of notes that `noteOnce` has written. */
  readonly noted: Recent<string, true>;
  readonly copies: Copies;
  readonly stream: MessageStream;
  /** The permission mode in the last line that names it, and as last emitted. */
  permissionMode: string | undefined;
  toldMode: string | undefined;
  /** Session facts from before the start of the conversation. */
  early: SessionPatch;
  titleRank: number;
  /** Titles of lines that were not read yet, by uuid. */
  readonly summaries: Recent<string, string>;
  lastAt: number;
  otherSession: string | undefined;
  /** All facts from the side file so far. */
  sideFacts: SideFacts;
  /** The agent's version in the last line that named it. */
  version: string | undefined;
  /** The last line read. Frames that are inferred from the end of the file refer to it. */
  last: KeptLine | undefined;
}

/** The state of a file of which nothing was read. */
export function initialFile(identity: Identity): FileState {
  const { session_id, main_id, run } = identity;
  const main = initialSession(session_id, main_id);
  if (run !== undefined) {
    main.hidden = run.hidden;
    main.facts.run = {
      agent_key: run.workflow ?? run.agent_id,
      ...(run.workflow !== undefined && { parent_session_id: main_id }),
      at: 0,
    };
  }
  return {
    identity,
    main,
    inline: [],
    inlineOfLine: new Recent(MAX_LINES / 4),
    lastInline: undefined,
    seen: new Recent(MAX_LINES),
    noted: new Recent(MAX_NAMES),
    copies: new Copies(),
    stream: new MessageStream(),
    permissionMode: undefined,
    toldMode: undefined,
    early: {},
    titleRank: -1,
    summaries: new Recent(MAX_NAMES),
    lastAt: 0,
    otherSession: undefined,
    sideFacts: {},
    version: undefined,
    last: undefined,
  };
}
