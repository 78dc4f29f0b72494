import type { Frame } from "../../model/frames/frame.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { Disposition, LinkFacts, Reader, ReaderOptions, ReadRecord } from "../contract.ts";
import { createLineReader, type LineRecord } from "../lines/lines.ts";
import { parseObject } from "../lines/parse-object.ts";
import { agentMessages } from "./agent-messages.ts";
import { readAssistant } from "./assistant.ts";
import { leaveBackground } from "./background.ts";
import { createCopies } from "./copies.ts";
import { framedTask } from "./frames.ts";
import { MessageStream } from "./message-stream.ts";
import { readAttachment, readProgress, readSystem } from "./notices.ts";
import { type FilePath, parsePath } from "./path.ts";
import { createSession } from "./session.ts";
import type { Line, Session } from "./session-types.ts";
import { isWhole } from "./steps.ts";
import { readUser, tellsInterrupt } from "./user.ts";
import { parseWrappers } from "./wrappers.ts";

/** Lines for the agent's internal use, which are not part of the conversation. */
const BOOKKEEPING = new Set([
  "agent-color",
  "agent-setting",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "artifact-autoreact-ledger",
  "artifact-comment-monitor",
  "atis-latch",
  "attribution-snapshot",
  "auto-mode-denial",
  "bridge-session",
  "content-replacement",
  "dev-mods",
  "failed",
  "file-history-delta",
  "file-history-snapshot",
  "frame-link",
  "history-suppression",
  "isolation-latch",
  "last-prompt",
  "launched",
  "memory-mode",
  "mode",
  "observer-ref",
  "permission-denial",
  "rewind-pointer",
  "started",
  "tag",
  "tools-used",
  "worktree-state",
]);

/** Tags of content that is inserted before a prompt. */
const NOISE = new Set([
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "system-reminder",
]);

/** Sources of titles by increasing precedence. Among equal ones the last wins. */
const TITLES: readonly string[] = ["summary", "agent-name", "ai-title", "custom-title"];

/** After this many records without a session id, the file is treated as a session of its own. */
const MAX_HELD = 256;

