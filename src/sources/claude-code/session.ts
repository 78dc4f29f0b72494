import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asString, asText } from "../../model/narrow.ts";
import type { SessionPatch } from "../../model/session.ts";
import { isPreamble } from "../../model/transcript/fold/fold.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import type { RecordPlace } from "../contract.ts";
import { fingerprint } from "../fingerprint.ts";
import { firstLine } from "../lines/first-line.ts";
import { IN_MEMORY_LIST, Recent } from "../recent.ts";
import { Blocks } from "./blocks.ts";
import { Branches } from "./branches.ts";
import { type Call, CallTable, setInput } from "./call-table.ts";
import { sample } from "./content.ts";
import {
  MAX_NAMES,
  MAX_PARTS_OF_LINE,
  MAX_START_PROMPTS,
  MAX_STARTS,
  MAX_STEP_IDS,
  MAX_STEPS,
  MAX_TEXTS,
  MAX_TIMES,
  MAX_UNCLAIMED,
  MAX_WITHDRAWABLE,
} from "./memory.ts";
import { PromptQueue, printOf } from "./queue.ts";
import {
  keptLine,
  type Line,
  resumedLine,
  type Session,
  type SessionState,
  type StartFact,
  type Step,
} from "./session-types.ts";
import { givenTokens, isWhole, stopReason } from "./steps.ts";

/** The start of the prompt that is written when a person accepts a plan and the conversation restarts with it. */
const PLAN = "Implement the following plan:";

/** Copies after a compaction are written within this time of it, in milliseconds, unless they have their original time. */
const BURST_MS = 1_000;

/** The state of a session of which nothing was read. */
export function initialSession(session_id: string, group: string): SessionState {
  return {
    session_id,
    facts: { session_id, group },
    begun: false,
    located: false,
    asked: undefined,
    hidden: undefined,
    own: {
      calls: new CallTable(),
      turns: 0,
      turn: undefined,
      branches: new Branches(),
      beginnings: new Recent(MAX_NAMES),
      lastPrompt: undefined,
      prompts: new Recent(MAX_TEXTS),
      hasPrompts: false,
      said: new Recent(MAX_TEXTS),
      emitted_patch: {},
      lastModel: undefined,
      stepIds: new Recent(MAX_STEP_IDS),
      newest: undefined,
      compaction: undefined,
      preamble: "ahead",
      stopped: false,
      actedAt: 0,
      byCommand: false,
      amid: false,
      provisionally_ended: undefined,
      held: [],
      shownQueued: new Recent(MAX_NAMES),
      hasShownQueued: false,
    },
    steps: new Recent(MAX_STEPS),
    starts: [],
    partsOfLine: new Recent(MAX_WITHDRAWABLE),
    unclaimed: new Recent(MAX_UNCLAIMED),
    openStep: undefined,
    lastStep: undefined,
    answered: undefined,
    turnOpen: false,
    turnFailed: false,
    hasOutput: false,
    boundary: undefined,
    localCommand: false,
    caveats: new Recent(MAX_NAMES),
    queue: new PromptQueue(),
    hookSaid: undefined,
    blockedStop: undefined,
    fired: undefined,
    finalStep: undefined,
    damaged: false,
    lastOutcome: undefined,
    background: [],
    modes: [],
    command: undefined,
  };
}

