import type { Frame } from "../../model/frames/frame.ts";
import { createFrameWriter } from "../../model/frames/frame-writer.ts";
import type { StopReason } from "../../model/messages/message.ts";
import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { createLateText } from "./late-text.ts";
import { closeReopened, flushInto, isWork, pushLate } from "./late-updates.ts";
import { createSettings } from "./settings.ts";
import { endTurn, failTurn, interruptTurn } from "./turn-end.ts";
import { announceCall, openCalls, refuseCall, settle } from "./update-calls.ts";
import { flushAside, putUnknown, type Skipped, skip, type UpdateState } from "./update-state.ts";
import { pushUpdate } from "./updates.ts";

export { SKIPPED } from "./update-state.ts";

interface UpdateReaderOptions {
  session_id: string;
  newId(): string;
  now(): number;
}

/**
 * Converts the updates of an agent (Agent Client Protocol) into frames. One reader per session. Pure except for ids and times.
 */
export interface UpdateReader {
  /** Number of skipped updates for each reason in `SKIPPED`. */
  readonly skipped: Readonly<Partial<Record<Skipped, number>>>;
  /** Begins a turn. `text`: the prompt, which the agent may echo. Returns the frames that are left of the last turn. */
  beginTurn(text: string): Frame[];
  /** Reads the `update` of a `session/update`. */
  push(update: unknown): Frame[];
  /** Whether text from after the turn is buffered for `flushLate`. */
  readonly hasLate: boolean;
  /** Returns the buffered text that arrived after the turn. */
  flushLate(): Frame[];
  /** Reads a line that is not a message, or a notification with an unknown name. */
  pushUnknown(raw: unknown, title: DisplayText, error?: string): Frame[];
  skip(why: Skipped): void;
  /**
   * Called when a session was opened. `counted`: its cost so far in USD; `undefined`: unknown, so it is the first reported sum.
   */
  beginSession(counted: number | undefined): void;
  /** Reads the reply to `session/new` or `session/load`: the model, the mode, the options. */
  pushSession(answer: unknown): Frame[];
  /** Ends the open text, so that further text is placed after a request in the transcript. */
  endText(): Frame[];
  /** Reads the call of a permission request. Some agents announce a call only by such a request. Returns its id and name. */
  announce(toolCall: JsonObject): { frames: Frame[]; tool_call_id: string; tool_name: string };
  /** Records that the call of a permission request was allowed. */
  allow(tool_call_id: string): void;
  /** Records that the call was not allowed, or that its agent no longer waits. If it fails now, it was refused. */
  refuse(tool_call_id: string, reason: CodedText): void;
  /** Whether the call has ended, so that no permission is needed any more. */
  hasEnded(tool_call_id: string): boolean;
  /** From now on, calls that end count as stopped by the user. */
  beginCancel(): void;
  /** Ends the turn after the agent has replied to the prompt. `answer`: the reply. */
  endTurn(answer: unknown): { frames: Frame[]; stop_reason: StopReason; refusal: boolean };
  /** Ends everything that is open after the prompt failed or the agent exited. */
  fail(call_text: string): Frame[];
  /** Ends the turn after the user stopped it. The last frame is the interrupt. */
  interrupt(reason: string): Frame[];
}

/** Creates the reader of a session. */
export function createUpdateReader(options: UpdateReaderOptions): UpdateReader {
  const state = initialState(options);
  const { writer, calls } = state;
  return {
    get skipped() {
      return state.skipped;
    },
    skip: (why) => skip(state, why),
    beginSession(counted) {
      state.cost =
        counted === undefined
          ? { reported: 0, counted: 0, is_unknown: true }
          : { reported: counted, counted };
    },
    get hasLate() {
      return state.late.waits;
    },
    flushLate() {
      flushInto(state);
      return writer.take();
    },
    beginTurn(text) {
      beginTurn(state, text);
      return writer.take();
    },
    push(update) {
      const object = asObject(update);
      if (object === undefined) putUnknown(state, update, agentTitle("update_not_object"));
      else if (!state.inTurn && isWork(object.sessionUpdate)) pushLate(state, object);
      else pushUpdate(state, object);
      return writer.take();
    },
    pushUnknown(raw, title, error) {
      putUnknown(state, raw, title, error);
      return writer.take();
    },
    pushSession(answer) {
      const info = asObject(asObject(answer)?.agentInfo);
      if (info !== undefined) state.agent_name = asString(info.name) ?? "";
      state.settings.pushSession(answer);
      return writer.take();
    },
    endText() {
      flushAside(state);
      writer.endPart();
      return writer.take();
    },
    announce(toolCall) {
      const named = announceCall(state, toolCall);
      return { frames: writer.take(), ...named };
    },
    allow(tool_call_id) {
      const call = calls.get(tool_call_id);
      if (call !== undefined) call.isAsked = false;
    },
    refuse: (tool_call_id, reason) => refuseCall(state, tool_call_id, reason),
    hasEnded: (tool_call_id) => calls.get(tool_call_id)?.state === "ended",
    beginCancel() {
      state.cancelling = true;
    },
    endTurn(answer) {
      const ending = endTurn(state, answer);
      return { frames: writer.take(), ...ending };
    },
    fail(call_text) {
      failTurn(state, call_text);
      return writer.take();
    },
    interrupt(reason) {
      interruptTurn(state, reason);
      return writer.take();
    },
  };
}

function initialState({ session_id, newId, now }: UpdateReaderOptions): UpdateState {
  const writer = createFrameWriter({ session_id, nextMessageId: newId, now });
  return {
    writer,
    newId,
    skipped: {},
    calls: new Map(),
    open: new Set(),
    ofTurn: [],
    inTurn: false,
    settings: createSettings((body) => writer.put(body), newId),
    late: createLateText(newId),
    ended: "completed",
    isReopened: false,
    strays: new Map(),
    cancelling: false,
    echo: "",
    step: { had_calls: false },
    thoughts_name_messages: false,
    aside: undefined,
    compactions: new Map(),
    commands: "",
    plan: "",
    cost: { reported: 0, counted: 0 },
    summed: undefined,
    agent_name: "",
  };
}

function beginTurn(state: UpdateState, text: string): void {
  flushInto(state);
  for (const call of openCalls(state))
    settle(state, call, "The agent began another turn without reporting the end of this call");
  closeReopened(state);
  state.late.clear();
  state.strays.clear();
  state.inTurn = true;
  state.cancelling = false;
  state.echo = text;
  state.step = { had_calls: false };
}