export function createClaudeCodeReader({ path, start }: ReaderOptions): Reader {
  const lines = createLineReader(start);
  const filePath = parsePath(path);
  /** Records read before the session's id is known. */
  let held: LineRecord[] = [];
  let file: SessionFile | undefined;
  /** Text of a side file that was read before the session's id was known. */
  let side: string | undefined;

  function read(records: LineRecord[], final: boolean): ReadRecord[] {
    if (file !== undefined) return records.map(file.read);
    held = held.concat(records);
    const named = held.find(({ value }) => value !== undefined && sessionNameOf(value) !== undefined)?.value;
    const known = filePath.session_id !== undefined;
    if (!known && named === undefined && !final && held.length < MAX_HELD) return [];
    file = openFile(path, identify(filePath, named));
    const read = held.map(file.read);
    held = [];
    if (side !== undefined) read.push(...file.readSide(side));
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

interface SessionFile {
  read(record: LineRecord): ReadRecord;
  settle(): ReadRecord | undefined;
  close(stopped?: boolean): ReadRecord | undefined;
  readSide(text: string): ReadRecord[];
  linkFacts(): LinkFacts;
}

function openFile(path: string, identity: Identity): SessionFile {
  const { session_id, main_id, run } = identity;
  const main = open(session_id);
  if (run !== undefined) {
    main.facts.run = {
      agent_key: run.workflow ?? run.agent_id,
      ...(run.workflow !== undefined && { parent_session_id: main_id }),
      at: 0,
    };
  }
  /** Runs that old versions wrote into their parent's file, by the first line's uuid or the agent's id. */
  const inline = new Map<string, Session>();
  const inlineOfLine = new Map<string, Session>();
  let lastInline: Session | undefined;
  /** The rules by which sessions are hidden. */
  const hiddenRule = new Map<Session, string>();
  if (run?.hidden !== undefined) hiddenRule.set(main, run.hidden);
  /** Signatures of lines by uuid. They distinguish a copy from another line with the same uuid. */
  const seen = new Map<string, string>();
  const begun = new Set<Session>();
  /** Keys of notes that `noteOnce` has written. */
  const noted = new Set<string>();
  const copies = createCopies((name) => asSessionId(name) === session_id);
  const stream = new MessageStream();
  /** The permission mode in the last line that names it, and as last emitted. */
  let permissionMode: string | undefined;
  let toldMode: string | undefined;
  /** Sessions whose start folder has been emitted. */
  const located = new Set<Session>();
  /** The first prompt of each session. */
  const asked = new Map<Session, string>();
  /** Session facts from before the start of the conversation. */
  let early: SessionPatch = {};
  let titleRank = -1;
  const summaries = new Map<string, string>();
  let lastAt = 0;
  let otherSession: string | undefined;
  /** All facts from the side file so far. */
  let sideFacts: JsonObject = {};
  /** The agent's version in the last line that named it. */
  let version: string | undefined;
  /** The last line read. Frames that are inferred from the end of the file refer to it. */
  let last: Line | undefined;

  function open(id: string): Session {
    return createSession(id, path, { session_id: id, group: main_id, calls: [] });
  }

  function timeOf(value: JsonObject): number {
    const { timestamp } = value;
    const at = typeof timestamp === "string" ? Date.parse(timestamp) : asNumber(timestamp);
    if (at !== undefined && !Number.isNaN(at)) lastAt = at;
    return lastAt;
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
      raw: new RawJson(text),
      uuid,
      key: uuid ?? `byte ${place.byte}`,
      at: timeOf(value),
      frames: [],
      inherited: false,
    };
    last = line;
    return { place, disposition: readLine(line), frames: line.frames };
  }

  function readBroken({ place, text, error }: LineRecord & { error: string }): ReadRecord {
    const line: Line = {
      place,
      value: {},
      raw: new RawJson(text),
      uuid: undefined,
      key: `byte ${place.byte}`,
      at: lastAt,
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
      if (asString(value.operation) === "enqueue") copies.asked(line.at, begun.has(main));
      const taken = main.queue.read(value, line);
      if (taken === undefined || !main.turnOpen)
        return { kind: "hidden", rule: "bookkeeping: queue-operation" };
      main.holdQueued(line, taken);
      return { kind: "folded", into: "the queued prompt" };
    }
    if (type === "cost-state") return readCost(line);
    if (type === "stream_event") return readStreamEvent(line);
    if (type === "permission-mode") return readPermissionMode(main, line, asText(value.permissionMode));
    if (type === "fork-context-ref") {
      copies.begins(asText(value.parentSessionId));
      return { kind: "hidden", rule: "bookkeeping: fork-context-ref" };
    }
    if (type !== undefined && BOOKKEEPING.has(type)) return { kind: "hidden", rule: `bookkeeping: ${type}` };
    if (type === "relocated") {
      const cwd = asText(value.relocatedCwd);
      if (cwd !== undefined) {
        located.add(main);
        tell(line, { cwd });
      }
      return { kind: "folded", into: "the session's folder" };
    }
    // The output of `claude -p` ends with a `result` line. A workflow's journal has such lines too.
    if (type === "result") return readResult(line);

    // A file that only says where the conversation continues contains none.
    if ((type === "continued-in" || type === "ended-by-model") && !begun.has(main))
      return { kind: "hidden", rule: `bookkeeping: ${type}` };

    const session = sessionOf(line);
    const parent = asText(value.parentUuid);
    if (uuid !== undefined) {
      const parent_uuid = value.parentUuid === null ? null : parent;
      if (parent_uuid !== undefined) session.recordParent(uuid, parent_uuid);
      const copy = `${type}:${line.place.length}:${asString(value.timestamp) ?? ""}`;
      const before = seen.get(uuid);
      if (before === copy) return { kind: "folded", into: "the same line before it" };
      if (before === undefined) seen.set(uuid, copy);
      else line.key = `${uuid} byte ${line.place.byte}`;
    }
    const rule = ruleAgainst(session, line, type);
    if (rule !== undefined) return { kind: "hidden", rule };
    const inherited = session === main ? copies.of(line) : undefined;
    // The parent's file shows the run's initial context.
    if (run !== undefined && (inherited !== undefined || answersInherited(line)))
      return { kind: "hidden", rule: "inherited from its parent" };
    line.inherited = inherited !== undefined;
    if (inherited === undefined && copies.end()) noteEndOfCopy(session, line);
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
    noted.add(about);
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
    const isMain = asText(line.value.parent_tool_use_id) === undefined && hiddenRule.get(main) === undefined;
    if (isMain && asObject(line.value.event) !== undefined) begin(main, line);
    return isMain && stream.read(main, line)
      ? { kind: "folded", into: "the message that streams" }
      : { kind: "hidden", rule: "bookkeeping: stream_event" };
  }

  /** Writes a note when the permission mode changes. */
  function readPermissionMode(session: Session, line: Line, mode: string | undefined): Disposition {
    const again: Disposition = { kind: "hidden", rule: "bookkeeping: permission-mode" };
    if (mode === undefined) return again;
    const before = permissionMode;
    permissionMode = mode;
    if (!begun.has(session)) return again;
    const isChanged = before === undefined ? mode !== "default" : before !== mode;
    if (toldMode === mode || (!isChanged && (toldMode !== undefined || mode === "default"))) return again;
    const from = toldMode ?? (before === mode ? undefined : before);
    toldMode = mode;
    const title = from === undefined ? `Permission mode: ${mode}` : `Permission mode: ${from} → ${mode}`;
    session.marker(line, "note", title, undefined, { permission_mode: mode });
    return { kind: "shown" };
  }

  /** Writes a marker: everything above was copied from another session, where it is counted. */
  function noteEndOfCopy(session: Session, line: Line): void {
    const from = otherSession;
    const data = from === undefined ? undefined : { session_id: asSessionId(from) };
    if (begun.has(session))
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
    let session =
      name !== undefined
        ? inline.get(name)
        : parent === undefined
          ? undefined
          : // The beginning of its chain may be cut off.
            (inlineOfLine.get(parent) ?? lastInline);
    if (session === undefined) {
      const key = name ?? `sidechain-${line.key}`;
      // The first line of a run may be repeated.
      session = inline.get(key) ?? openInline(key, line, agent ?? call ?? line.key, call);
    }
    if (uuid !== undefined) inlineOfLine.set(uuid, session);
    lastInline = session;
    return session;
  }

  function openInline(key: string, line: Line, agent_key: string, tool_call_id: string | undefined): Session {
    const session = open(uuidFrom(main_id, key));
    session.facts.run = {
      agent_key,
      parent_session_id: main_id,
      ...(tool_call_id !== undefined && { tool_call_id }),
      at: line.at,
    };
    inline.set(key, session);
    return session;
  }

  /** The rule that hides a whole session: an agent that the program starts for its own use. */
  function ruleAgainst(session: Session, line: Line, type: string | undefined): string | undefined {
    const known = hiddenRule.get(session);
    if (known !== undefined || session.facts.run === undefined || begun.has(session)) return known;
    if (type !== "user") return undefined;
    const content = asObject(line.value.message)?.content;
    const text = asString(content) ?? "";
    if (text.trim() !== "Warmup") return undefined;
    hiddenRule.set(session, "warm-up of a sub-agent");
    return "warm-up of a sub-agent";
  }

  /** Emits the session's facts at its first line and whenever they change. */
  function begin(session: Session, line: Line): void {
    const { value } = line;
    version = asText(value.version) ?? asText(value.claude_code_version) ?? version;
    const git_branch = asText(value.gitBranch);
    const patch: SessionPatch = {};
    if (version !== undefined) patch.agent_version = version;
    if (git_branch !== undefined) patch.git_branch = git_branch;
    const cwd = asText(value.cwd);
    if (cwd !== undefined && !located.has(session)) {
      located.add(session);
      patch.cwd = cwd;
    }
    if (!begun.has(session)) {
      begun.add(session);
      patch.agent = "claude-code";
      if (session === main) Object.assign(patch, early);
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
    if (value.type === "user" && !asked.has(session)) {
      const task = taskOf(value);
      if (task !== undefined) asked.set(session, task);
    }
    const task = asked.get(session);
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
    if (other !== undefined && other !== otherSession) {
      otherSession = other;
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
      if (leaf !== undefined && !seen.has(leaf)) {
        summaries.set(leaf, text);
        return { kind: "hidden", rule: "title of another session" };
      }
    }
    retitle(line, rank, text);
    return { kind: "folded", into: "the session's title" };
  }

  function retitle(line: Line, rank: number, title: string): void {
    if (rank < titleRank) return;
    titleRank = rank;
    tell(line, { title });
  }

  /** Emits facts that may precede the conversation. A file without a conversation is no session. */
  function tell(line: Line, patch: SessionPatch): void {
    if (begun.has(main)) main.update(line, patch);
    else early = { ...early, ...patch };
  }

  function readResult(line: Line): Disposition {
    const { value } = line;
    if (asText(value.subtype) === undefined || !begun.has(main))
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
    return [main, ...inline.values()];
  }

  /** Returns frames that are inferred from the end of the file. They refer to its last line and belong to no record. */
  function atEnd(settleSession: (session: Session, line: Line) => void): ReadRecord | undefined {
    if (last === undefined) return undefined;
    const frames: Frame[] = [];
    const line: Line = { ...last, at: lastAt, frames };
    for (const session of sessions()) settleSession(session, line);
    if (frames.length === 0) return undefined;
    return {
      place: { ...last.place, length: 0 },
      disposition: { kind: "folded", into: "the end of the turn" },
      frames,
    };
  }

  return {
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
        .filter((session) => begun.has(session) && !hiddenRule.has(session))
        .map((session) => session.facts),
    }),
  };

  function readSide(text: string): ReadRecord[] {
    const told = parseObject(text);
    // The file is incomplete and will be read again.
    if (told === undefined || main.facts.run === undefined) return [];
    sideFacts = { ...sideFacts, ...told };
    const meta = sideFacts;
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
      raw: new RawJson(""),
      uuid: undefined,
      key: "side",
      at: lastAt,
      frames: [],
      inherited: false,
    };
    if (hiddenRule.has(main)) return [];
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
