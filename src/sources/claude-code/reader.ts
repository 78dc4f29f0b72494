import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { saveCheckpoint, savedState } from "../checkpoint.ts";
import type { Disposition, LinkFacts, Reader, ReaderOptions, ReadRecord } from "../contract.ts";
import { fingerprint } from "../fingerprint.ts";
import { createLineReader, type LinePosition, type LineRecord } from "../lines/lines.ts";
import { parseObject } from "../lines/parse-object.ts";
import { Recent } from "../recent.ts";
import { agentMessages } from "./agent-messages.ts";
import { readAssistant } from "./assistant.ts";
import { leaveBackground } from "./background.ts";
import { BOOKKEEPING } from "./bookkeeping.ts";
import { Copies } from "./copies.ts";
import { framedTask } from "./frames.ts";
import { MAX_LINES, MAX_NAMES } from "./memory.ts";
import { MessageStream } from "./message-stream.ts";
import { readAttachment, readProgress, readSystem } from "./notices.ts";
import { type FilePath, parsePath } from "./path.ts";
import { savedGraph } from "./saved-graph.ts";
import { initialSession, openSession } from "./session.ts";
import { type KeptLine, type Line, resumedLine, type Session, type SessionState } from "./session-types.ts";
import { isWhole } from "./steps.ts";
import { readUser, tellsInterrupt } from "./user.ts";
import { parseWrappers } from "./wrappers.ts";

/** Tags of content that is inserted before a prompt. */
const NOISE = new Set([
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "system-reminder",
]);

/** Sources of titles by increasing precedence. Among equal ones the last wins. */
const TITLES: readonly string[] = ["summary", "agent-name", "ai-title", "custom-title"];

/** The fields of a side file that are read. */
const SIDE_FACTS = [
  "agentType",
  "description",
  "name",
  "parentAgentId",
  "spawnDepth",
  "toolUseId",
  "workflowPhase",
] as const;
type SideFacts = Partial<Record<(typeof SIDE_FACTS)[number], string | number | null>>;

/** `Format.id`. */
export const CLAUDE_CODE = "claude-code";

/** After this many records without a session id, the file is treated as a session of its own. */
const MAX_HELD = 256;

/** The saved state of a reader. */
interface SavedState {
  lines: LinePosition;
  side?: string;
  /** Absent: the session's id is not known. */
  file?: FileState;
}

export function createClaudeCodeReader({ path, start, checkpoint }: ReaderOptions): Reader {
  const saved: SavedState =
    checkpoint === undefined
      ? { lines: start ?? { line: 1, byte: 0 } }
      : // `checkpoint` below wrote it, in the same version.
        (savedGraph.fromJson(savedState(checkpoint, CLAUDE_CODE)) as SavedState);
  const lines = createLineReader(saved.lines);
  const filePath = parsePath(path);
  /** Records read before the session's id is known. */
  let held: LineRecord[] = [];
  /** Position before the first of them. */
  let heldFrom = saved.lines;
  let file = saved.file && openFile(path, saved.file);
  /** Text of a side file that was read before the session's id was known. */
  let { side } = saved;

  function read(records: LineRecord[], final: boolean): ReadRecord[] {
    if (file !== undefined) return records.map(file.read);
    held = held.concat(records);
    const named = held.find(({ value }) => value !== undefined && sessionNameOf(value) !== undefined)?.value;
    const known = filePath.session_id !== undefined;
    if (!known && named === undefined && !final && held.length < MAX_HELD) {
      if (held.length === 0) heldFrom = lines.position();
      return [];
    }
    file = openFile(path, initialFile(identify(filePath, named)));
    const read = held.map(file.read);
    held = [];
    if (side !== undefined) read.push(...file.readSide(side));
    side = undefined;
    return read;
  }

  return {
    push: (chunk) => read(lines.push(chunk), false),
    settle() {
      const records = read(lines.settle(), false);
      const ending = file?.settle();
      return ending === undefined ? records : [...records, ending];
    },
    close(stopped) {
      const records = read(lines.close(), true);
      const ending = file?.close(stopped);
      return ending === undefined ? records : [...records, ending];
    },
    readSide(text) {
      if (file !== undefined) return file.readSide(text);
      side = text;
      return [];
    },
    linkFacts: (): LinkFacts => file?.linkFacts() ?? { sessions: [] },
    checkpoint() {
      // Buffered records were not returned, so they are read again.
      const position = file === undefined ? heldFrom : lines.position();
      const state: SavedState = {
        lines: position,
        ...(side !== undefined && { side }),
        ...(file !== undefined && { file: file.state }),
      };
      return saveCheckpoint(CLAUDE_CODE, position.byte, savedGraph.toJson(state));
    },
  };
}