/** Continues a session from its state, to which it adds its functions. The state stays the same object. */
export function openSession(state: SessionState, file: string): Session {
  const { session_id, facts, own, steps, partsOfLine } = state;
  const { calls, branches, beginnings } = own;
  /** Calls that were evicted from `state.starts`. */
  const olderStarts: StartFact[] = [];
  /** The record whose parts `recordPart` counts. */
  let counted: { line: Line; message_id: string; parts: number } | undefined;

  function push(line: Line, frame: FrameBody, place: RecordPlace = line.place): void {
    if (!isPreamble(frame)) {
      own.preamble = "over";
      own.actedAt = Math.max(own.actedAt, line.at);
    } else if (own.preamble === "ahead" && own.turns === 0) {
      own.preamble = "open";
      startTurn(line);
    }
    const whole = complete(line, frame);
    if (line.unplaced === true) return;
    whole.source = { file, line: place.line, byte: place.byte, length: place.length };
  }
  /** Pushes a frame without a source: turn and step boundaries derive from several records. */
  function pushUnplaced(line: Line, frame: FrameBody): void {
    complete(line, frame);
  }
  /** Completes a frame in place. Copying each frame would take a tenth of the reading time. */
  function complete(line: Line, frame: FrameBody): Frame {
    // `Omit` over a union loses the relation between members. The fields complete any of them.
    const whole = frame as Frame;
    whole.session_id = session_id;
    whole.at = line.at;
    line.frames.push(whole);
    return whole;
  }

  function remember(line: Line, message_id: string, part_id: string): void {
    // A uuid that several lines share identifies none of them.
    if (line.uuid === undefined || line.key !== line.uuid) return;
    const known = partsOfLine.get(line.uuid);
    if (known === undefined) partsOfLine.set(line.uuid, { message_id, part_ids: [part_id] });
    else {
      known.part_ids.push(part_id);
      if (known.part_ids.length > MAX_PARTS_OF_LINE) known.part_ids.shift();
    }
  }

  function recordPart(line: Line): { message_id: string; part_id: string } {
    own.stopped = false;
    if (counted?.line !== line) {
      // Use the agent's id if it is a UUID: hashing a name for every record would be slow in long sessions.
      const message_id = isUuid(line.key) ? line.key : uuidFrom(session_id, `record:${line.key}`);
      counted = { line, message_id, parts: 0 };
    }
    const part_id = partId(counted.message_id, counted.parts);
    counted.parts += 1;
    remember(line, counted.message_id, part_id);
    return { message_id: counted.message_id, part_id };
  }

  /** Ends the open turn before another one starts, at its last activity and with the status that its content implies. */
  function endBefore(line: Line): void {
    const over = { ...line, at: own.actedAt };
    session.endStep(over);
    // A command may end without the model.
    const gaveBack = session.lastStep === undefined ? own.byCommand : session.hasYielded();
    const status = calls.open > 0 || !gaveBack ? "interrupted" : "completed";
    session.endTurn(over, session.turnFailed ? "failed" : status);
  }

  function startTurn(line: Line): void {
    const turn_id = uuidFrom(session_id, `turn:${line.key}`);
    const prompt = branches.promptOf(line.print);
    own.turn = { turn_id, prompt, at: line.at };
    own.turns += 1;
    branches.open(own.turn);
    calls.beginTurn();
    own.stopped = false;
    own.actedAt = line.at;
    session.turnOpen = true;
    session.turnFailed = false;
    session.lastStep = undefined;
    pushUnplaced(line, { type: "turn.start", turn_id });
  }

  /** Shows prompts that were moved into the running turn and have no record of their own. */
  function showHeld(line: Line): void {
    if (own.held.length === 0) return;
    const prompts_held = own.held;
    own.held = [];
    for (const { line: from, prompt } of prompts_held) {
      if (!session.queue.isWaiting(prompt)) continue;
      const { print } = prompt;
      own.shownQueued.set(print, (own.shownQueued.get(print) ?? 0) + 1);
      own.hasShownQueued = true;
      const taken = resumedLine(from, line.frames);
      session.prompt(taken, [{ type: "text", text: prompt.text }], {
        opensTurn: false,
        typed: false,
        inTurn: true,
      });
    }
  }

  function sayEnd(line: Line, step: Step): void {
    const stop_reason = stopReason(step);
    const end = JSON.stringify([step.stop, stop_reason, step.usage]);
    const usage = step.synthetic || step.inherited ? undefined : step.usage;
    // An ended step is emitted again only for its tokens.
    if (step.emitted_end === end || (step.emitted_end !== undefined && usage === undefined)) return;
    step.emitted_end = end;
    pushUnplaced(line, {
      type: "message.end",
      message_id: step.message_id,
      ...(stop_reason !== undefined && { stop_reason }),
      ...(step.stop !== undefined && { stop_reason_raw: step.stop }),
      ...(usage !== undefined && { usage }),
    });
  }

  /** Whether a line belongs to another answer than the step with its id, as with providers that reuse one id. */
  function isOfAnother(line: Line, step: Step, input: number): boolean {
    const { turn, compaction } = own;
    const isCopy = line.uuid !== undefined && line.key !== line.uuid;
    if (isCopy || turn === undefined || line.at < turn.at) return false;
    const request = asString(line.value.requestId);
    if (request && step.request) return request !== step.request;
    const before = givenTokens(step.usage);
    const isCounted = input > 0 && before > 0;
    const isNewPrompt = isCounted && input !== before;
    if (compaction !== undefined) {
      // A copy may also have the time of the copying, so lines may be copies until the next prompt.
      const isOver = step.isShared || own.turns > compaction.turns;
      if (session.mayBeReplay(line) || !(isNewPrompt || isOver)) return false;
    }
    if (step.turn === own.turns) {
      const isAsked = isCounted ? isNewPrompt : compaction !== undefined;
      return isAsked && step.calls > 0 && calls.open === 0;
    }
    // A person's command or a task notification may open a turn between the lines of an answer.
    const isOwed = step.stop === undefined && (step.calls === 0 || calls.unansweredOf(step.message_id) !== 0);
    return !(isOwed && input > 0 && input === before);
  }

  /** Handles a rewind: a prompt with the same parent was edited, and its turns and all turns below them are abandoned. */
  function rewind(line: Line, text: string): void {
    const parent = line.value.parentUuid;
    if ((typeof parent !== "string" && parent !== null) || line.uuid === undefined) return;
    // An accepted plan starts without the preceding conversation.
    if (parent === null && text.startsWith(PLAN)) branches.reset();
    const abandoned = branches.type(line.print, uuidPrint(parent), secondOf(line.at));
    own.lastPrompt = line.print;
    beginnings.set(own.lastPrompt, firstLine(text));
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
   * Emits the turn of a line. Two processes that resumed the same session write to it concurrently: an answer may follow the
   * other process's prompt, even if both prompts have the same parent, as in a rewind.
   */
  function tellTurnOf(line: Line): void {
    const prompt = branches.promptOf(line.print);
    const words = prompt === undefined ? undefined : beginnings.get(prompt);
    if (words === undefined || prompt === own.lastPrompt) return;
    own.lastPrompt = prompt;
    session.marker(
      line,
      "note",
      `Another process writes this session too: what follows belongs to the turn of “${words}”`,
    );
  }

  const session: Session = Object.assign(state, {
    push,

    update(line, patch) {
      let news: SessionPatch | undefined;
      // A run's name and task are recorded in several places.
      const whole =
        patch.run === undefined ? patch : { ...patch, run: { ...own.emitted_patch.run, ...patch.run } };
      for (const name in whole) {
        // `for…in` types its keys as `string`.
        const key = name as keyof SessionPatch;
        const value = whole[key];
        const before = own.emitted_patch[key];
        if (value === undefined || value === before) continue;
        if (typeof value === "object" && JSON.stringify(before) === JSON.stringify(value)) continue;
        news = { ...news, [key]: value };
      }
      if (news === undefined) return;
      Object.assign(own.emitted_patch, news);
      pushUnplaced(line, { type: "session.update", patch: news });
    },

    recordPart,

    stepPart(line, step) {
      own.stopped = false;
      const part_id = partId(step.message_id, step.parts);
      step.parts += 1;
      remember(line, step.message_id, part_id);
      // A late block of an answer that seemed complete: its turn is running again.
      session.turnOpen = true;
      return part_id;
    },

    compact(line) {
      // The output of `claude -p` has no times and no copies.
      const at = line.value.timestamp === undefined ? Number.NEGATIVE_INFINITY : line.at;
      own.compaction = { at, turns: own.turns };
      // A prompt copied after it has the parent of the first prompt.
      beginnings.clear();
    },
    mayBeReplay: (line: Line) => own.compaction !== undefined && line.at < own.compaction.at + BURST_MS,

    prompt(line, given, options) {
      const isTask = facts.run !== undefined && !own.hasPrompts;
      const parts =
        options.from === undefined || isTask
          ? given
          : given.map((part) =>
              part.type === "text" ? { ...part, text: `From ${options.from}: ${part.text}` } : part,
            );
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      own.hasPrompts = true;
      const print = fingerprint(text);
      own.prompts.set(print, withTime(own.prompts.get(print), line.at));
      const isFirst = own.preamble === "open";
      const rests = !session.turnOpen || (session.hasYielded() && options.inTurn !== true);
      const opens = options.opensTurn || isFirst || rests;
      const isAmid = !isFirst && !rests && !session.isAnswered();
      const wasQueued = session.queue.deliver(text);
      if (opens) showHeld(line);
      // The agent empties its queue before a person can type a prompt.
      if (!wasQueued && opens && options.typed) session.loseQueued(line, false);
      if (opens && options.typed) rewind(line, text);
      const only = own.turn;
      if (isFirst && only !== undefined) {
        // Records below the prompt are abandoned with it, but not those below earlier records.
        only.prompt = branches.promptOf(line.print);
        if (own.provisionally_ended !== undefined)
          pushUnplaced(line, { type: "turn.start", turn_id: only.turn_id });
      } else if (opens) {
        endBefore(line);
        startTurn(line);
      }
      if (opens) {
        own.byCommand = options.origin === "command";
        own.amid = isAmid;
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
      session.damaged = false;
      session.blockedStop = undefined;
      session.tellFired(line);
    },

    tellFired(line) {
      const { fired } = session;
      if (fired === undefined) return;
      session.fired = undefined;
      session.marker(resumedLine(fired.line, line.frames), "note", fired.title, fired.text);
    },

    holdQueued(line, prompt) {
      own.held.push({ line: keptLine(line), prompt });
    },

    wasShown(text) {
      if (!own.hasShownQueued) return false;
      const print = printOf(text);
      const times = own.shownQueued.get(print) ?? 0;
      if (times > 1) own.shownQueued.set(print, times - 1);
      else own.shownQueued.delete(print);
      return times > 0;
    },

    loseQueued(line, atEnd) {
      showHeld(line);
      // A copied prompt may be older than the waiting prompts.
      for (const { text, place } of session.queue.takeUntil(atEnd ? Number.POSITIVE_INFINITY : line.at)) {
        const title = `Queued prompt, no record that it was sent: ${firstLine(text)}`;
        const data = { line: place.line, byte: place.byte };
        if (!atEnd) session.marker(line, "note", title, text, data);
        else {
          // Derived from the position of queueing: the file's last record has parts of its own.
          const message_id = uuidFrom(session_id, `queued:${place.byte}`);
          const part_id = partId(message_id, 0);
          pushUnplaced(line, { type: "marker", kind: "note", message_id, part_id, title, text, data });
        }
      }
    },

    isReplayedPrompt(line, text) {
      const isCopy = line.uuid !== undefined && line.key !== line.uuid;
      const times = own.prompts.get(fingerprint(text));
      if (times === undefined) return false;
      if (isCopy && times.includes(line.at)) return true;
      if (own.compaction === undefined || !session.mayBeReplay(line)) return false;
      if (times.some((at) => secondOf(at) === secondOf(line.at))) return true;
      // Prompts that waited during the compaction are sent at once.
      return line.at > own.compaction.at - BURST_MS && !session.queue.waits(text, line.at);
    },

    isReplayed(line, blocks) {
      if (blocks.length === 0) return false;
      const text = JSON.stringify(blocks);
      const print = `${text.length}:${sample(text)}`;
      const times = own.said.get(print);
      // Also for a copy, which may be copied again.
      own.said.set(print, withTime(times, line.at));
      if (times === undefined) return false;
      return session.mayBeReplay(line) && (line.at === own.compaction?.at || times.includes(line.at));
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
      own.compaction = undefined;
      session.endStep(line);
      showHeld(line);
      session.damaged = false;
      session.blockedStop = undefined;
      // Activity without a new prompt continues the previous turn.
      if (own.turns === 0) startTurn(line);
      session.turnOpen = true;
      tellTurnOf(line);
      const synthetic = model === "<synthetic>";
      const named = synthetic ? undefined : model;
      if (named !== undefined) {
        if (own.lastModel !== undefined && own.lastModel !== named) {
          session.marker(line, "model_switch", `Model changed: ${own.lastModel} → ${named}`);
        }
        own.lastModel = named;
        session.update(line, { model: named });
      }
      const id_print = fingerprint(id);
      const isKnown = own.stepIds.has(id_print);
      const effort = asText(line.value.effort);
      const name = isKnown ? `${id}@${line.place.byte}` : id;
      const step: Step = {
        message_id: uuidFrom(session_id, `message:${name}`),
        turn: own.turns,
        isShared: isKnown || id === "",
        request: asString(line.value.requestId),
        ended: false,
        cutOff: false,
        isUnfinished: false,
        blocks: new Blocks(),
        parts: 0,
        calls: 0,
        lastIsBlock: false,
        lastToldIn: undefined,
        usage: undefined,
        stop: undefined,
        synthetic,
        inherited: line.inherited,
      };
      own.newest?.blocks.forgetTexts();
      own.newest = step;
      steps.set(id, step);
      own.stepIds.set(id_print, 1);
      // If the agent continues, it has recovered from its error.
      session.turnFailed = false;
      session.openStep = step;
      session.lastStep = step;
      push(line, {
        type: "message.start",
        message_id: step.message_id,
        response_id: id,
        ...(named !== undefined && { model: named }),
        ...(effort !== undefined && { effort }),
        ...(step.inherited && { inherited: true }),
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
      showHeld(line);
      if (!session.turnOpen) return;
      session.turnOpen = false;
      pushUnplaced(line, { type: "turn.end", status });
    },

    hasPrompt: () => own.preamble !== "open",

    provisionalEnd(line, status) {
      if (!session.turnOpen || own.provisionally_ended === line.key) return;
      own.provisionally_ended = line.key;
      pushUnplaced(line, { type: "turn.end", status });
    },

    interrupt(line, reason) {
      if (own.stopped) return false;
      const step = session.openStep;
      // A model call that was cut off has no end. One whose tools were stopped has already ended.
      if (step !== undefined && step.calls === 0 && (step.stop === undefined || step.synthetic)) {
        step.ended = true;
        step.cutOff = true;
        session.openStep = undefined;
      }
      session.endStep(line);
      push(line, { type: "interrupt", part_id: recordPart(line).part_id, reason });
      session.endTurn(line, "interrupted");
      own.stopped = true;
      return true;
    },

    hasYielded() {
      const step = session.lastStep;
      if (step === undefined || session.damaged) return false;
      if (step === session.finalStep) return calls.open === 0;
      if (step.calls > 0 || step.parts === 0 || step.isUnfinished) return false;
      return !(step.lastIsBlock && step.blocks.last?.kind === "thinking");
    },

    isAnswered: () => own.byCommand && !own.amid && session.hasOutput && session.lastStep === undefined,

    addCall(named, given, input, json) {
      const { id, tool_name, message_id, part_id } = given;
      const call: Call = {
        id,
        tool_name,
        message_id,
        part_id,
        arguments_json: json,
        hasInput: false,
        progress: "",
        turn: own.turns,
        waits: true,
      };
      setInput(call, input, json);
      calls.add(named, call);
      return call;
    },
    addStart(start) {
      session.starts.push(start);
      let length = session.starts.reduce((sum, { prompt }) => sum + (prompt?.length ?? 0), 0);
      while (
        session.starts.length > MAX_STARTS * IN_MEMORY_LIST ||
        (length > MAX_START_PROMPTS * IN_MEMORY_LIST && session.starts.length > 1)
      ) {
        const oldest = session.starts.shift();
        if (oldest === undefined) break;
        length -= oldest.prompt?.length ?? 0;
        olderStarts.push(oldest);
      }
    },
    linkFacts: () => {
      const { group, run } = facts;
      const all = [...olderStarts, ...session.starts];
      return { session_id, group, calls: all, ...(run !== undefined && { run }) };
    },
    callNamed: (named) => calls.named(named),
    callAnswered: (named) => calls.answered(named),
    answer(line, call, signature, place) {
      session.answered = call;
      calls.answer(call, signature, place ?? call.result?.place ?? line.place);
    },
    isOfThisTurn: (call) => call.turn === own.turns,
    openCalls: () => calls.open,
    recordParent: (uuid, parent) => branches.recordParent(uuid, parent),
  } satisfies Omit<Session, keyof SessionState>);

  return session;
}

const uuidPrint = (uuid: string | null): number | null => (uuid === null ? null : fingerprint(uuid));

/** Adds a time to the newest `MAX_TIMES`. */
function withTime(times: readonly number[] = [], at: number): number[] {
  return times.includes(at) ? [...times] : [...times, at].slice(-MAX_TIMES);
}

const secondOf = (at: number): number => Math.floor(at / 1000);
