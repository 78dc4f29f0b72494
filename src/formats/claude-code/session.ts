import { isPreamble } from "../../model/fold/fold.ts";
import type { Frame } from "../../model/frame.ts";
import type { FrameBody } from "../../model/frame-writer.ts";
import { isUuid } from "../../model/is-uuid.ts";
import type { Usage } from "../../model/message.ts";
import { asString, type JsonObject } from "../../model/narrow.ts";
import type { Part } from "../../model/part.ts";
import type { RawJson } from "../../model/raw-json.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { MarkerKind, TurnStatus } from "../../model/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { firstLine } from "../first-line.ts";
import type { RecordPlace, SessionLinkFacts } from "../format.ts";
import { Namesakes } from "../namesakes.ts";
import { Blocks } from "./blocks.ts";
import { Branches } from "./branches.ts";
import { sample } from "./content.ts";
import { createPromptQueue, type PromptQueue } from "./queue.ts";

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
  /** Its end, as it was told last. */
  told?: string;
  /** Cut off in the middle: it has no `message.end`. */
  cutOff: boolean;
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
  namesakes?: Namesakes<Call>;
}

interface PromptOptions {
  origin?: "agent" | "notification" | "command";
  /** The agent that says it: named before its words, but where they are what a run was started for. */
  from?: string;
  /** Opens a turn even inside a running one: what a person typed at the prompt does. */
  opensTurn: boolean;
  /** Typed at the prompt without markup: only these can be the two branches of a rewind. */
  typed: boolean;
}

interface OpenedTurn {
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
  /** A version that writes `attachment` lines, in which a queued prompt reaches the model. */
  hasAttachments: boolean;
  /** What the last hook's answer had for people, behind the hook's name: a record of its own may repeat it. */
  hookSaid: string | undefined;
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
  /** Shows what was queued and cannot be sent any more: a person's words stand nowhere else. `atEnd`: no record says so. */
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
  foretellEnd(line: Line, status: TurnStatus): void;
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
  hangs(uuid: string, parent: string | null): void;
}

/** What a person's assent to a plan is written as, where the conversation begins anew with it. */
const PLAN = "Implement the following plan:";

/** What is copied behind a compaction is written within this time of it, unless it has its own time; in milliseconds. */
const BURST_MS = 1_000;