/** The id of a line's session, in session files and in the output of `claude -p`. */
function sessionNameOf(value: JsonObject): string | undefined {
  return asText(value.sessionId) ?? asText(value.session_id);
}

interface Identity {
  /** The session of this file. */
  session_id: string;
  /** The session that a person started: this session, or the one that started this sub-agent. */
  main_id: string;
  run: { agent_id: string; workflow: string | undefined; hidden: string | undefined } | undefined;
}

function identify(path: FilePath, named: JsonObject | undefined): Identity {
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

function asSessionId(name: string): string {
  return isUuid(name) ? name.toLowerCase() : uuidFrom("claude-code", name);
}

function runId(main_id: string, agent_id: string): string {
  return uuidFrom(main_id, `agent-${agent_id}`);
}

/** The state of a file: its sessions, and facts that concern all of them. */
interface FileState {
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

function initialFile(identity: Identity): FileState {
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

interface SessionFile {
  /** Changes as the file is read. */
  readonly state: FileState;
  read(record: LineRecord): ReadRecord;
  settle(): ReadRecord | undefined;
  close(stopped?: boolean): ReadRecord | undefined;
  readSide(text: string): ReadRecord[];
  linkFacts(): LinkFacts;
}

/** Continues a file from its state. */
function openFile(path: string, state: FileState): SessionFile {
  const { session_id, main_id, run } = state.identity;
  const { seen, noted, copies, stream, summaries } = state;
  const main = openSession(state.main, path);
  const inline = state.inline.map(({ session }) => openSession(session, path));
  const isOwn = (name: string): boolean => asSessionId(name) === session_id;

  /** Fingerprints of the uuids of this line and of the previous one, which is usually its parent. */
  let newest = { uuid: "", print: 0 };
  let previous = newest;
  function printOf(uuid: string): number {
    if (uuid === newest.uuid) return newest.print;
    if (uuid === previous.uuid) return previous.print;
    previous = newest;
    newest = { uuid, print: fingerprint(uuid) };
    return newest.print;
  }

  function timeOf(value: JsonObject): number {
    const { timestamp } = value;
    const at = typeof timestamp === "string" ? Date.parse(timestamp) : asNumber(timestamp);
    if (at !== undefined && !Number.isNaN(at)) state.lastAt = at;
    return state.lastAt;
  }

  function read(record: LineRecord): ReadRecord {
    const { place } = record;
    if (record.blank === true)
      return { place, disposition: { kind: "hidden", rule: "blank line" }, frames: [] };
    if (record.error !== undefined) return readBroken(record);
    const { value, text } = record;
    const uuid = asText(value.uuid);
    const line: Line = {
      place,
      value,
      raw: new RawJson({ text }),
      uuid,
      print: 0,
      key: uuid ?? `byte ${place.byte}`,
      at: timeOf(value),
      frames: [],
      inherited: false,
    };
    const disposition = readLine(line);
    const { print, key, at, inherited } = line;
    state.last = { place, value: {}, uuid, print, key, at, inherited };
    return { place, disposition, frames: line.frames };
  }

  function readBroken({ place, text, error }: LineRecord & { error: string }): ReadRecord {
    const line: Line = {
      place,
      value: {},
      raw: new RawJson({ text }),
      uuid: undefined,
      print: 0,
      key: `byte ${place.byte}`,
      at: state.lastAt,
      frames: [],
      inherited: false,
    };
    const { part_id } = main.recordPart(line);
    main.push(line, { type: "unknown", part_id, raw: text, title: "Unreadable line", error });
    return { place, disposition: { kind: "unreadable" }, frames: line.frames };
  }

  function readLine(line: Line): Disposition {
    const { value, uuid } = line;
    const type = asString(value.type);
    const title = type === undefined ? -1 : TITLES.indexOf(type);
    if (title !== -1) return readTitle(line, title);
    if (type === "queue-operation") {
      if (asString(value.operation) === "enqueue") copies.asked(line.at, main.begun);
      const taken = main.queue.read(value, line);
      if (main.queue.isFull && main.begun) {
        main.loseQueued(line, false);
        return { kind: "shown" };
      }
      if (taken === undefined || !main.turnOpen)
        return { kind: "hidden", rule: "bookkeeping: queue-operation" };
      main.holdQueued(line, taken);
      return { kind: "folded", into: "the queued prompt" };
    }
    if (type === "cost-state") return readCost(line);
    if (type === "stream_event") return readStreamEvent(line);
    if (type === "permission-mode") return readPermissionMode(main, line, asText(value.permissionMode));
    if (type === "fork-context-ref") {
      copies.begins();
      return { kind: "hidden", rule: "bookkeeping: fork-context-ref" };
    }
    if (type !== undefined && BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
    if (type === "relocated") {
      const cwd = asText(value.relocatedCwd);
      if (cwd !== undefined) {
        main.located = true;
        tell(line, { cwd });
      }
      return { kind: "folded", into: "the session's folder" };
    }
    // The output of `claude -p` ends with a `result` line. A workflow's journal has such lines too.
    if (type === "result") return readResult(line);

    // A file that only says where the conversation continues contains none.
    if ((type === "continued-in" || type === "ended-by-model") && !main.begun)
      return { kind: "hidden", rule: `bookkeeping: ${type}` };

    if (uuid !== undefined) line.print = printOf(uuid);
    const session = sessionOf(line);
    const parent = asText(value.parentUuid);
    if (uuid !== undefined) {
      const parent_uuid = value.parentUuid === null ? null : parent;
      if (parent_uuid !== undefined)
        session.recordParent(line.print, parent_uuid === null ? null : printOf(parent_uuid));
      const copy =
        (fingerprint(asString(value.timestamp) ?? "") +
          4_096 * line.place.length +
          fingerprint(type ?? "", 4)) %
        0x1_0000_0000;
      const before = seen.get(line.print);
      if (before === copy) return { kind: "folded", into: "the same line before it" };
      if (before === undefined) seen.set(line.print, copy);
      else line.key = `${uuid} byte ${line.place.byte}`;
    }
    const rule = ruleAgainst(session, line, type);
    if (rule !== undefined) return { kind: "hidden", rule };
    const inherited = session === main && copies.has(line, isOwn);
    // The parent's file shows the run's initial context.
    if (run !== undefined && (inherited || answersInherited(line)))
      return { kind: "hidden", rule: "inherited from its parent" };
    line.inherited = inherited;
    if (!inherited && copies.end()) noteEndOfCopy(session, line);
    begin(session, line);
    if (session === main && type === "assistant") stream.bring(main, line);
    if (session === main && type === "user" && stream.isOpen && tellsInterrupt(line))
      stream.showCutOff(main, line);
    const mode =
      session === main && type === "user"
        ? readPermissionMode(main, line, asText(value.permissionMode))
        : undefined;
    const made = readConversation(session, line, type);
    return mode?.kind === "shown" && (made.kind === "folded" || made.kind === "hidden") ? mode : made;
  }

  function readConversation(session: Session, line: Line, type: string | undefined): Disposition {
    const { value } = line;
    switch (type) {
      case "assistant":
        return readAssistant(session, line);
      case "user":
        // A person may type in a teammate's session. Its task arrives as a message.
        return readUser(session, line, session !== main || run !== undefined);
      case "system":
        return readSystem(session, line);
      case "attachment":
        return readAttachment(session, line);
      case "progress":
        return readProgress(session, line);
      case "pr-link": {
        const url = asText(value.prUrl);
        const name = `${asText(value.prRepository) ?? ""}#${asNumber(value.prNumber) ?? "?"}`;
        return noteOnce(session, line, url ?? name, `Pull request ${name}`, url);
      }
      case "continued-in": {
        const next = asText(value.continuedInSessionId);
        const data = next === undefined ? undefined : { session_id: asSessionId(next) };
        const title = "The conversation goes on in another session";
        return noteOnce(session, line, `${type} ${next}`, title, undefined, data);
      }
      case "ended-by-model":
        return noteOnce(session, line, type, "The model ended the conversation");
      default: {
        const { part_id } = session.recordPart(line);
        const title = `Line of type ${(type ?? "unknown").slice(0, 80).toWellFormed()}`;
        session.push(line, { type: "unknown", part_id, raw: value, title });
        return { kind: "unknown" };
      }
    }
  }

  /** Writes a note only the first time. The agent repeats such lines whenever it opens the file. */
  function noteOnce(
    session: Session,
    line: Line,
    about: string,
    title: string,
    text?: string,
    data?: JsonObject,
  ): Disposition {
    if (noted.has(about)) return { kind: "folded", into: "the same note before it" };
    noted.set(about, true);
    session.marker(line, "note", title, text, data);
    return { kind: "shown" };
  }

  /** Removes results of the parent's calls from a run's line. Returns whether nothing else is left. */
  function answersInherited(line: Line): boolean {
    const message = asObject(line.value.message);
    if (!copies.hasCalls() || !Array.isArray(message?.content)) return false;
    const content: unknown[] = message.content;
    const rest = content.filter((block) => {
      const named = asString(asObject(block)?.tool_use_id);
      return named === undefined || !copies.isCall(named);
    });
    if (rest.length < content.length) line.value = { ...line.value, message: { ...message, content: rest } };
    return rest.length === 0 && content.length > 0;
  }

  /** Reads the agent's own cost of the whole session; the last value wins. */
  function readCost(line: Line): Disposition {
    const usd = asNumber(line.value.totalCostUSD);
    if (usd === undefined) return { kind: "hidden", rule: "bookkeeping: cost-state" };
    const partial = line.value.hasUnknownModelCost === true;
    tell(line, { agent_cost: { usd, ...(partial && { partial }) } });
    return { kind: "folded", into: "the session's cost" };
  }

  /** Reads a `stream_event` line. Only the main thread streams. */
  function readStreamEvent(line: Line): Disposition {
    const isMain = asText(line.value.parent_tool_use_id) === undefined && main.hidden === undefined;
    if (isMain && asObject(line.value.event) !== undefined) begin(main, line);
    return isMain && stream.read(main, line)
      ? { kind: "folded", into: "the message that streams" }
      : { kind: "hidden", rule: "bookkeeping: stream_event" };
  }

  /** Writes a note when the permission mode changes. */
  function readPermissionMode(session: Session, line: Line, mode: string | undefined): Disposition {
    const again: Disposition = { kind: "hidden", rule: "bookkeeping: permission-mode" };
    if (mode === undefined) return again;
    const before = state.permissionMode;
    state.permissionMode = mode;
    if (!session.begun) return again;
    const isChanged = before === undefined ? mode !== "default" : before !== mode;
    if (state.toldMode === mode || (!isChanged && (state.toldMode !== undefined || mode === "default")))
      return again;
    const from = state.toldMode ?? (before === mode ? undefined : before);
    state.toldMode = mode;
    const title = from === undefined ? `Permission mode: ${mode}` : `Permission mode: ${from} → ${mode}`;
    session.marker(line, "note", title, undefined, { permission_mode: mode });
    return { kind: "shown" };
  }

  /** Writes a marker: everything above was copied from another session, where it is counted. */
  function noteEndOfCopy(session: Session, line: Line): void {
    const from = state.otherSession;
    const data = from === undefined ? undefined : { session_id: asSessionId(from) };
    if (session.begun)
      session.marker(line, "note", "What stands above was copied from another session", undefined, data);
  }

  /** The session of a line: this file's, or an inline run. */
  function sessionOf(line: Line): Session {
    const { value, uuid } = line;
    const call = asText(value.parent_tool_use_id);
    const sidechain = value.isSidechain === true || call !== undefined;
    if (!sidechain || run !== undefined) return main;
    const parent = asText(value.parentUuid);
    const agent = asText(value.agentId);
    const name = agent !== undefined ? `agent-${agent}` : call !== undefined ? `call-${call}` : undefined;
    let index =
      name !== undefined
        ? inlineIndex(name)
        : parent === undefined
          ? undefined
          : // The beginning of its chain may be cut off.
            (state.inlineOfLine.get(printOf(parent)) ?? state.lastInline);
    if (index === undefined) {
      const key = name ?? `sidechain-${line.key}`;
      // The first line of a run may be repeated.
      index = inlineIndex(key) ?? openInline(key, line, agent ?? call ?? line.key, call);
    }
    if (uuid !== undefined) state.inlineOfLine.set(line.print, index);
    state.lastInline = index;
    return inline[index] ?? main;
  }

  function inlineIndex(key: string): number | undefined {
    const index = state.inline.findLastIndex((each) => each.key === key);
    return index === -1 ? undefined : index;
  }

  function openInline(key: string, line: Line, agent_key: string, tool_call_id: string | undefined): number {
    const session = initialSession(uuidFrom(main_id, key), main_id);
    session.facts.run = {
      agent_key,
      parent_session_id: main_id,
      ...(tool_call_id !== undefined && { tool_call_id }),
      at: line.at,
    };
    state.inline.push({ key, session });
    return inline.push(openSession(session, path)) - 1;
  }

  /** The rule that hides a whole session: an agent that the program starts for its own use. */
  function ruleAgainst(session: Session, line: Line, type: string | undefined): string | undefined {
    const known = session.hidden;
    if (known !== undefined || session.facts.run === undefined || session.begun) return known;
    if (type !== "user") return undefined;
    const content = asObject(line.value.message)?.content;
    const text = asString(content) ?? "";
    if (text.trim() !== "Warmup") return undefined;
    session.hidden = "warm-up of a sub-agent";
    return "warm-up of a sub-agent";
  }

  /** Emits the session's facts at its first line and whenever they change. */
  function begin(session: Session, line: Line): void {
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
          session_id: main_id,
          ...(fact.tool_call_id !== undefined && { tool_call_id: fact.tool_call_id }),
        };
        const depth = session === main && run !== undefined ? undefined : 1;
        const name = asText(value.attributionAgent);
        const described = {
          ...(name !== undefined && { name }),
          ...(depth !== undefined && { depth }),
          ...patch.run,
        };
        patch.run = described;
      }
    }
    if (session === main && run === undefined) {
      noteCopies(line);
      const member = noteTeam(line);
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
    const summary = line.uuid === undefined ? undefined : summaries.get(line.uuid);
    if (summary !== undefined) retitle(line, 0, summary);
  }

  /** Records the origin of copied lines. Resuming copies lines of another session into this file; a fork names it. */
  function noteCopies(line: Line): void {
    const fork = asObject(line.value.forkedFrom);
    const from =
      asText(fork?.sessionId) ?? asText(line.value.forkedFrom) ?? asText(line.value.requestSessionId);
    const named = asText(line.value.sessionId);
    const other = from ?? (named !== undefined && asSessionId(named) !== session_id ? named : undefined);
    if (other !== undefined && other !== state.otherSession) {
      state.otherSession = other;
      const origin = asSessionId(other);
      if (origin !== session_id) main.update(line, { forked_from: { session_id: origin } });
    }
  }

  /** Links a teammate's session, which has its own file, once. The call that started it returned `name@team`. */
  function noteTeam(line: Line): { name: string } | undefined {
    const team = asText(line.value.teamName);
    const name = asText(line.value.agentName);
    if (team === undefined || name === undefined || main.facts.run !== undefined) return undefined;
    // The file's path does not make it a run, so a person can still open the session by itself.
    main.facts.run = { agent_key: `${name}@${team}`, at: line.at };
    return { name };
  }

  function readTitle(line: Line, rank: number): Disposition {
    const { value } = line;
    const kind = TITLES[rank];
    const text =
      asText(value.customTitle) ?? asText(value.aiTitle) ?? asText(value.agentName) ?? asText(value.summary);
    if (text === undefined) return { kind: "hidden", rule: `bookkeeping: ${kind}` };
    if (kind === "summary") {
      // This file may also contain summaries of other sessions.
      const leaf = asText(value.leafUuid);
      if (leaf !== undefined && !seen.has(fingerprint(leaf))) {
        summaries.set(leaf, text);
        return { kind: "hidden", rule: "title of another session" };
      }
    }
    retitle(line, rank, text);
    return { kind: "folded", into: "the session's title" };
  }

  function retitle(line: Line, rank: number, title: string): void {
    if (rank < state.titleRank) return;
    state.titleRank = rank;
    tell(line, { title });
  }

  /** Emits facts that may precede the conversation. A file without a conversation is not a session. */
  function tell(line: Line, patch: SessionPatch): void {
    if (main.begun) main.update(line, patch);
    else state.early = { ...state.early, ...patch };
  }

  function readResult(line: Line): Disposition {
    const { value } = line;
    if (asText(value.subtype) === undefined || !main.begun)
      return { kind: "hidden", rule: "bookkeeping: result" };
    stream.showCutOff(main, line);
    const usd = asNumber(value.total_cost_usd);
    if (usd !== undefined) tell(line, { agent_cost: { usd } });
    if (value.is_error === true) {
      const message = asText(value.result) ?? asText(value.subtype) ?? "The run failed";
      main.push(line, { type: "error", part_id: main.recordPart(line).part_id, message });
      main.turnFailed = true;
    }
    main.endTurn(line, main.turnFailed ? "failed" : "completed");
    return value.is_error === true ? { kind: "shown" } : { kind: "folded", into: "the end of the turn" };
  }

  function sessions(): Session[] {
    return [main, ...inline];
  }

  /** Returns frames that are inferred from the end of the file. They refer to its last line and belong to no record. */
  function atEnd(settleSession: (session: Session, line: Line) => void): ReadRecord | undefined {
    const { last } = state;
    if (last === undefined) return undefined;
    const frames: Frame[] = [];
    const line: Line = { ...resumedLine(last, frames), at: state.lastAt };
    for (const session of sessions()) settleSession(session, line);
    if (frames.length === 0) return undefined;
    return {
      place: { ...last.place, length: 0 },
      disposition: { kind: "folded", into: "the end of the turn" },
      frames,
    };
  }

  return {
    state,
    read,
    settle: () =>
      atEnd((session, line) => {
        if (session === main && stream.isOpen) return;
        // The model ended its turn with text, and none of its calls is running. If it hit its output limit, it is asked to
        // continue. A compaction after its answer ends the step but not the turn.
        const { openStep, lastStep } = session;
        const step = openStep ?? lastStep;
        const isFinal = step !== undefined && step === session.finalStep;
        const ended =
          step !== undefined &&
          (isFinal || (isWhole(step) && step.stop !== "max_tokens")) &&
          !session.damaged;
        if (ended && session.openCalls() === 0) {
          session.provisionalEnd(line, session.turnFailed ? "failed" : "completed");
        } else if (openStep === undefined && session.turnFailed) {
          session.provisionalEnd(line, "failed");
        } else if (!session.hasPrompt() || session.isAnswered()) {
          // Content before the first prompt requests nothing. The model may still respond to a command's output.
          session.provisionalEnd(line, "completed");
        }
      }),
    close: (stopped = false) =>
      atEnd((session, line) => {
        if (session === main) stream.showCutOff(main, line);
        const yielded = session.hasYielded() && session.openCalls() === 0;
        const gaveBack = yielded || session.isAnswered() || !session.hasPrompt();
        const status =
          session.turnFailed || !(gaveBack || stopped) ? "failed" : gaveBack ? "completed" : "interrupted";
        session.tellFired(line);
        session.loseQueued(line, true);
        leaveBackground(session, line);
        session.endStep(line);
        session.endTurn(line, status);
      }),
    readSide,
    linkFacts: () => ({
      sessions: sessions()
        .filter((session) => session.begun && session.hidden === undefined)
        .map((session) => session.linkFacts()),
    }),
  };

  function readSide(text: string): ReadRecord[] {
    const told = parseObject(text);
    // The file is incomplete and will be read again.
    if (told === undefined || main.facts.run === undefined) return [];
    const meta = state.sideFacts;
    for (const name of SIDE_FACTS) {
      const fact = told[name];
      if (fact !== undefined) meta[name] = asString(fact) ?? asNumber(fact) ?? null;
    }
    const call = asText(meta.toolUseId);
    const parent = asText(meta.parentAgentId);
    if (call !== undefined) main.facts.run.tool_call_id = call;
    if (parent !== undefined) main.facts.run.parent_session_id = runId(main_id, parent);
    // All agents of a workflow have the same type. Phases distinguish them.
    const phase = asText(meta.workflowPhase);
    const name = asText(meta.name) ?? phase ?? asText(meta.agentType);
    const task = asText(meta.description);
    const depth = asNumber(meta.spawnDepth);
    // The call of a nested run is in another run's file, which only linking finds.
    const isDeep = depth !== undefined && depth > 1 && parent === undefined;
    const patch: SessionPatch = {
      parent: {
        session_id: main.facts.run.parent_session_id ?? main_id,
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
    tell(line, patch);
    if (line.frames.length === 0) return [];
    return [
      {
        place: line.place,
        disposition: { kind: "folded", into: "the session's facts" },
        frames: line.frames,
      },
    ];
  }
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
