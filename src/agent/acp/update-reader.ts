import type { Frame } from "../../model/frames/frame.ts";
import { createFrameWriter } from "../../model/frames/frame-writer.ts";
import type { StopReason, Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { newProgress } from "../../model/progress.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { countUsage } from "../../model/usage.ts";
import { createLateText } from "./late-text.ts";
import { createSettings } from "./settings.ts";
import {
  argumentsOf,
  type CallFacts,
  contentText,
  createFacts,
  hasInput,
  mediaPartOf,
  mergeFacts,
  resultOf,
  startsSubAgent,
  todosOf,
} from "./tool-call.ts";
import { usageOf, usageOfAnswer } from "./usage.ts";

/** Updates without a frame, and why. Every other update has one. */
export const SKIPPED = {
  empty_chunk: "a chunk without text",
  usage_chunk: "a step's tokens, which its end says",
  prompt_echo: "the prompt, said back",
  repeated: "said before, word for word",
  after_result: "progress of a call that has ended",
  replayed: "a loaded session's past, which is in the history already",
  aside: "words of a sub-agent, which the next note holds",
  sub_agent_usage: "a sub-agent's tokens, which its result sums up",
  compaction_running: "a compaction that has not ended",
  not_offered: "a request for what was not offered; it was answered so",
} as const;
type Skipped = keyof typeof SKIPPED;

interface UpdateReaderOptions {
  session_id: string;
  newId(): string;
  now(): number;
}

/** Turns the updates of an agent (Agent Client Protocol) into frames. One reader per session. Pure except for random ids. */
interface UpdateReader {
  /** How often each of `SKIPPED` occurred. */
  readonly skipped: Readonly<Partial<Record<Skipped, number>>>;
  /** A prompt begins. `text`: the agent may echo it. Returns what was still buffered of the last turn. */
  beginTurn(text: string): Frame[];
  /** The `update` of a `session/update`. */
  push(update: unknown): Frame[];
  /** Whether text from after the turn is buffered for `flushLate`. */
  readonly hasLate: boolean;
  /** The text that arrived after the turn since the last call. */
  flushLate(): Frame[];
  /** A line that is not a message, or a notification with an unknown name. */
  pushUnknown(raw: unknown, title: string, error?: string): Frame[];
  skip(why: Skipped): void;
  /** A session was opened. `counted`: its cost so far in USD; `undefined`: not known, so that the first stated sum is the cost so far. */
  beginSession(counted: number | undefined): void;
  /** Reads the reply to `session/new` or `session/load`: the model, the mode, the options. */
  pushSession(answer: unknown): Frame[];
  /** Ends the open text: text after a question comes after it in the transcript. */
  endText(): Frame[];
  /** The call of a permission request, which some agents announce only by the request. Returns its id and name. */
  announce(toolCall: JsonObject): { frames: Frame[]; tool_call_id: string; tool_name: string };
  /** The call of a permission request was allowed. */
  allow(tool_call_id: string): void;
  /** The call was not allowed, or its agent no longer waits. Whatever it reports now, it did not run. */
  refuse(tool_call_id: string, reason: string): void;
  /** Whether the call has ended, so that no permission is needed. */
  hasEnded(tool_call_id: string): boolean;
  /** From now on, what ends counts as stopped. */
  beginCancel(): void;
  /** The prompt was answered. */
  endTurn(answer: unknown): { frames: Frame[]; stop_reason: StopReason; refusal: boolean };
  /** The prompt failed, or the agent exited. Ends everything that is open. */
  fail(call_text: string): Frame[];
  /** The turn was stopped; the last frame is the interrupt. */
  interrupt(reason: string): Frame[];
}

interface Call {
  readonly facts: CallFacts;
  state: "new" | "started" | "called" | "ended";
  arguments_json: string;
  /** The name under which it was shown. */
  shown_name?: string;
  /** All output that was shown so far. */
  progress: string;
  /** The output as the agent sent it last. */
  output: string;
  metadata: string;
  refused?: string;
  /** The user is asked whether it may run. It has not started. */
  isAsked: boolean;
  /** Its turn is over: its content is only in the history. */
  isForgotten?: boolean;
  /** It belongs to the open message. The next step can begin after its end. */
  readonly counts: boolean;
}

/** Copilot's figures are sums over the life of its process. */
const SUMS_USAGE = new Set(["Copilot"]);

/** A call that was not allowed to run. `why`: refused by a person, or nobody could be asked. */
function refusalOf(why: string | undefined): CallOutcome {
  const isPersons = why?.startsWith(REFUSED) === true;
  return {
    kind: "refused",
    ...(isPersons ? { by: "person" } : {}),
    ...(why === undefined ? {} : { reason: why }),
  };
}
/** Prefix of the reason if a person refused the call. Any other reason means that nobody could be asked. */
export const REFUSED = "Refused:";

/** New output of a call's terminal, which agents stream in an extension of the protocol. */
function terminalOutput(update: JsonObject): string | undefined {
  return asString(asObject(asObject(update._meta)?.terminal_output_delta)?.data);
}

export function createUpdateReader({ session_id, newId, now }: UpdateReaderOptions): UpdateReader {
  const writer = createFrameWriter({ session_id, nextMessageId: newId, now });
  const calls = new Map<string, Call>();
  /** The calls that have not ended. Few, however long the session is. */
  const open = new Set<Call>();
  let ofTurn: Call[] = [];
  const skipped: Partial<Record<Skipped, number>> = {};
  const settings = createSettings((body) => writer.put(body), newId);
  let inTurn = false;
  const late = createLateText(newId);
  /** How the last turn ended. */
  let ended: TurnStatus = "completed";
  /** Something was opened in a turn that had ended. The turn is running until that ends. */
  let isReopened = false;
  /** Output of unannounced calls after the turn, by call id. */
  const strays = new Map<string, { part_id: string; text: string }>();
  let cancelling = false;
  let echo = "";
  /** Of the open message. */
  let step: { had_calls: boolean; text_key?: string; thought_key?: string; usage?: Usage } = {
    had_calls: false,
  };
  /** Some agents give each thought an id of its own. A thought's id identifies the message only if its text has the same id. */
  let thoughts_name_messages = false;
  /** Text of sub-agents since the last update of another kind. It is mixed and belongs to no part. */
  let aside: { thinking: string; text: string } | undefined;
  const compactions = new Map<string, string>();
  let commands = "";
  let plan = "";
  /** The session's cost in USD as last reported by the agent, and the share that steps already have. */
  let cost: { reported: number; counted: number; is_unknown?: boolean } = { reported: 0, counted: 0 };
  let summed: Usage | undefined;
  let agent_name = "";

  const skip = (why: Skipped): void => {
    skipped[why] = (skipped[why] ?? 0) + 1;
  };
  const openCalls = (): Call[] => [...open];
  const end = (call: Call): void => {
    call.state = "ended";
    open.delete(call);
  };

  const flushAside = (): void => {
    if (aside === undefined) return;
    const { thinking, text } = aside;
    aside = undefined;
    writer.endPart();
    writer.put({
      type: "marker",
      kind: "note",
      part_id: newId(),
      title: "Said by sub-agents",
      text: [thinking, text].filter((said) => said !== "").join("\n\n"),
      data: { thinking, text },
    });
  };

  /** Ends a call whose end the agent did not report, with its output so far and the reason. */
  const settle = (call: Call, why: string, outcome: CallOutcome = { kind: "unknown" }): void => {
    const { id, name } = call.facts;
    if (call.state === "new") writer.startCall(id, name);
    end(call);
    writer.put({
      type: "message.tool_result",
      tool_call_id: id,
      tool_name: name,
      is_error: false,
      status: "aborted",
      output_text: call.progress === "" ? why : `${call.progress.trimEnd()}\n\n${why}`,
      parts: [],
      outcome: call.refused === undefined ? outcome : refusalOf(call.refused),
    });
  };
  /** An agent may not report the end of a refused call. */
  const settleRefused = (): void => {
    for (const call of openCalls()) {
      if (call.refused !== undefined) settle(call, call.refused);
    }
  };

  const endStep = (ending: { stop_reason?: StopReason; stop_reason_raw?: string } = {}): void => {
    const { usage } = step;
    writer.endMessage({ ...ending, ...(usage === undefined ? {} : { usage }) });
    step = { had_calls: false };
  };
  /**
   * The protocol has no steps. A new one begins when the agent sends content after every call of the last message has ended,
   * after that message's usage was reported, or with another message id.
   */
  const beginStep = (text_key?: string): void => {
    settleRefused();
    if (writer.message_id === undefined) step = { had_calls: false };
    const waits = openCalls().some(({ counts }) => counts);
    const isOther = step.text_key !== undefined && text_key !== undefined && step.text_key !== text_key;
    if (
      writer.message_id !== undefined &&
      ((step.had_calls && !waits) || step.usage !== undefined || isOther)
    ) {
      endStep({ stop_reason: step.had_calls ? "tool_use" : "stop" });
    }
    if (text_key !== undefined) step.text_key = text_key;
  };

  const pushChunk = (kind: "text" | "thinking", update: JsonObject): void => {
    const block = asObject(update.content);
    const meta = asObject(update._meta);
    const reported = usageOf(meta?.usage);
    if (reported !== undefined) {
      if (asString(meta?.parentToolCallId) !== undefined) skip("sub_agent_usage");
      else {
        skip("usage_chunk");
        if (step.usage !== undefined) endStep({ stop_reason: step.had_calls ? "tool_use" : "stop" });
        // A model call that produced only a plan has no message yet.
        if (writer.message_id === undefined) writer.startMessage();
        step.usage = reported;
      }
    }
    const text = block?.type === "text" ? asString(block.text) : undefined;
    if (text === "") {
      if (reported === undefined) skip("empty_chunk");
      return;
    }
    const key = asString(update.messageId);
    const helper = openCalls().find(({ facts }) => startsSubAgent(facts));
    const isAside =
      asString(meta?.parentToolCallId) !== undefined || (helper !== undefined && key === undefined);
    if (text !== undefined && isAside) {
      aside ??= { thinking: "", text: "" };
      aside[kind] += text;
      if (helper !== undefined) {
        writer.put({
          type: "message.tool_progress",
          tool_call_id: helper.facts.id,
          text,
          offset: helper.progress.length,
        });
        helper.progress += text;
      } else skip("aside");
      return;
    }
    flushAside();
    if (kind === "text" && key !== undefined && key === step.thought_key) thoughts_name_messages = true;
    beginStep(kind === "text" || thoughts_name_messages ? key : undefined);
    if (kind === "thinking" && key !== undefined) step.thought_key = key;
    if (text !== undefined) {
      const part_id = writer.say(kind, text, key);
      if (key !== undefined) late.note(kind, key, part_id, text);
      return;
    }
    const media = mediaPartOf(block);
    const embedded = asString(asObject(block?.resource)?.text);
    if (media?.type === "image_url") writer.image(media.url);
    else if (media?.type === "file") {
      const { mime, url, filename } = media;
      writer.file({ mime, url, ...(filename === undefined ? {} : { filename }) });
    } else if (embedded !== undefined)
      writer.say(kind, embedded, `${asString(asObject(block?.resource)?.uri)}`);
    else putUnknown(update, "Content of an unknown kind");
  };

  // Other updates do not split the agent's text: a continued text grows where it began.
  const putUnknown = (raw: unknown, title: string, error?: string): void => {
    flushAside();
    writer.put({
      type: "unknown",
      part_id: newId(),
      raw,
      title,
      ...(error === undefined ? {} : { error }),
    });
  };

  const callFor = (id: string, update: JsonObject, isAnnounced: boolean): Call => {
    const known = calls.get(id);
    if (known !== undefined && !(isAnnounced && known.state === "ended")) {
      mergeFacts(known.facts, update);
      return known;
    }
    flushAside();
    settleRefused();
    const facts = createFacts(id, update);
    const agentId = asString(asObject(asObject(update._meta)?.["github.com/copilot"])?.agentId);
    const counts = facts.parent === undefined && agentId === undefined;
    if (writer.message_id === undefined) step = { had_calls: false };
    if (counts) step.had_calls = true;
    const call: Call = {
      facts,
      state: "new",
      arguments_json: "",
      progress: "",
      output: "",
      metadata: "",
      isAsked: false,
      counts,
    };
    calls.set(id, call);
    open.add(call);
    ofTurn.push(call);
    return call;
  };

  /** Emits the changes of a call, and its result once it has one. */
  const showCall = (call: Call): void => {
    const { facts } = call;
    const { id, name, status } = facts;
    const isOver = status === "completed" || status === "failed";
    const isKnown = hasInput(facts.rawInput) || isOver || (status !== undefined && status !== "pending");
    if (isKnown) {
      // For a call of an earlier turn only the shown input is known. An update without an input keeps it.
      const isKept = facts.rawInput === undefined && call.arguments_json !== "" && call.isForgotten === true;
      const arguments_json = isKept ? call.arguments_json : argumentsOf(facts);
      const isOther = arguments_json !== call.arguments_json || name !== call.shown_name;
      if (call.state === "new" || call.state === "started" || isOther) {
        flushAside();
        writer.call(id, name, arguments_json);
        if (call.state !== "ended") call.state = "called";
        call.arguments_json = arguments_json;
        call.shown_name = name;
      }
    } else if (call.state === "new") {
      flushAside();
      writer.startCall(id, name);
      call.state = "started";
      call.shown_name = name;
    }
    const result = isOver ? resultOf(facts) : undefined;
    const metadata = {
      ...(facts.title === undefined || facts.title === name ? {} : { title: facts.title }),
      ...(facts.kind === undefined || facts.kind === name ? {} : { kind: facts.kind }),
      ...(facts.locations.length === 0 ? {} : { locations: facts.locations }),
      ...(facts.parent === undefined ? {} : { parent_tool_call_id: facts.parent }),
      ...(result?.raw_output === undefined ? {} : { raw_output: result.raw_output }),
    };
    const text = JSON.stringify(metadata);
    if (text !== "{}" && text !== call.metadata) {
      call.metadata = text;
      writer.put({ type: "task.metadata", tool_call_id: id, metadata });
    }
    if (result === undefined) {
      growProgress(call, contentText(facts));
      return;
    }
    flushAside();
    end(call);
    const failed = facts.status === "failed";
    const isRefused = failed && (call.refused !== undefined || call.isAsked);
    const outcome: CallOutcome | undefined = isRefused
      ? refusalOf(call.refused)
      : cancelling
        ? { kind: "stopped", by: "person" }
        : undefined;
    const stopped = outcome !== undefined;
    writer.put({
      type: "message.tool_result",
      tool_call_id: id,
      tool_name: name,
      is_error: failed && !stopped,
      status: stopped ? "aborted" : failed ? "error" : "success",
      output_text: result.output_text,
      parts: result.parts,
      ...(outcome === undefined ? {} : { outcome }),
      ...(result.ui_extra === undefined ? {} : { ui_extra: result.ui_extra }),
    });
    if (result.ui_extra?.type === "todos" && !failed) putTodos(result.ui_extra.todos);
  };

  /** Agents send the whole output so far each time. Output that does not continue it is appended below. */
  const growProgress = (call: Call, text: string): void => {
    const fresh = newProgress({ latest: call.output, shown: call.progress.length }, text);
    if (fresh === "") return;
    writer.put({
      type: "message.tool_progress",
      tool_call_id: call.facts.id,
      text: fresh,
      offset: call.progress.length,
    });
    call.progress += fresh;
    call.output = text;
  };

  const putTodos = (todos: NonNullable<ReturnType<typeof todosOf>>): void => {
    writer.put({ type: "todo.change", todos });
  };

  const pushCall = (update: JsonObject, isAnnounced: boolean): void => {
    const id = asString(update.toolCallId);
    if (id === undefined) {
      putUnknown(update, "A tool call without an id");
      return;
    }
    const known = calls.get(id);
    const isOver = update.status === "completed" || update.status === "failed";
    if (known?.state === "ended" && !isAnnounced && !isOver) {
      skip("after_result");
      return;
    }
    const call = callFor(id, update, isAnnounced);
    showCall(call);
    const streamed = terminalOutput(update);
    if (streamed !== undefined && call.state !== "ended") appendProgress(call, streamed);
    if (writer.isEmpty) skip("repeated");
  };

  /** Output that some agents stream separately from the call's content. */
  const appendProgress = (call: Call, text: string): void => {
    if (text === "") return;
    writer.put({
      type: "message.tool_progress",
      tool_call_id: call.facts.id,
      text,
      offset: call.progress.length,
    });
    call.progress += text;
  };

  /** An update of an unknown call after the turn: shown as a call if it names one, otherwise as output alone. */
  const pushStray = (update: JsonObject, id: string): boolean => {
    const isNamed = ["title", "kind", "rawInput", "name"].some((field) => update[field] !== undefined);
    if (isNamed || update.status === "completed" || update.status === "failed") return false;
    const text = terminalOutput(update) ?? contentText({ content: asArray(update.content) });
    if (text === "") return false;
    const stray = strays.get(id) ?? { part_id: newId(), text: "" };
    strays.set(id, stray);
    stray.text += text;
    writer.put({
      type: "marker",
      kind: "note",
      part_id: stray.part_id,
      title: "Output after the turn, of a call that was not announced",
      text: stray.text,
      data: { toolCallId: id },
    });
    return true;
  };

  /** Handles an update that arrives after the end of the turn. */
  const pushLate = (update: JsonObject): void => {
    const kind = update.sessionUpdate;
    if (kind === "agent_message_chunk" || kind === "agent_thought_chunk") {
      const block = asObject(update.content);
      const text = block?.type === "text" ? asString(block.text) : undefined;
      if (text === undefined) {
        flushInto();
        putUnknown(update, "Said after the turn had ended");
      } else if (text === "") skip("empty_chunk");
      else late.add(kind === "agent_message_chunk" ? "text" : "thinking", asText(update.messageId), text);
      return;
    }
    const id = asString(update.toolCallId);
    if (id === undefined) {
      pushUpdate(update);
      return;
    }
    flushInto();
    late.leave();
    const isNew = !calls.has(id);
    if (isNew && kind === "tool_call_update" && pushStray(update, id)) return;
    if (isNew) {
      writer.put({ type: "marker", kind: "note", part_id: newId(), title: "Begun after the turn had ended" });
    }
    // A call of the turn that is announced again is the same call: its shown values stay.
    pushCall(update, isNew && kind === "tool_call");
    isReopened ||= open.size > 0 || writer.message_id !== undefined;
    closeReopened();
  };
  const flushInto = (): void => {
    const { bodies, opens } = late.flush();
    for (const body of bodies) writer.put(body);
    isReopened ||= opens;
    closeReopened();
  };
  /** Ends the turn again once everything that was opened after its end has ended. */
  const closeReopened = (): void => {
    if (!isReopened || open.size > 0) return;
    isReopened = false;
    endStep();
    writer.put({ type: "turn.end", status: ended });
  };

  const note = (
    kind: "note" | "notification" | "compaction",
    title: string,
    raw: unknown,
    text?: string,
  ): void => {
    flushAside();
    writer.put({
      type: "marker",
      kind,
      part_id: newId(),
      title,
      ...(text === undefined || text === "" ? {} : { text }),
      data: raw,
    });
  };

  const pushUpdate = (update: JsonObject): void => {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        pushChunk("text", update);
        return;
      case "agent_thought_chunk":
        pushChunk("thinking", update);
        return;
      case "user_message_chunk": {
        const text = asString(asObject(update.content)?.text);
        if (text !== undefined && echo.includes(text)) skip("prompt_echo");
        else putUnknown(update, "A person's words, as the agent tells them");
        return;
      }
      case "tool_call":
        pushCall(update, true);
        return;
      case "tool_call_update":
        pushCall(update, false);
        return;
      case "plan": {
        const todos = todosOf(update.entries);
        if (todos === undefined) putUnknown(update, "A plan of an unknown form");
        else if (JSON.stringify(todos) === plan) skip("repeated");
        else {
          plan = JSON.stringify(todos);
          putTodos(todos);
        }
        return;
      }
      case "available_commands_update": {
        const text = JSON.stringify(update.availableCommands);
        if (text === commands) skip("repeated");
        else {
          commands = text;
          const count = asArray(update.availableCommands).length;
          note("note", `${count} commands of the agent's own`, update.availableCommands);
        }
        return;
      }
      case "current_mode_update":
      case "config_option_update":
        flushAside();
        settings.push(update);
        if (writer.isEmpty) skip("repeated");
        return;
      case "session_info_update": {
        const title = asText(update.title);
        if (title === undefined) skip("repeated");
        else writer.put({ type: "session.update", patch: { title } });
        return;
      }
      case "usage_update": {
        const tokens = asNumber(update.used);
        const limit = asNumber(update.size);
        const price = asObject(update.cost);
        const amount = asNumber(price?.amount);
        if (amount !== undefined && price?.currency === "USD") {
          // A lower sum than before means that it counts from the start of the agent's process, not of the session.
          if (amount < cost.counted) cost.counted = 0;
          if (cost.is_unknown) cost = { reported: amount, counted: amount };
          cost.reported = amount;
        }
        if (tokens === undefined) putUnknown(update, "Usage of an unknown form");
        else writer.put({ type: "context.usage", tokens, ...(limit === undefined ? {} : { limit }) });
        return;
      }
      case "notice":
        note("notification", asText(update.title) ?? "Notice", update, asString(update.description));
        return;
      case "compaction_summary_chunk": {
        const id = asString(update.compactionId) ?? "";
        compactions.set(id, (compactions.get(id) ?? "") + (asString(asObject(update.content)?.text) ?? ""));
        skip("compaction_running");
        return;
      }
      case "compaction_update": {
        const id = asString(update.compactionId) ?? "";
        if (update.status !== "completed" && update.status !== "failed") {
          skip("compaction_running");
          return;
        }
        const whole = asArray(update.summary).map((block) => asString(asObject(block)?.text) ?? "");
        const text = whole.length > 0 ? whole.join("") : compactions.get(id);
        compactions.delete(id);
        if (update.status === "completed")
          note("compaction", "The agent summarised what came before", update, text);
        else
          note(
            "notification",
            "The agent could not summarise what came before",
            update,
            asString(update.error),
          );
        return;
      }
      default:
        putUnknown(update, asText(update.sessionUpdate) ?? "An update without a name");
    }
  };

  /** Updates that belong into a running turn. Some agents continue after it on purpose. */
  const isWork = (kind: unknown): boolean =>
    kind === "agent_message_chunk" ||
    kind === "agent_thought_chunk" ||
    kind === "tool_call" ||
    kind === "tool_call_update";

  const closeTurn = (status: TurnStatus): void => {
    ended = status;
    flushAside();
    writer.endPart();
    for (const [id, text] of compactions) {
      note("note", "A summary that was not finished", { compactionId: id }, text);
    }
    compactions.clear();
    // Call ids are kept for the life of the session. Their content is in the history.
    for (const call of ofTurn) {
      const { facts } = call;
      facts.content = [];
      delete facts.rawInput;
      delete facts.rawOutput;
      call.isForgotten = true;
    }
    ofTurn = [];
    inTurn = false;
  };

  return {
    get skipped() {
      return skipped;
    },
    skip,
    beginSession(counted) {
      cost =
        counted === undefined
          ? { reported: 0, counted: 0, is_unknown: true }
          : { reported: counted, counted };
    },
    get hasLate() {
      return late.waits;
    },
    flushLate() {
      flushInto();
      return writer.take();
    },
    beginTurn(text) {
      flushInto();
      for (const call of openCalls())
        settle(call, "The agent began another turn without saying how this ended");
      closeReopened();
      late.clear();
      strays.clear();
      inTurn = true;
      cancelling = false;
      echo = text;
      step = { had_calls: false };
      return writer.take();
    },
    push(update) {
      const object = asObject(update);
      if (object === undefined) putUnknown(update, "An update that is no object");
      else if (!inTurn && isWork(object.sessionUpdate)) pushLate(object);
      else pushUpdate(object);
      return writer.take();
    },
    pushUnknown(raw, title, error) {
      putUnknown(raw, title, error);
      return writer.take();
    },
    pushSession(answer) {
      const info = asObject(asObject(answer)?.agentInfo);
      if (info !== undefined) agent_name = asString(info.name) ?? "";
      settings.pushSession(answer);
      return writer.take();
    },
    endText() {
      flushAside();
      writer.endPart();
      return writer.take();
    },
    announce(toolCall) {
      const id = asString(toolCall.toolCallId) ?? newId();
      const known = calls.get(id);
      // The description in a permission request is for the user. The call's own updates contain more.
      const { rawInput, content, ...rest } = toolCall;
      const isNew = known === undefined || known.state === "ended";
      const fills = isNew || !hasInput(known.facts.rawInput);
      const update: JsonObject = {
        ...rest,
        ...(fills && rawInput !== undefined ? { rawInput } : {}),
        ...(isNew && content !== undefined ? { content } : {}),
        // The agent knows the complete call: its input will not change.
        ...(isNew ? { status: "in_progress" } : { status: undefined }),
      };
      const call = callFor(id, update, isNew);
      showCall(call);
      call.isAsked = call.state !== "ended";
      writer.endPart();
      return { frames: writer.take(), tool_call_id: id, tool_name: call.facts.name };
    },
    allow(tool_call_id) {
      const call = calls.get(tool_call_id);
      if (call !== undefined) call.isAsked = false;
    },
    refuse(tool_call_id, reason) {
      const call = calls.get(tool_call_id);
      if (call === undefined || call.state === "ended") return;
      call.isAsked = false;
      call.refused = reason;
    },
    hasEnded: (tool_call_id) => calls.get(tool_call_id)?.state === "ended",
    beginCancel() {
      cancelling = true;
    },
    endTurn(answer) {
      settleRefused();
      for (const call of openCalls()) {
        settle(call, "The agent ended its turn without saying how this ended");
      }
      closeTurn(asObject(answer)?.stopReason === "refusal" ? "failed" : "completed");
      const raw = asString(asObject(answer)?.stopReason) ?? "";
      const reported = turnUsage(answer);
      if (reported !== undefined) {
        if (writer.message_id === undefined) {
          step = { had_calls: false };
          writer.startMessage();
        }
        const priced = reported.cost === undefined ? {} : { cost: reported.cost };
        step.usage = step.usage === undefined ? reported : { ...priced, ...step.usage };
      }
      const refusal = raw === "refusal";
      const stop_reason = refusal ? "error" : raw === "max_tokens" ? "length" : "stop";
      endStep({ stop_reason, ...(raw === "" ? {} : { stop_reason_raw: raw }) });
      if (raw === "max_turn_requests") note("note", "The agent's own limit of steps ended the turn", answer);
      return { frames: writer.take(), stop_reason, refusal };
    },
    fail(call_text) {
      for (const call of openCalls()) {
        if (call.refused === undefined) settle(call, call_text);
      }
      settleRefused();
      closeTurn("failed");
      endStep({ stop_reason: "error" });
      return writer.take();
    },
    interrupt(reason) {
      for (const call of openCalls()) settle(call, call.refused ?? "", { kind: "stopped", by: "person" });
      closeTurn("interrupted");
      writer.dropMessage();
      step = { had_calls: false };
      writer.put({ type: "interrupt", reason });
      return writer.take();
    },
  };

  /** The tokens and the cost of the turn, or what the agent's reply says about them. */
  function turnUsage(answer: unknown): Usage | undefined {
    const reported = usageOfAnswer(answer);
    const paid = cost.reported - cost.counted;
    cost.counted = cost.reported;
    const priced = paid > 0 ? { cost: paid } : {};
    if (reported === undefined) return paid > 0 ? { input: 0, output: 0, ...priced } : undefined;
    if (!SUMS_USAGE.has(agent_name)) return { ...reported, ...priced };
    const turn = countUsage(reported, summed, { input: 0, output: 0 });
    summed = reported;
    return { ...turn, ...priced };
  }
}