export function createSession(session_id: string, file: string, facts: SessionLinkFacts): Session {
  const steps = new Map<string, Step>();
  const calls = new Map<string, Call>();
  const partsOfLine = new Map<string, { message_id: string; part_ids: string[] }>();
  const unclaimed = new Map<string, RecordPlace>();
  const turns: OpenedTurn[] = [];
  const branches = new Branches<OpenedTurn>();
  /** How each typed prompt begins, by its uuid. */
  const beginnings = new Map<string, string>();
  /** The uuid of the typed prompt that what is told last hangs on. */
  let lastPrompt: string | undefined;
  /** When each prompt's text was typed. */
  const prompts = new Map<string, { times: Set<number>; seconds: Set<number> }>();
  /** When what stands neither in a step nor beside its call was said, by its fingerprint. */
  const said = new Map<string, Set<number>>();
  const told: SessionPatch = {};
  let lastModel: string | undefined;
  /** Calls of the turn that have no result yet. */
  const waiting = new Set<Call>();
  /** The last compaction, until the model's next step: when it was, and behind how many turns. */
  let compaction: { at: number; turns: number } | undefined;
  /** Calls without a result, by message, of any turn. */
  const unanswered = new Map<string, number>();
  /** Before the first prompt there may be hooks, commands and unknown records: its turn begins with them. `over`: it has its prompt. */
  let preamble: "ahead" | "open" | "over" = "ahead";
  /** The last part is an interrupt, and nothing began since. */
  let stopped = false;
  /** When the turn last did something: what is put before the next prompt may be of another day. */
  let actedAt = 0;
  /** The turn was begun with a command, which the program may answer by itself. */
  let byCommand = false;
  /** It was begun while the model worked on the turn before. */
  let amid = false;
  /** The record after which the turn's end was foretold. */
  let foretold: string | undefined;
  /** The record that `recordPart` counts for. */
  let counted: { line: Line; message_id: string; parts: number } | undefined;

  function push(line: Line, frame: FrameBody, place: RecordPlace = line.place): void {
    if (!isPreamble(frame)) {
      preamble = "over";
      actedAt = Math.max(actedAt, line.at);
    } else if (preamble === "ahead" && turns.length === 0) {
      preamble = "open";
      startTurn(line);
    }
    complete(line, frame).source = { file, line: place.line, byte: place.byte, length: place.length };
  }
  /** Boundaries belong to no record: they follow from several. */
  function pushUnplaced(line: Line, frame: FrameBody): void {
    complete(line, frame);
  }
  /** Makes a whole frame of one that was made for this: a copy of each would be a tenth of reading. */
  function complete(line: Line, frame: FrameBody): Frame {
    // Omit over a union loses the tie between members; the fields complete any of them.
    const whole = frame as Frame;
    whole.session_id = session_id;
    whole.at = line.at;
    line.frames.push(whole);
    return whole;
  }

  function remember(line: Line, message_id: string, part_id: string): void {
    // A uuid that several lines share names none of them for sure.
    if (line.uuid === undefined || line.key !== line.uuid) return;
    const known = partsOfLine.get(line.uuid);
    if (known === undefined) partsOfLine.set(line.uuid, { message_id, part_ids: [part_id] });
    else known.part_ids.push(part_id);
  }

  function recordPart(line: Line): { message_id: string; part_id: string } {
    stopped = false;
    if (counted?.line !== line) {
      // The agent's own id where it is one: hashing a name for every record would be felt in long sessions.
      const message_id = isUuid(line.key) ? line.key : uuidFrom(session_id, `record:${line.key}`);
      counted = { line, message_id, parts: 0 };
    }
    const part_id = partId(counted.message_id, counted.parts);
    counted.parts += 1;
    remember(line, counted.message_id, part_id);
    return { message_id: counted.message_id, part_id };
  }

  /** Ends the turn, if one is open, where another one begins: when it last did something, and as it went. */
  function endBefore(line: Line): void {
    const over = { ...line, at: actedAt };
    session.endStep(over);
    // A command may end without the model.
    const gaveBack = session.lastStep === undefined ? byCommand : session.hasYielded();
    const status = waiting.size > 0 || !gaveBack ? "interrupted" : "completed";
    session.endTurn(over, session.turnFailed ? "failed" : status);
  }

  function startTurn(line: Line): void {
    const turn_id = uuidFrom(session_id, `turn:${line.key}`);
    const turn = { turn_id, uuid: line.uuid, at: line.at };
    turns.push(turn);
    branches.open(turn);
    waiting.clear();
    stopped = false;
    actedAt = line.at;
    session.turnOpen = true;
    session.turnFailed = false;
    session.lastStep = undefined;
    pushUnplaced(line, { type: "turn.start", turn_id });
  }

  function sayEnd(line: Line, step: Step): void {
    const stop_reason = stopReason(step);
    const end = JSON.stringify([step.stop, stop_reason, step.usage]);
    const usage = step.synthetic ? undefined : step.usage;
    // What has ended is told again for its tokens alone.
    if (step.told === end || (step.told !== undefined && usage === undefined)) return;
    step.told = end;
    pushUnplaced(line, {
      type: "message.end",
      message_id: step.message_id,
      ...(stop_reason !== undefined && { stop_reason }),
      ...(step.stop !== undefined && { stop_reason_raw: step.stop }),
      ...(usage !== undefined && { usage }),
    });
  }

  /** Whether a line is another answer than the step of its id, as where a provider has one id for all of them. */
  function isOfAnother(line: Line, step: Step, input: number): boolean {
    const turn = turns.at(-1);
    const isCopy = line.uuid !== undefined && line.key !== line.uuid;
    if (isCopy || turn === undefined || line.at < turn.at) return false;
    const request = asString(line.value.requestId);
    if (request && step.request) return request !== step.request;
    const before = givenTokens(step.usage);
    const isCounted = input > 0 && before > 0;
    const isAskedAnew = isCounted && input !== before;
    if (compaction !== undefined) {
      // A copy may also have the time at which it was written: until the next prompt a line may be one.
      const isOver = step.isShared || turns.length > compaction.turns;
      if (session.mayBeReplay(line) || !(isAskedAnew || isOver)) return false;
    }
    if (step.turn === turns.length) {
      const isAsked = isCounted ? isAskedAnew : compaction !== undefined;
      return isAsked && step.calls > 0 && waiting.size === 0;
    }
    // What a person ran, and news of a task, opens a turn amid an answer's lines.
    const isOwed = step.stop === undefined && (step.calls === 0 || unanswered.get(step.message_id) !== 0);
    return !(isOwed && input > 0 && input === before);
  }

  /** An earlier prompt under the same parent was edited: its turns, and those that followed from it, are abandoned. */
  function rewind(line: Line, text: string): void {
    const parent = line.value.parentUuid;
    if ((typeof parent !== "string" && parent !== null) || line.uuid === undefined) return;
    // An accepted plan is begun without what led to it.
    if (parent === null && text.startsWith(PLAN)) branches.beginAnew();
    const abandoned = branches.type(line.uuid, parent, secondOf(line.at));
    beginnings.set(line.uuid, firstLine(text));
    lastPrompt = line.uuid;
    if (abandoned.length === 0) return;
    endBefore(line);
    for (const turn of abandoned) {
      pushUnplaced(line, {
        type: "turn.retract",
        turn_id: turn.turn_id,
        reason: "rewound to an earlier prompt",
      });
    }
    const count = abandoned.length === 1 ? "the turn above is" : `${abandoned.length} turns above are`;
    session.marker(line, "rewind", `Rewound to an earlier prompt: ${count} abandoned`);
  }

  /**
   * Two processes that resumed one session write it at once: an answer may stand behind another one's prompt, also where both
   * prompts hang on what both had read, as those of a rewind do.
   */
  function tellTurnOf(line: Line): void {
    const prompt = line.uuid === undefined ? undefined : branches.promptOf(line.uuid);
    const words = prompt === undefined ? undefined : beginnings.get(prompt);
    if (words === undefined || prompt === lastPrompt) return;
    lastPrompt = prompt;
    session.marker(
      line,
      "note",
      `Another process writes this session too: what follows belongs to the turn of “${words}”`,
    );
  }

  const session: Session = {
    session_id,
    facts,
    steps,
    starts: new Map(),
    partsOfLine,
    unclaimed,
    openStep: undefined,
    lastStep: undefined,
    answered: undefined,
    turnOpen: false,
    turnFailed: false,
    hasOutput: false,
    boundary: undefined,
    localCommand: false,
    caveats: new Set(),
    queue: createPromptQueue(),
    hasAttachments: false,
    hookSaid: undefined,
    command: undefined,

    push,

    update(line, patch) {
      let news: SessionPatch | undefined;
      // What a run is called, and what it does, is told in several places.
      const whole = patch.run === undefined ? patch : { ...patch, run: { ...told.run, ...patch.run } };
      for (const name in whole) {
        // A loop forgets that the names are the patch's own.
        const key = name as keyof SessionPatch;
        const value = whole[key];
        const before = told[key];
        if (value === undefined || value === before) continue;
        if (typeof value === "object" && JSON.stringify(before) === JSON.stringify(value)) continue;
        news = { ...news, [key]: value };
      }
      if (news === undefined) return;
      Object.assign(told, news);
      pushUnplaced(line, { type: "session.update", patch: news });
    },

    recordPart,

    stepPart(line, step) {
      stopped = false;
      const part_id = partId(step.message_id, step.parts);
      step.parts += 1;
      remember(line, step.message_id, part_id);
      // A late block of an answer that was taken for ended: its turn runs again.
      session.turnOpen = true;
      return part_id;
    },

    compact(line) {
      // A printed stream has no times, and no copies.
      const at = line.value.timestamp === undefined ? Number.NEGATIVE_INFINITY : line.at;
      compaction = { at, turns: turns.length };
      // A prompt that is copied behind it hangs on what the first one hung on.
      beginnings.clear();
    },
    mayBeReplay: (line) => compaction !== undefined && line.at < compaction.at + BURST_MS,

    prompt(line, given, options) {
      const isTask = facts.run !== undefined && prompts.size === 0;
      const parts =
        options.from === undefined || isTask
          ? given
          : given.map((part) =>
              part.type === "text" ? { ...part, text: `From ${options.from}: ${part.text}` } : part,
            );
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      const typed = prompts.get(text) ?? { times: new Set(), seconds: new Set() };
      typed.times.add(line.at);
      typed.seconds.add(secondOf(line.at));
      prompts.set(text, typed);
      const isFirst = preamble === "open";
      const rests = !session.turnOpen || session.hasYielded();
      const opens = options.opensTurn || isFirst || rests;
      const isAmid = !isFirst && !rests && !session.isAnswered();
      // An agent empties its queue before it lets a person type at the prompt.
      if (!session.queue.deliver(text) && opens && options.typed) session.loseQueued(line, false);
      if (opens && options.typed) rewind(line, text);
      const [only] = turns;
      if (isFirst && only !== undefined) {
        // What hangs on the prompt is abandoned with it, and not what hangs on the records before.
        only.uuid = line.uuid;
        if (foretold !== undefined) pushUnplaced(line, { type: "turn.start", turn_id: only.turn_id });
      } else if (opens) {
        endBefore(line);
        startTurn(line);
      }
      if (opens) {
        byCommand = options.origin === "command";
        amid = isAmid;
        session.hasOutput = false;
      }
      const { message_id, part_id } = recordPart(line);
      push(line, {
        type: "user.message",
        message_id,
        part_id,
        parts,
        ...(!opens && { queued: true }),
        ...(options.origin !== undefined && { origin: options.origin }),
      });
    },

    loseQueued(line, atEnd) {
      // A copied prompt may be older than what waits.
      for (const { text, place } of session.queue.takeUntil(atEnd ? Number.POSITIVE_INFINITY : line.at)) {
        const title = `Queued prompt, never sent: ${firstLine(text)}`;
        const data = { line: place.line, byte: place.byte };
        if (!atEnd) session.marker(line, "note", title, text, data);
        else {
          // By where it was queued: the file's last record has parts of its own.
          const message_id = uuidFrom(session_id, `queued:${place.byte}`);
          const part_id = partId(message_id, 0);
          pushUnplaced(line, { type: "marker", kind: "note", message_id, part_id, title, text, data });
        }
      }
    },

    isReplayedPrompt(line, text) {
      const isCopy = line.uuid !== undefined && line.key !== line.uuid;
      const typed = prompts.get(text);
      if (typed === undefined) return false;
      if (isCopy && typed.times.has(line.at)) return true;
      if (compaction === undefined || !session.mayBeReplay(line)) return false;
      if (typed.seconds.has(secondOf(line.at))) return true;
      // What waited while the conversation was summed up is sent at once.
      return line.at > compaction.at - BURST_MS && !session.queue.waits(text, line.at);
    },

    isReplayed(line, blocks) {
      if (blocks.length === 0) return false;
      const text = JSON.stringify(blocks);
      const fingerprint = `${text.length}:${sample(text)}`;
      const times = said.get(fingerprint);
      if (times === undefined) {
        said.set(fingerprint, new Set([line.at]));
        return false;
      }
      const isReplay = session.mayBeReplay(line) && (line.at === compaction?.at || times.has(line.at));
      // Also that of a copy, which may be copied again.
      times.add(line.at);
      return isReplay;
    },

    marker(line, kind, title, text, data) {
      const { message_id, part_id } = recordPart(line);
      push(line, {
        type: "marker",
        part_id,
        message_id,
        kind,
        title,
        ...(text !== undefined && text !== "" && { text }),
        ...(data !== undefined && { data }),
      });
    },

    stepNamed(line, id, input) {
      const step = steps.get(id);
      return step === undefined || isOfAnother(line, step, input) ? undefined : step;
    },

    openStepOf(line, id, model, input) {
      const known = session.stepNamed(line, id, input);
      if (known !== undefined) return known;
      compaction = undefined;
      session.endStep(line);
      // What the agent does without a new prompt goes on with the turn before.
      if (turns.length === 0) startTurn(line);
      session.turnOpen = true;
      tellTurnOf(line);
      const synthetic = model === "<synthetic>";
      const named = synthetic ? undefined : model;
      if (named !== undefined) {
        if (lastModel !== undefined && lastModel !== named) {
          session.marker(line, "model_switch", `Model changed: ${lastModel} → ${named}`);
        }
        lastModel = named;
        session.update(line, { model: named });
      }
      const isKnown = steps.has(id);
      const name = isKnown ? `${id}@${line.place.byte}` : id;
      const step: Step = {
        message_id: uuidFrom(session_id, `message:${name}`),
        turn: turns.length,
        isShared: isKnown || id === "",
        request: asString(line.value.requestId),
        ended: false,
        cutOff: false,
        blocks: new Blocks(),
        parts: 0,
        calls: 0,
        lastIsBlock: false,
        lastToldIn: undefined,
        usage: undefined,
        stop: undefined,
        synthetic,
      };
      steps.set(id, step);
      // An agent that goes on has got over its error.
      session.turnFailed = false;
      session.openStep = step;
      session.lastStep = step;
      push(line, {
        type: "message.start",
        message_id: step.message_id,
        response_id: id,
        ...(named !== undefined && { model: named }),
      });
      return step;
    },

    endStep(line) {
      const step = session.openStep;
      if (step === undefined) return;
      session.openStep = undefined;
      step.ended = true;
      sayEnd(line, step);
    },

    tellEnd(line, step) {
      const isSaid = step.ended || (step.usage !== undefined && isWhole(step));
      if (!step.cutOff && isSaid) sayEnd(line, step);
    },

    endTurn(line, status) {
      session.endStep(line);
      if (!session.turnOpen) return;
      session.turnOpen = false;
      pushUnplaced(line, { type: "turn.end", status });
    },

    hasPrompt: () => preamble !== "open",

    foretellEnd(line, status) {
      if (!session.turnOpen || foretold === line.key) return;
      foretold = line.key;
      pushUnplaced(line, { type: "turn.end", status });
    },

    interrupt(line, reason) {
      if (stopped) return false;
      const step = session.openStep;
      // A model call that was cut off has no end; one whose tools were stopped had ended before.
      if (step !== undefined && step.calls === 0 && (step.stop === undefined || step.synthetic)) {
        step.ended = true;
        step.cutOff = true;
        session.openStep = undefined;
      }
      session.endStep(line);
      push(line, { type: "interrupt", part_id: recordPart(line).part_id, reason });
      session.endTurn(line, "interrupted");
      stopped = true;
      return true;
    },

    hasYielded() {
      const step = session.lastStep;
      if (step === undefined || step.calls > 0 || step.parts === 0) return false;
      return !(step.lastIsBlock && step.blocks.last?.kind === "thinking");
    },

    isAnswered: () => byCommand && !amid && session.hasOutput && session.lastStep === undefined,

    addCall(named, asked) {
      const before = calls.get(named);
      const isBeside = before?.message_id === asked.message_id && before.result === undefined;
      if (before !== undefined && !isBeside) waiting.delete(before);
      const call: Call = { ...asked, progress: "", turn: turns.length };
      if (isBeside) {
        call.namesakes = before.namesakes ?? new Namesakes(before);
        call.namesakes.add(call);
      }
      waiting.add(call);
      unanswered.set(call.message_id, (unanswered.get(call.message_id) ?? 0) + 1);
      calls.set(named, call);
    },
    callNamed: (named) => calls.get(named),
    callAnswered(named) {
      const call = calls.get(named);
      return call?.namesakes?.oldest((each) => waiting.has(each)) ?? call;
    },
    answer(line, call, signature, place) {
      session.answered = call;
      waiting.delete(call);
      if (call.result === undefined)
        unanswered.set(call.message_id, (unanswered.get(call.message_id) ?? 0) - 1);
      call.result = { signature, place: place ?? call.result?.place ?? line.place };
      call.input = undefined;
      call.arguments_json = "";
    },
    isOfThisTurn: (call) => call.turn === turns.length,
    openCalls: () => waiting.size,
    hangs: (uuid, parent) => branches.hangs(uuid, parent),
  };

  return session;
}

const secondOf = (at: number): number => Math.floor(at / 1000);

/** All tokens that the model was given. */
export function givenTokens(usage: Usage | undefined): number {
  return (usage?.input ?? 0) + (usage?.cache_read ?? 0) + (usage?.cache_write ?? 0);
}

/** The model stopped of itself, with words: no line of this step is owed any more. */
export function isWhole(step: Step): boolean {
  const stopped = step.stop === "end_turn" || step.stop === "stop_sequence" || step.stop === "max_tokens";
  // The words that an interrupt cut off come as a synthetic answer, with the interrupt behind it.
  if (!stopped || step.synthetic || step.calls > 0) return false;
  // A fast answer says why it stopped in all its lines: one that has only thought so far goes on.
  return step.lastIsBlock && step.blocks.last?.kind === "text";
}

function stopReason(step: Step): "stop" | "length" | "tool_use" | "error" | undefined {
  switch (step.stop) {
    case undefined:
      return step.calls > 0 ? "tool_use" : undefined;
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_use";
    case "refusal":
      return "error";
    default:
      return "stop";
  }
}
