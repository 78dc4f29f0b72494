import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { PromptOrigin, Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import type { MarkerKind, TurnStatus } from "../../model/transcript/transcript.ts";
import type { RecordPlace, SessionLinkFacts } from "../contract.ts";
import type { Recent } from "../recent.ts";
import type { Blocks } from "./blocks.ts";
import type { Branches, BranchTurn } from "./branches.ts";
import type { Call, CallTable } from "./call-table.ts";
import type { PromptQueue, QueuedPrompt } from "./queue.ts";

/** A record that is being read. */
export interface Line {
  place: RecordPlace;
  value: JsonObject;
  /** The record's JSON text as written. */
  raw: RawJson;
  uuid: string | undefined;
  /** Fingerprint of the uuid; 0: it has none. */
  print: number;
  /** Identifies the record in ids: its uuid, or its position if the uuid is missing or already used. */
  key: string;
  /** Time by the agent's clock. A record without a time has that of the previous record. */
  at: number;
  /** Collects the record's frames. */
  frames: Frame[];
  /** Copied from another session, where it is counted. */
  inherited: boolean;
  /** The frames derive from several records, so they have no position. */
  unplaced?: true;
}

/** The fields of a line that are kept until a later record shows something in its place. */
export type KeptLine = Omit<Line, "raw" | "frames">;

/** The line without its content, except for the fields that describe a model call. */
export function keptLine({ raw: _, frames: __, value, ...line }: Line): KeptLine {
  const requestId = asText(value.requestId);
  const effort = asText(value.effort);
  return {
    ...line,
    value: { ...(requestId !== undefined && { requestId }), ...(effort !== undefined && { effort }) },
  };
}

/** A kept line that collects frames again, namely those of the record that is being read. */
export function resumedLine(kept: KeptLine, frames: Frame[]): Line {
  return { ...kept, raw: new RawJson({ text: "{}" }), frames };
}

/** One model call: all lines that share a `message.id`. Some providers reuse ids for other calls. */
export interface Step {
  message_id: string;
  /** One-based number of the turn in which it began. */
  turn: number;
  /** Its id is not unique: it is empty, or was used by an earlier answer. */
  isShared: boolean;
  /** The agent's id of its request. */
  request: string | undefined;
  ended: boolean;
  /** Its end as last emitted. */
  emitted_end?: string;
  /** It was cut off and has no `message.end`. */
  cutOff: boolean;
  /** Its last block exists only as deltas. The complete line is missing. */
  isUnfinished: boolean;
  blocks: Blocks;
  /** Number of parts so far: the next part's index. */
  parts: number;
  calls: number;
  /** Whether the step's last part is a block that a longer snapshot may still replace. */
  lastIsBlock: boolean;
  /** Uuid of the line with the latest value of the last block. */
  lastRecordedIn: string | undefined;
  usage: Usage | undefined;
  stop: string | undefined;
  synthetic: boolean;
  /** Copied from another session, where it is counted. */
  inherited: boolean;
}

/** A call whose run continues after its result. The record of its end names the call or the run. */
export interface BackgroundCall {
  tool_call_id: string;
  tool_name: string;
  description: string | undefined;
  /** The agent's id of the run. */
  agent_key: string | undefined;
  /** The ids and names by which records refer to it. */
  names: string[];
  /** Position and text of the result that reported the launch. */
  place: RecordPlace;
  launched: string;
  ui_extra: UiExtra | undefined;
  /** Fingerprint of its end as last emitted, so that no end is emitted twice. */
  emitted_end?: number;
}

export interface PromptOptions {
  origin?: PromptOrigin;
  /** The agent that wrote it. Shown before the text, except for the task that started a run. */
  from?: string;
  /** Opens a turn even during a running one, as prompts typed by a person do. */
  opensTurn: boolean;
  /** Typed by a person, without markup. Only these can be branches of a rewind. */
  typed: boolean;
  /** A record says that it was added to the running turn. It opens no turn, even if the model has just ended its answer. */
  inTurn?: boolean;
}

export interface OpenedTurn extends BranchTurn {
  at: number;
}

/** A call that starts a run. */
export type StartFact = SessionLinkFacts["calls"][number];

/** The part of a session's state that only `session.ts` and the files that it imports use. */
export interface TurnState {
  readonly calls: CallTable;
  /** Number of turns. */
  turns: number;
  turn: OpenedTurn | undefined;
  readonly branches: Branches;
  /** The start of each typed prompt, by the fingerprint of its uuid. */
  readonly beginnings: Recent<number, string>;
  /** Fingerprint of the typed prompt above the last record. */
  lastPrompt: number | undefined;
  /** Times at which each prompt text was typed, by the text's fingerprint. */
  readonly prompts: Recent<number, number[]>;
  hasPrompts: boolean;
  /** Times of content outside steps and calls, by fingerprint. */
  readonly said: Recent<string, number[]>;
  readonly emitted_patch: SessionPatch;
  lastModel: string | undefined;
  /** Fingerprints of the ids of all steps. */
  readonly stepIds: Recent<number, 1>;
  /** The last step that began. */
  newest: Step | undefined;
  /** The last compaction, until the model's next step: its time, and the number of turns before it. */
  compaction: { at: number; turns: number } | undefined;
  /**
   * Hooks, commands and unknown records may precede the first prompt; its turn begins with them. `over`: the prompt was read.
   */
  preamble: "ahead" | "open" | "over";
  /** The last part is an interrupt, and nothing has started since. */
  stopped: boolean;
  /** Time of the turn's last activity. Content before the next prompt may be days later. */
  lastActivityAt: number;
  /** The turn started with a command, which the program may answer itself. */
  byCommand: boolean;
  /** The turn started while the model worked on the previous one. */
  startedDuringTurn: boolean;
  /** The record after which the turn ended provisionally. */
  provisionally_ended: string | undefined;
  /** Prompts that a line removed from the queue, until their own record or the model's next answer follows. */
  held: { line: KeptLine; prompt: QueuedPrompt }[];
  /** Fingerprints of queued prompts that were shown without a record of their own, and how often. */
  readonly shownQueued: Recent<number, number>;
  hasShownQueued: boolean;
}

/** The state of a session's reader: plain data and classes of plain data, bounded by `memory.ts`. */
export interface SessionState {
  readonly session_id: string;
  /** Its link facts without its calls. */
  readonly facts: Omit<SessionLinkFacts, "calls">;
  /** A line of its conversation was read. */
  begun: boolean;
  /** Its start folder has been emitted. */
  located: boolean;
  /** Its first prompt. */
  asked: string | undefined;
  /** The rule by which it is hidden. */
  hidden: string | undefined;
  readonly own: TurnState;
  readonly steps: Recent<string, Step>;
  /** The newest calls that start runs, oldest first. */
  readonly starts: StartFact[];
  /** The parts of each line, by uuid. Lines are retracted by uuid. */
  readonly partsOfLine: Recent<string, { message_id: string; part_ids: string[] }>;
  /** Positions of the first results of calls that are not in the file. */
  readonly unclaimed: Recent<string, RecordPlace>;
  /** The open step. Results may occur between its blocks. */
  openStep: Step | undefined;
  lastStep: Step | undefined;
  /** The call of the last result. */
  answered: Call | undefined;
  turnOpen: boolean;
  /** The turn had an error that the agent did not recover from. */
  turnFailed: boolean;
  /** The output of a command was read in this turn. */
  hasOutput: boolean;
  /** A compaction's marker whose summary has not been read yet. `frame`: as JSON. */
  boundary: { frame: string; place: RecordPlace } | undefined;
  /** A caveat was read: the next command runs no prompt, nor does any command below the caveat. */
  localCommand: boolean;
  readonly caveats: Recent<string, true>;
  readonly queue: PromptQueue;
  /** The last hook's message for people, with the hook's name. A separate record may repeat it. */
  hookSaid: string | undefined;
  /** The message of a stop hook that kept the agent from stopping, until something else happens. Three lines repeat it. */
  blockedStop: string | undefined;
  /** A timer of the agent fired. The next prompt belongs to it. */
  fired: { line: KeptLine; text: string } | undefined;
  /** The step whose call returned the run's final answer. */
  finalStep: Step | undefined;
  /** A record of the model could not be read, so the end of the turn is unknown. */
  damaged: boolean;
  /** The outcome of the last result. */
  lastOutcome: CallOutcome | undefined;
  /** Calls whose runs continue in the background, oldest first. */
  readonly background: BackgroundCall[];
  /** The active modes according to the last reminder to the model. */
  readonly modes: ("plan" | "auto")[];
  /** A command that may run a prompt was read. The next injected text is its expansion. */
  command: string | undefined;
}

/** What a session adds to its state. */
export type SessionFunctions = Omit<Session, keyof SessionState>;

/** One session's transcript: the order of frames, the open parts, and the parts that may still be revised. */
export interface Session extends SessionState {
  /** The link facts, with all calls since reading began or resumed. */
  linkFacts(): SessionLinkFacts;
  /** Adds a call that starts a run. */
  addStart(start: StartFact): void;
  push(line: Line, frame: FrameBody, place?: RecordPlace): void;
  update(line: Line, patch: SessionPatch): void;
  /** Returns the id of the next part that the record itself (not a step) creates. */
  recordPart(line: Line): { message_id: string; part_id: string };
  /** Returns the id of the step's next part. */
  stepPart(line: Line, step: Step): string;
  /** The model continues with a summary of the conversation. Older lines may be copied after it. */
  compact(line: Line): void;
  /** Whether a line has the time of such a copy: its original time, or the compaction's. */
  mayBeReplay(line: Line): boolean;
  prompt(line: Line, parts: Part[], options: PromptOptions): void;
  /**
   * A line moved this prompt from the queue into the running turn. Its own record may follow, and precedes the model's next
   * answer. If there is none, the prompt is shown for the line that moved it.
   */
  holdQueued(line: Line, prompt: QueuedPrompt): void;
  /** Shows that a timer fired, after the prompt that it started. Does nothing if no timer fired, or if it was shown. */
  addTimerNote(line: Line): void;
  /** Whether `holdQueued` has shown a prompt with this text, so that its own record repeats it. */
  wasShown(text: string): boolean;
  /**
   * Shows queued prompts that never reached the model according to the file, because no other record contains them. `atEnd`:
   * inferred from the end of the file.
   */
  dropQueued(line: Line, atEnd: boolean): void;
  /** Whether the prompt is a copy: after a compaction, or under its own uuid when the session was resumed. */
  isReplayedPrompt(line: Line, text: string): boolean;
  /**
   * Whether the content is a copy after a compaction, with its original time or the compaction's. Otherwise it is remembered.
   */
  isReplayed(line: Line, blocks: readonly JsonObject[]): boolean;
  marker(line: Line, kind: MarkerKind, title: DisplayText, text?: string, data?: unknown): void;
  /** The step that an answer with this id continues or repeats. `input`: its input tokens; 0: unknown. */
  stepNamed(line: Line, id: string, input: number): Step | undefined;
  openStepOf(line: Line, id: string, model: string | undefined, input: number): Step;
  endStep(line: Line): void;
  /**
   * Called for a line with token counts of the step. If the step has ended, or its answer is complete although no record says
   * so, emits its end, and again when the end changes: the next record may be a day away.
   */
  emitEndIfDone(line: Line, step: Step): void;
  /** `inferred`: no record says that the turn has ended, nor how. */
  endTurn(line: Line, status: TurnStatus, inferred?: boolean): void;
  /**
   * Emits the end of the turn, inferred from a file that has stopped growing, without changing the state. Later records produce
   * the same parts as without it, so that following the file and reading it later give the same result.
   */
  provisionalEnd(line: Line, status: TurnStatus): void;
  /** Whether the session has more than the parts that may precede the first prompt. */
  hasPrompt(): boolean;
  /** Returns whether it created a part: two interrupts in a row are one. */
  interrupt(line: Line, reason: string): boolean;
  /** `named`: the agent's id of the call. A call of another message with the same id no longer waits for its result. */
  addCall(
    named: string,
    call: Pick<Call, "id" | "tool_name" | "message_id" | "part_id">,
    input: unknown,
    json: string,
  ): Call;
  /** The newest call with this agent id. */
  callNamed(named: string): Call | undefined;
  /** The call that a result for this id belongs to. */
  callAnswered(named: string): Call | undefined;
  /** `place`: position of a result that preceded the call, or this call. */
  answer(line: Line, call: Call, signature: string, place?: RecordPlace): void;
  isOfThisTurn(call: Call): boolean;
  /** Number of calls of the turn that wait for a result. */
  openCalls(): number;
  /** Whether the model ended its turn: its last step called no tool of the agent and did not end in a thought. */
  hasYielded(): boolean;
  /** Whether the turn is a command that the program answered itself. */
  isAnswered(): boolean;
  /** Records each line's parent by fingerprints of uuids, to recognize the branches of a rewind; `null`: it has none. */
  recordParent(print: number, parent: number | null): void;
}
