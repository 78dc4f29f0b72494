import type { MediaPart } from "../../model/messages/part.ts";
import { textFields } from "../../model/text/display-text.ts";
import { outcomeReason } from "../../model/text/outcome-reasons.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { jsonBytes, keepNewest, keepWithin, keyOfText } from "./bounds.ts";
import { type Call, CallTable, type CallTableState, hasArguments, initialCallTable } from "./call-table.ts";
import type { Output } from "./output.ts";
import { interruptsCommand, underPolicy } from "./refusals.ts";
import {
  type CallFacts,
  cellCommand,
  innerExitCode,
  isCodeCell,
  terminalOf,
  toolExtra,
} from "./tool-extra.ts";
import type { TurnWriter } from "./turn-writer.ts";
import type { Position } from "./turns.ts";

/** What `Calls` keeps between two records. Plain JSON. */
export interface CallsState {
  table: CallTableState;
  /** Commands that continued after their first output, by the number in later calls. */
  background: { terminal: string; command: string }[];
  /** Outputs without a call: position and turn number of the first. */
  unclaimed: { id: string; position: Position; turn: number }[];
}

/** Maximum number of commands in the background and of outputs without a call, and bytes of the commands. */
const MAX_OTHERS = 48;
const MAX_COMMAND_BYTES = 6 * 1024;

export const initialCalls = (): CallsState => ({ table: initialCallTable(), background: [], unclaimed: [] });

/** The calls of a session. Each is shown once, with the facts from its output and events, in any order. */
export class Calls {
  readonly table: CallTable;
  private readonly writer: TurnWriter;
  private readonly state: CallsState;

  constructor(writer: TurnWriter, state: CallsState) {
    this.writer = writer;
    this.state = state;
    this.table = new CallTable(state.table);
  }

  /**
   * The call that an event refers to. `kind`: the kind of event, which occurs once per call. `traits`: facts in the event that
   * distinguish calls of one answer with the same id, most reliable first.
   */
  about(id: string, kind: string, ...traits: (string | undefined)[]): Call | undefined {
    const call = this.table.about(id, kind, traits);
    const recorded = call?.recordedAs ?? [];
    if (call !== undefined && !recorded.includes(kind)) call.recordedAs = [...recorded, kind];
    return call;
  }

  /** Shows a call. `byProvider`: the provider runs it within one answer. `undefined`: the call was already shown. */
  start(
    id: string,
    name: string,
    arguments_json: string,
    { item_id, byProvider = false }: { item_id?: string | undefined; byProvider?: boolean } = {},
  ): Call | undefined {
    const { table, writer, state } = this;
    const known = table.get(id);
    // Several calls with the same id may be repeated together. Each is found by its item id.
    const same = (item_id === undefined ? undefined : table.ofItem(id, item_id)) ?? known;
    const mayRecur = same !== undefined && (same.output === undefined || same.whole === true);
    const isOther = same?.item_id !== undefined && item_id !== undefined && same.item_id !== item_id;
    if (mayRecur && !isOther && same.name === name && hasArguments(same, arguments_json)) return undefined;
    // A different call with a reused id, as some providers create them. It must not replace the first one.
    const isReused = known !== undefined || table.isPast(id);
    const shown = isReused ? `${id}@${writer.now.source.byte}` : id;
    const { part_id, message_id } = writer.call(shown, name, arguments_json, byProvider);
    const call: Call = {
      id: shown,
      ...(isReused ? { model_id: id } : {}),
      ...(item_id === undefined ? {} : { item_id }),
      name,
      arguments_json,
      part_id,
      message_id,
      facts: {},
      bytes: 0,
    };
    if (known !== undefined && known.output === undefined && known.message_id === message_id) {
      known.same_id ??= known.id;
      call.same_id = known.same_id;
    }
    // Its output was read before it, so new facts revise that output. An output of an earlier turn belongs to another call.
    const key = keyOfText(id);
    const answered = state.unclaimed.find((each) => each.id === key);
    if (answered !== undefined) {
      if (answered.turn === writer.turnsOpened) call.answeredAt = answered.position;
      state.unclaimed.splice(state.unclaimed.indexOf(answered), 1);
    }
    table.add(call, EXPANSION * writer.recordBytes);
    return call;
  }

