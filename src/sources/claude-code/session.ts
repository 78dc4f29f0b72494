import { Recent } from "../recent.ts";
import { Branches } from "./branches.ts";
import { CallTable } from "./call-table.ts";
import { MAX_NAMES, MAX_STEP_IDS, MAX_STEPS, MAX_TEXTS, MAX_UNCLAIMED, MAX_WITHDRAWABLE } from "./memory.ts";
import { PromptQueue } from "./queue.ts";
import { callFunctions } from "./session-calls.ts";
import { partFunctions } from "./session-parts.ts";
import { promptFunctions } from "./session-prompts.ts";
import { queueFunctions } from "./session-queue.ts";
import { replayFunctions } from "./session-replays.ts";
import { stepFunctions } from "./session-steps.ts";
import { turnFunctions } from "./session-turns.ts";
import type { Session, SessionFunctions, SessionState } from "./session-types.ts";

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
      lastActivityAt: 0,
      byCommand: false,
      startedDuringTurn: false,
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
  // The functions are added below, before any of them is called.
  const session = state as Session;
  const functions: SessionFunctions = {
    ...partFunctions(session),
    ...turnFunctions(session, file),
    ...promptFunctions(session),
    ...queueFunctions(session),
    ...replayFunctions(session),
    ...stepFunctions(session),
    ...callFunctions(session),
  };
  return Object.assign(state, functions);
}
