import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { isUuid } from "../../model/is-uuid.ts";
import { asString, asText } from "../../model/narrow.ts";
import type { SessionPatch } from "../../model/session.ts";
import { isPreamble } from "../../model/transcript/fold/fold.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import type { RecordPlace, SessionLinkFacts } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { Blocks } from "./blocks.ts";
import { Branches } from "./branches.ts";
import { CallTable } from "./call-table.ts";
import { sample } from "./content.ts";
import { bare, createPromptQueue, type QueuedPrompt } from "./queue.ts";
import type { Line, OpenedTurn, Session, Step } from "./session-types.ts";
import { givenTokens, isWhole, stopReason } from "./steps.ts";

/** The start of the prompt that is written when a person accepts a plan and the conversation restarts with it. */
const PLAN = "Implement the following plan:";

/** Copies after a compaction are written within this time of it, in milliseconds, unless they have their original time. */
const BURST_MS = 1_000;

export function createSession(session_id: string, file: string, facts: SessionLinkFacts): Session {
  const steps = new Map<string, Step>();
  const calls = new CallTable();
  const partsOfLine = new Map<string, { message_id: string; part_ids: string[] }>();
  const unclaimed = new Map<string, RecordPlace>();
  const turns: OpenedTurn[] = [];
  const branches = new Branches<OpenedTurn>();
  /** The start of each typed prompt, by uuid. */
  const beginnings = new Map<string, string>();
  /** Uuid of the typed prompt above the last record. */
  let lastPrompt: string | undefined;
  /** Times at which each prompt text was typed. */
  const prompts = new Map<string, { times: Set<number>; seconds: Set<number> }>();
  /** Times of content outside steps and calls, by fingerprint. */
  const said = new Map<string, Set<number>>();
  const emitted_patch: SessionPatch = {};
  let lastModel: string | undefined;
  /** The last compaction, until the model's next step: its time, and the number of turns before it. */
  let compaction: { at: number; turns: number } | undefined;
  /**
   * Hooks, commands and unknown records may precede the first prompt; its turn begins with them. `over`: the prompt was read.
   */
  let preamble: "ahead" | "open" | "over" = "ahead";
  /** The last part is an interrupt, and nothing has started since. */
  let stopped = false;
  /** Time of the turn's last activity. Content before the next prompt may be days later. */
  let actedAt = 0;
  /** The turn started with a command, which the program may answer itself. */
  let byCommand = false;
  /** The turn started while the model worked on the previous one. */
  let amid = false;
  /** The record after which the turn ended provisionally. */
  let provisionally_ended: string | undefined;
  /** Prompts that a line removed from the queue, until their own record or the model's next answer follows. */
  let held: { line: Line; prompt: QueuedPrompt }[] = [];
  /** Texts of queued prompts that were shown without a record of their own. */
  const shownQueued = new Map<string, number>();
  /** The record whose parts `recordPart` counts. */
  let counted: { line: Line; message_id: string; parts: number } | undefined;

  function push(line: Line, frame: FrameBody, place: RecordPlace = line.place): void {
    if (!isPreamble(frame)) {
      preamble = "over";
      actedAt = Math.max(actedAt, line.at);
    } else if (preamble === "ahead" && turns.length === 0) {
      preamble = "open";
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
    else known.part_ids.push(part_id);
  }

  function recordPart(line: Line): { message_id: string; part_id: string } {
    stopped = false;
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
    const over = { ...line, at: actedAt };
    session.endStep(over);
    // A command may end without the model.
    const gaveBack = session.lastStep === undefined ? byCommand : session.hasYielded();
    const status = calls.open > 0 || !gaveBack ? "interrupted" : "completed";
    session.endTurn(over, session.turnFailed ? "failed" : status);
  }

  function startTurn(line: Line): void {
    const turn_id = uuidFrom(session_id, `turn:${line.key}`);
    const turn = { turn_id, uuid: line.uuid, at: line.at };
    turns.push(turn);
    branches.open(turn);
    calls.beginTurn();
    stopped = false;
    actedAt = line.at;
    session.turnOpen = true;
    session.turnFailed = false;
    session.lastStep = undefined;
    pushUnplaced(line, { type: "turn.start", turn_id });
  }

  /** Shows prompts that were moved into the running turn and have no record of their own. */
  function showHeld(line: Line): void {
    if (held.length === 0) return;
    const prompts_held = held;
    held = [];
    for (const { line: from, prompt } of prompts_held) {
      if (!session.queue.isWaiting(prompt)) continue;
      shownQueued.set(prompt.bare, (shownQueued.get(prompt.bare) ?? 0) + 1);
      const taken: Line = { ...from, frames: line.frames };
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
    const turn = turns.at(-1);
    const isCopy = line.uuid !== undefined && line.key !== line.uuid;
    if (isCopy || turn === undefined || line.at < turn.at) return false;
    const request = asString(line.value.requestId);
    if (request && step.request) return request !== step.request;
    const before = givenTokens(step.usage);
    const isCounted = input > 0 && before > 0;
    const isNewPrompt = isCounted && input !== before;
    if (compaction !== undefined) {
      // A copy may also have the time of the copying, so lines may be copies until the next prompt.
      const isOver = step.isShared || turns.length > compaction.turns;
      if (session.mayBeReplay(line) || !(isNewPrompt || isOver)) return false;
    }
    if (step.turn === turns.length) {
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
   * Emits the turn of a line. Two processes that resumed the same session write to it concurrently: an answer may follow the
   * other process's prompt, even if both prompts have the same parent, as in a rewind.
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
    hookSaid: undefined,
    blockedStop: undefined,
    fired: undefined,
    finalStep: undefined,
    damaged: false,
    lastOutcome: undefined,
    background: { calls: [], byName: new Map() },
    modes: new Set(),
    command: undefined,

    push,

    update(line, patch) {
      let news: SessionPatch | undefined;
      // A run's name and task are recorded in several places.
      const whole =
        patch.run === undefined ? patch : { ...patch, run: { ...emitted_patch.run, ...patch.run } };
      for (const name in whole) {
        // `for…in` types its keys as `string`.
        const key = name as keyof SessionPatch;
        const value = whole[key];
        const before = emitted_patch[key];
        if (value === undefined || value === before) continue;
        if (typeof value === "object" && JSON.stringify(before) === JSON.stringify(value)) continue;
        news = { ...news, [key]: value };
      }
      if (news === undefined) return;
      Object.assign(emitted_patch, news);
      pushUnplaced(line, { type: "session.update", patch: news });
    },

    recordPart,

    stepPart(line, step) {
      stopped = false;
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
      compaction = { at, turns: turns.length };
      // A prompt copied after it has the parent of the first prompt.
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
      const rests = !session.turnOpen || (session.hasYielded() && options.inTurn !== true);
      const opens = options.opensTurn || isFirst || rests;
      const isAmid = !isFirst && !rests && !session.isAnswered();
      const wasQueued = session.queue.deliver(text);
      if (opens) showHeld(line);
      // The agent empties its queue before a person can type a prompt.
      if (!wasQueued && opens && options.typed) session.loseQueued(line, false);
      if (opens && options.typed) rewind(line, text);
      const [only] = turns;
      if (isFirst && only !== undefined) {
        // Records below the prompt are abandoned with it, but not those below earlier records.
        only.uuid = line.uuid;
        if (provisionally_ended !== undefined)
          pushUnplaced(line, { type: "turn.start", turn_id: only.turn_id });
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
      session.damaged = false;
      session.blockedStop = undefined;
      session.tellFired(line);
    },

    tellFired(line) {
      const { fired } = session;
      if (fired === undefined) return;
      session.fired = undefined;
      session.marker({ ...fired.line, frames: line.frames }, "note", fired.title, fired.text);
    },

    holdQueued(line, prompt) {
      held.push({ line, prompt });
    },

    wasShown(text) {
      if (shownQueued.size === 0) return false;
      const words = bare(text);
      const times = shownQueued.get(words) ?? 0;
      if (times > 1) shownQueued.set(words, times - 1);
      else shownQueued.delete(words);
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
      const typed = prompts.get(text);
      if (typed === undefined) return false;
      if (isCopy && typed.times.has(line.at)) return true;
      if (compaction === undefined || !session.mayBeReplay(line)) return false;
      if (typed.seconds.has(secondOf(line.at))) return true;
      // Prompts that waited during the compaction are sent at once.
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
      // Also for a copy, which may be copied again.
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
      showHeld(line);
      session.damaged = false;
      session.blockedStop = undefined;
      // Activity without a new prompt continues the previous turn.
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
      const effort = asText(line.value.effort);
      const name = isKnown ? `${id}@${line.place.byte}` : id;
      const step: Step = {
        message_id: uuidFrom(session_id, `message:${name}`),
        turn: turns.length,
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
      steps.set(id, step);
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

    hasPrompt: () => preamble !== "open",

    provisionalEnd(line, status) {
      if (!session.turnOpen || provisionally_ended === line.key) return;
      provisionally_ended = line.key;
      pushUnplaced(line, { type: "turn.end", status });
    },

    interrupt(line, reason) {
      if (stopped) return false;
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
      stopped = true;
      return true;
    },

    hasYielded() {
      const step = session.lastStep;
      if (step === undefined || session.damaged) return false;
      if (step === session.finalStep) return calls.open === 0;
      if (step.calls > 0 || step.parts === 0 || step.isUnfinished) return false;
      return !(step.lastIsBlock && step.blocks.last?.kind === "thinking");
    },

    isAnswered: () => byCommand && !amid && session.hasOutput && session.lastStep === undefined,

    addCall: (named, call) => calls.add(named, { ...call, progress: "", turn: turns.length }),
    callNamed: (named) => calls.named(named),
    callAnswered: (named) => calls.answered(named),
    answer(line, call, signature, place) {
      session.answered = call;
      calls.answer(call, signature, place ?? call.result?.place ?? line.place);
    },
    isOfThisTurn: (call) => call.turn === turns.length,
    openCalls: () => calls.open,
    recordParent: (uuid, parent) => branches.recordParent(uuid, parent),
  };

  return session;
}

const secondOf = (at: number): number => Math.floor(at / 1000);
