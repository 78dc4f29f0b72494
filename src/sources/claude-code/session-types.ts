import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { PromptOrigin, Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import type { JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { MarkerKind, TurnStatus } from "../../model/transcript/transcript.ts";
import type { RecordPlace, SessionLinkFacts } from "../contract.ts";
import type { CallsWithSameId } from "../duplicate-call-ids.ts";
import type { Blocks } from "./blocks.ts";
import type { PromptQueue, QueuedPrompt } from "./queue.ts";

/** One record in the hands of the reader. */
export interface Line {
  place: RecordPlace;
  value: JsonObject;
  /** The record as it is written in the file. */
  raw: RawJson;
  uuid: string | undefined;
  /** Names the record in ids: its uuid, or its place where that is missing or was used before. */
  key: string;
  /** By the agent's clock; of the record before it where it has no time. */
  at: number;
  /** What becomes of the record is collected here. */
  frames: Frame[];
  /** Copied from another session, where it is counted. */
  inherited: boolean;
  /** Several records make what is told in its name: it stands at none of them. */
  unplaced?: true;
}

/** One model call: all lines that share a `message.id`, which some providers use again for another call. */
export interface Step {
  message_id: string;
  /** The turn that it was begun in, counted from 1. */
  turn: number;
  /** Its id is no name of its own: it is empty, or was another answer's before. */
  isShared: boolean;
  /** The agent's id of the request that it answers. */
  request: string | undefined;
  ended: boolean;
  /** Its end, as it was emitted last. */
  emitted_end?: string;
  /** Cut off in the middle: it has no `message.end`. */
  cutOff: boolean;
  /** Its last words stand in the deltas of a stream alone: the whole ones never came. */
  isUnfinished: boolean;
  blocks: Blocks;
  /** Parts so far, which is the next part's index. */
  parts: number;
  calls: number;
  /** Whether the step's last part is a block that a longer snapshot may still replace. */
  lastIsBlock: boolean;
  /** The uuid of the line that told the last block, as of now. */
  lastToldIn: string | undefined;
  usage: Usage | undefined;
  stop: string | undefined;
  synthetic: boolean;
  /** Copied from another session, where it is counted. */
  inherited: boolean;
}

export interface Call {
  /** As frames name it: the agent's own id, unless that was given to another call before. */
  id: string;
  tool_name: string;
  message_id: string;
  part_id: string;
  /** Kept until the result came; then absent, and empty. */
  input: JsonObject | undefined;
  arguments_json: string;
  /** The result that came: where it stands, and what tells a copy from another one; absent while it runs. */
  result?: { signature: string; place: RecordPlace };
  /** Live output so far. */
  progress: string;
  /** The turn that it was asked for in, counted from 1. */
  turn: number;
  /** The calls of its message that have the same id of the agent's, and waited for their result when the next one came. */
  same_id?: CallsWithSameId<Call>;
}

/** A call whose run goes on after its result: what tells its end names the call or the run. */
export interface BackgroundCall {
  tool_call_id: string;
  tool_name: string;
  description: string | undefined;
  /** The agent's own id of the run. */
  agent_key: string | undefined;
  /** Where the result stands that said that it was launched, and its text. */
  place: RecordPlace;
  launched: string;
  ui_extra: UiExtra | undefined;
  /** Its end as it was emitted last, to emit each end once. */
  emitted_end?: string;
}

export interface PromptOptions {
  origin?: PromptOrigin;
  /** The agent that says it: named before its words, but where they are what a run was started for. */
  from?: string;
  /** Opens a turn even inside a running one: what a person typed at the prompt does. */
  opensTurn: boolean;
  /** Typed at the prompt without markup: only these can be the two branches of a rewind. */
  typed: boolean;
  /** A record says that it went into the running turn: it opens none, though the model may just have given its turn back. */
  inTurn?: boolean;
}

export interface OpenedTurn {
  turn_id: string;
  uuid: string | undefined;
  at: number;
}

/** The transcript of one session as it is read: the frames' order, what is open, what may still be revised. */
export interface Session {
  readonly session_id: string;
  readonly facts: SessionLinkFacts;
  readonly steps: Map<string, Step>;
  /** The calls of `facts` that start runs, by their id. */
  readonly starts: Map<string, SessionLinkFacts["calls"][number]>;
  /** Which parts a line made: lines are withdrawn by their uuid. */
  readonly partsOfLine: Map<string, { message_id: string; part_ids: string[] }>;
  /** Where the first result of a call stands that is not in the file. */
  readonly unclaimed: Map<string, RecordPlace>;
  /** The step being written; results may stand between its blocks. */
  openStep: Step | undefined;
  lastStep: Step | undefined;
  /** The call that the last result was for. */
  answered: Call | undefined;
  turnOpen: boolean;
  /** The turn met an error that the agent gave up on. */
  turnFailed: boolean;
  /** A command's output was read since the turn began. */
  hasOutput: boolean;
  /** A compaction's marker whose summary has not been read yet. */
  boundary: { frame: Extract<FrameBody, { type: "marker" }>; place: RecordPlace } | undefined;
  /** A caveat was read: the next command is one that runs no prompt, and so is every one that hangs on the caveat. */
  localCommand: boolean;
  readonly caveats: Set<string>;
  readonly queue: PromptQueue;
  /** What the last hook's answer had for people, behind the hook's name: a record of its own may repeat it. */
  hookSaid: string | undefined;
  /** What a stop hook said that kept the agent from stopping, until something else happens: three lines say it. */
  blockedStop: string | undefined;
  /** A timer of the agent's fired: the next prompt is its. */
  fired: { line: Line; title: string; text: string } | undefined;
  /** The step whose call gave the answer that the run was to end with. */
  finalStep: Step | undefined;
  /** A record of the model's could not be read: what the turn ended with is not known. */
  damaged: boolean;
  /** The outcome of the last result. */
  lastOutcome: CallOutcome | undefined;
  /** Calls whose runs go on in the background, oldest first. */
  readonly background: { calls: BackgroundCall[]; byName: Map<string, BackgroundCall> };
  /** What the model was last told to be in. */
  readonly modes: Set<string>;
  /** A command that may run a prompt was read: the next injected text is its expansion. */
  command: string | undefined;

  push(line: Line, frame: FrameBody, place?: RecordPlace): void;
  update(line: Line, patch: SessionPatch): void;
  /** The id of the next part that the record itself (not a step) makes. */
  recordPart(line: Line): { message_id: string; part_id: string };
  /** The id of the step's next part. */
  stepPart(line: Line, step: Step): string;
  /** The model goes on with a summary of the conversation, behind which older lines may be copied. */
  compact(line: Line): void;
  /** Whether a line has the time of such a copy: its own old one, or the compaction's. */
  mayBeReplay(line: Line): boolean;
  prompt(line: Line, parts: Part[], options: PromptOptions): void;
  /**
   * A line took this prompt out of the queue and into the running turn. A record of its own may bring it; the model's next
   * answer comes behind that, and where there is none the prompt is shown for the line that took it.
   */
  holdQueued(line: Line, prompt: QueuedPrompt): void;
  /** Says that a timer fired, behind the prompt that it began; nothing where none did, or it was said. */
  tellFired(line: Line): void;
  /** Whether `holdQueued` has shown a prompt of this text, which its own record brings after all. */
  wasShown(text: string): boolean;
  /** Shows what was queued and never reached the model as far as the file tells: a person's words stand nowhere else. `atEnd`: no record says so. */
  loseQueued(line: Line, atEnd: boolean): void;
  /** Whether the same prompt was copied behind a compaction, or under its own uuid when the session was resumed. */
  isReplayedPrompt(line: Line, text: string): boolean;
  /** Whether the same was copied behind a compaction, at its own time or the compaction's; otherwise it is remembered. */
  isReplayed(line: Line, blocks: readonly JsonObject[]): boolean;
  marker(line: Line, kind: MarkerKind, title: string, text?: string, data?: unknown): void;
  /** The step that an answer of this id goes on with or repeats. `input`: the tokens that it was given; 0: unknown. */
  stepNamed(line: Line, id: string, input: number): Step | undefined;
  openStepOf(line: Line, id: string, model: string | undefined, input: number): Step;
  endStep(line: Line): void;
  /**
   * A line brought figures of the step. Where it has ended, or its answer is whole though nothing follows that says so, its
   * end is told, and again once it is another: what comes next may be a day away.
   */
  tellEnd(line: Line, step: Step): void;
  endTurn(line: Line, status: TurnStatus): void;
  /**
   * Says that the turn is over, as far as the quiet file tells, and takes no note of it: the records that follow make what
   * they would have made, so that who followed the file has the same parts as who reads it later.
   */
  provisionalEnd(line: Line, status: TurnStatus): void;
  /** Whether more was read than what may stand before the first prompt. */
  hasPrompt(): boolean;
  /** Returns whether it made a part: told twice in a row it is one interrupt. */
  interrupt(line: Line, reason: string): boolean;
  /** `named`: the agent's own id of the call; one of another message with the same id waits for its result no longer. */
  addCall(named: string, call: Omit<Call, "progress" | "turn" | "namesakes">): void;
  /** The newest call with this id of the agent's. */
  callNamed(named: string): Call | undefined;
  /** The call that a result for this id belongs to. */
  callAnswered(named: string): Call | undefined;
  /** `place`: where its result stands that came before the call, or before this one. */
  answer(line: Line, call: Call, signature: string, place?: RecordPlace): void;
  isOfThisTurn(call: Call): boolean;
  /** Calls of the turn that wait for their result. */
  openCalls(): number;
  /** The model gave its turn back: its last step called no tool of the agent's, and did not end in a thought. */
  hasYielded(): boolean;
  /** The turn is a command that the program has answered by itself. */
  isAnswered(): boolean;
  /** Every line that names its parent, for telling a rewind's branches apart; `null`: it says that it has none. */
  recordParent(uuid: string, parent: string | null): void;
}