  /**
   * Shows an output, whether or not its call is known. `false`: an earlier record already showed it, possibly with another
   * value. `byProvider`: as for `start`. `name`: the tool, if the output names it.
   */
  answer(
    id: string,
    output: Output,
    { byProvider = false, name }: { byProvider?: boolean; name?: string | undefined } = {},
  ): boolean {
    const { table, writer } = this;
    const call = table.answered(id);
    if (!byProvider) writer.answered();
    if (call === undefined) return !table.isPast(id) && this.showWithoutCall(id, output, name);
    if (call.output !== undefined && call.output.text === output.text) return false;
    const isFirst = call.output === undefined && call.answeredAt === undefined;
    call.output = output;
    call.answeredAt ??= writer.position;
    table.closeCell(call);
    if (output.running?.cell !== undefined) call.runs = true;
    // An earlier event may report a failure that the text does not.
    if (output.status === "success" && output.running === undefined && call.facts.status !== undefined) {
      call.output = { ...output, status: call.facts.status };
    }
    this.settle(call);
    this.show(call, isFirst);
    table.grew(call, expansionOfOutput(output) * writer.recordBytes + MEMBERS);
    return isFirst;
  }

  /** Shows an output without a call. `false`: an earlier one with this id was shown, which it replaces. */
  private showWithoutCall(id: string, output: Output, name: string | undefined): boolean {
    const { writer, state } = this;
    const key = keyOfText(id);
    const first = state.unclaimed.find((each) => each.id === key);
    const position = first?.position ?? writer.position;
    const { source, at } = writer.momentOf(position);
    const message_id = uuidFrom(writer.session_id, `output:${position.byte}`);
    writer.beforeResult(first === undefined);
    if (first === undefined)
      keepNewest(state.unclaimed, { id: key, position, turn: writer.turnsOpened }, MAX_OTHERS);
    writer.push({
      type: "message.tool_result",
      session_id: writer.session_id,
      at,
      source,
      tool_call_id: id,
      ...(name === undefined ? {} : { tool_name: name }),
      is_error: output.status === "error",
      status: output.status,
      output_text: output.text,
      parts: output.media,
      ...(output.outcome === undefined ? {} : { outcome: output.outcome }),
      part_id: partId(message_id, 0),
      message_id,
    });
    return first === undefined;
  }

  /** Adds an event's facts to a call, and updates its result if it has one. */
  enrich(call: Call, facts: CallFacts): void {
    const before = call.facts;
    const files = this.joined(call, before.files, facts.files);
    const commands = this.joined(call, before.commands, facts.commands);
    const cellTools = this.joined(call, before.cellTools, facts.cellTools);
    call.facts = {
      ...before,
      ...facts,
      ...(files === undefined ? {} : { files }),
      ...(commands === undefined ? {} : { commands }),
      ...(cellTools === undefined ? {} : { cellTools }),
    };
    const { commands: ran } = facts;
    const bytes =
      MEMBERS + (ran === undefined ? expansionOfFacts(facts) * this.writer.recordBytes : jsonBytes(ran));
    if (call.output === undefined) {
      this.table.grew(call, bytes);
      return;
    }
    // The output of the process up to its end, recorded after the call was cut off.
    const late = facts.output ?? "";
    if (call.output.status === "aborted" && late.trim() !== "" && !call.output.text.includes(late)) {
      call.output = { ...call.output, text: `${call.output.text}\n${late}` };
    }
    this.settle(call);
    this.show(call, false);
    // A late output is part of the facts and of the output.
    this.table.grew(call, 2 * bytes);
  }

  /** Appends facts to a call's list, unless the call is full. */
  private joined<Fact>(call: Call, known: Fact[] | undefined, added: Fact[] | undefined): Fact[] | undefined {
    if (known === undefined || added === undefined) return known ?? added;
    return this.table.isFull(call) ? known : [...known, ...added];
  }

  /** Determines how the call ended from its output, events and items. */
  private settle(call: Call): void {
    const { name, facts, output } = call;
    if (output === undefined) return;
    const exit_code = output.exit_code ?? innerExitCode(name, facts, output);
    const hasFailed = exit_code === undefined ? output.status === "error" : exit_code !== 0;
    let outcome = output.outcome ?? facts.outcome ?? (hasFailed ? facts.denied : undefined);
    if (outcome !== undefined) outcome = underPolicy(outcome, this.writer.state.approval_policy);
    else if (exit_code !== undefined && exit_code !== 0 && interruptsCommand(name, this.table.inputOf(call)))
      outcome = { kind: "stopped", ...textFields("reason", outcomeReason("command_interrupted")) };
    if (outcome !== undefined) call.output = { ...output, status: "aborted", outcome };
    // A "completed" script counts as failed if a command inside it failed.
    else if (output.status === "success" && hasFailed) call.output = { ...output, status: "error" };
  }

  private show(call: Call, isNew: boolean): void {
    const { output } = call;
    if (output === undefined) return;
    const { writer } = this;
    const moment = call.answeredAt === undefined ? writer.now : writer.momentOf(call.answeredAt);
    const message_id = partId(call.part_id, RESULT);
    const input = this.table.inputOf(call);
    const cell = isCodeCell(call.name) ? cellCommand(input) : {};
    const begun = this.commandOf(terminalOf(call.name, input));
    const continues = this.commandOf(cell.terminal);
    const facts = {
      ...call.facts,
      ...(begun === undefined ? {} : { command: begun }),
      ...(continues === undefined ? {} : { continues }),
    };
    const extra = toolExtra(call.name, input, facts, output);
    if (extra?.type === "shell" && extra.command !== undefined && extra.background_task_id !== undefined)
      this.keepCommand(extra.background_task_id, extra.command);
    if (cell.command !== undefined && output.printed_terminal !== undefined)
      this.keepCommand(output.printed_terminal, cell.command);
    writer.beforeResult(isNew);
    writer.push({
      type: "message.tool_result",
      session_id: writer.session_id,
      at: moment.at,
      source: moment.source,
      tool_call_id: call.id,
      tool_name: call.name,
      is_error: output.status === "error",
      status: output.status,
      output_text: output.text,
      parts: [...output.media, ...fullOutput(output, call.facts.output)],
      part_id: partId(message_id, 0),
      message_id,
      ...(extra === undefined ? {} : { ui_extra: extra }),
      ...(output.outcome === undefined ? {} : { outcome: output.outcome }),
      ...(call.facts.permission === undefined ? {} : { permission: call.facts.permission }),
    });
    if (extra?.type === "todos" && call.facts.todosShown !== true) {
      call.facts.todosShown = true;
      writer.push({
        type: "todo.change",
        session_id: writer.session_id,
        at: moment.at,
        todos: extra.todos,
      });
    }
  }

  /** The command in the background that a later call names by its number. */
  private commandOf(terminal: string | undefined): string | undefined {
    if (terminal === undefined) return undefined;
    return this.state.background.find((each) => each.terminal === terminal)?.command;
  }

  private keepCommand(terminal: string, command: string): void {
    const { background } = this.state;
    const known = background.find((each) => each.terminal === terminal);
    if (known === undefined) keepNewest(background, { terminal, command }, MAX_OTHERS);
    else if (known.command === command) return;
    else known.command = command;
    keepWithin(background, MAX_COMMAND_BYTES, jsonBytes);
  }

  /** Links the run that a call started. */
  linkRun(call: Call, run: { session_id: string; name?: string; task?: string }): void {
    this.writer.push({
      type: "task.start",
      session_id: this.writer.session_id,
      at: this.writer.now.at,
      tool_call_id: call.id,
      sub_agent: run,
    });
  }
}

/** Bytes of JSON that a value takes at most for each byte of its record, if it is JSON in a text or kept twice. */
const EXPANSION = 2;
/** The same for a diff, whose lines may be short, and for numbers. */
const MAX_EXPANSION = 6;
/** Bytes of member names and numbers. */
const MEMBERS = 300;

const expansionOfFacts = ({ files, mcp }: CallFacts): number =>
  files === undefined && mcp === undefined ? EXPANSION : MAX_EXPANSION;

const expansionOfOutput = ({ text, outcome }: Output): number =>
  outcome !== undefined || text.startsWith("{") ? EXPANSION : 1;

/** Index from which the id of a call's result message is derived. No part has it. */
const RESULT = 0x3fff_fff0;

/** Markers in outputs that Codex truncated for the model, of any version. */
const CUT = /…\d+ (?:tokens|chars) truncated…|\[\.{3} omitted \d+ of \d+ lines \.{3}\]/;

/** The complete output from an event, as a file next to the text that the model read: truncated, or the part so far. */
function fullOutput(
  { text, output_start = 0, status, running }: Output,
  kept: string | undefined,
): MediaPart[] {
  if (kept === undefined || kept.length <= text.length - output_start) return [];
  if (status === "aborted" || (running?.session === undefined && !CUT.test(text))) return [];
  const url = `data:text/plain;charset=utf-8,${encodeURIComponent(kept.toWellFormed())}`;
  return [{ type: "file", mime: "text/plain", filename: "output.txt", url }];
}
