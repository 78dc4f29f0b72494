import type { ToolStatus } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff } from "../../model/parts/ui-extra.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { CallsWithSameId } from "../duplicate-call-ids.ts";
import { type Output, readContent } from "./output.ts";
import { declined, interruptsCommand, outcomeOfText, underPolicy } from "./refusals.ts";
import {
  type CallFacts,
  commandText,
  innerExitCode,
  isCodeCell,
  jsonOrText,
  terminalOf,
  toolExtra,
  traitsOf,
} from "./tool-extra.ts";
import type { Moment, TurnWriter } from "./turns.ts";

/** A call that was shown, with the facts from all logs. */
export interface Call {
  id: string;
  /** Id of the model's item. A copy of the item has the same id. */
  item_id?: string;
  name: string;
  arguments_json: string;
  input: unknown;
  part_id: string;
  message_id: string;
  facts: CallFacts;
  output?: Output;
  /** Position of the shown result. Later additions keep it. */
  answeredAt?: Moment;
  /** The code is still running although it has an output. */
  runs?: boolean;
  /** Only events record it and its output. */
  byEvents?: boolean;
  /** Call and result were one record. Another such record is a copy. */
  whole?: boolean;
  /** The kinds of events that recorded it. */
  told?: readonly string[];
  /** Calls of the same answer with the same model id that were waiting for an output when the next one was made. */
  same_id?: CodexCallsWithSameId;
}

class CodexCallsWithSameId extends CallsWithSameId<Call> {
  /** Calls by the traits that an event may name. */
  private readonly alike = new Map<string, CallsWithSameId<Call>>();
  private readonly byItem = new Map<string, Call>();

  constructor(oldest: Call) {
    super(oldest);
    this.sort(oldest);
  }

  override add(call: Call): void {
    super.add(call);
    this.sort(call);
  }

  private sort(call: Call): void {
    if (call.item_id !== undefined) this.byItem.set(call.item_id, call);
    for (const trait of traitsOf(call.name, call.input)) {
      const alike = this.alike.get(trait);
      if (alike === undefined) this.alike.set(trait, new CallsWithSameId(call));
      else alike.add(call);
    }
  }

  ofItem(item_id: string): Call | undefined {
    return this.byItem.get(item_id);
  }

  /** The call of an event: among the calls with a matching trait, the oldest that no event of this kind has recorded. */
  about(kind: string, traits: readonly (string | undefined)[]): Call | undefined {
    const alike = traits.flatMap((trait) => (trait === undefined ? [] : (this.alike.get(trait) ?? [])));
    const [calls = this] = alike;
    return calls.oldest(({ told }) => told?.includes(kind) !== true, kind) ?? calls.newest;
  }
}

/** The calls of a session. Each is shown once, with the facts from its output and events, in any order. */
export class Calls {
  private readonly writer: TurnWriter;
  private readonly byId = new Map<string, Call>();
  /** Code cells without an output, oldest first, then those still running after one. Inner events belong to them. */
  private readonly openCells: Call[] = [];
  private lastCell: Call | undefined;
  /** Commands that continued after their first output, by the number in later calls. */
  private readonly background = new Map<string, string>();
  /** Outputs without a call: position and turn number of the first. */
  private readonly unclaimed = new Map<string, { moment: Moment; turn: number }>();

  constructor(writer: TurnWriter) {
    this.writer = writer;
  }

  /** The newest call with this id. */
  get(id: string): Call | undefined {
    return this.byId.get(id);
  }

  /** The call of an output with this id. Among several calls of one answer: the oldest that waits. */
  answered(id: string): Call | undefined {
    const call = this.byId.get(id);
    return call?.same_id?.oldest(({ output }) => output === undefined) ?? call;
  }

  /**
   * The call of an event of some kind, which records each call once. `traits`: what the event knows of a call that shares its
   * id with others of its answer, most reliable first.
   */
  about(id: string, kind: string, ...traits: (string | undefined)[]): Call | undefined {
    const newest = this.byId.get(id);
    const call = newest?.same_id?.about(kind, traits) ?? newest;
    const told = call?.told ?? [];
    if (call !== undefined && !told.includes(kind)) call.told = [...told, kind];
    return call;
  }

  /** Shows a call. `byProvider`: the provider runs it within one answer. `undefined`: the call was already shown. */
  start(
    id: string,
    name: string,
    arguments_json: string,
    { item_id, byProvider = false }: { item_id?: string | undefined; byProvider?: boolean } = {},
  ): Call | undefined {
    const known = this.byId.get(id);
    // Several calls with the same id may be repeated together. Each is found by its item id.
    const same = (item_id === undefined ? undefined : known?.same_id?.ofItem(item_id)) ?? known;
    const mayRecur = same !== undefined && (same.output === undefined || same.whole === true);
    const isOther = same?.item_id !== undefined && item_id !== undefined && same.item_id !== item_id;
    if (mayRecur && !isOther && same.name === name && same.arguments_json === arguments_json)
      return undefined;
    // A different call with a reused id, as some providers create them. It must not replace the first one.
    const shown = known === undefined ? id : `${id}@${this.writer.now.source.byte}`;
    const { part_id, message_id } = this.writer.call(shown, name, arguments_json, byProvider);
    const call: Call = {
      id: shown,
      ...(item_id === undefined ? {} : { item_id }),
      name,
      arguments_json,
      input: jsonOrText(arguments_json),
      part_id,
      message_id,
      facts: {},
    };
    if (known !== undefined && known.output === undefined && known.message_id === message_id) {
      known.same_id ??= new CodexCallsWithSameId(known);
      known.same_id.add(call);
      call.same_id = known.same_id;
    }
    // Its output was read before it, so new facts revise that output. An output of an earlier turn belongs to another call.
    const answered = this.unclaimed.get(id);
    if (answered?.turn === this.writer.turnsOpened) call.answeredAt = answered.moment;
    this.unclaimed.delete(id);
    this.byId.set(id, call);
    if (isCodeCell(call.name)) {
      this.openCells.push(call);
      this.lastCell = call;
    }
    return call;
  }

  /**
   * Shows an output, whether or not its call is known. `false`: an earlier record already showed it, possibly with another
   * value. `byProvider`: as for `start`.
   */
  answer(id: string, output: Output, byProvider = false): boolean {
    const call = this.answered(id);
    if (!byProvider) this.writer.answered();
    if (call === undefined) {
      const { writer } = this;
      const first = this.unclaimed.get(id);
      const moment = first?.moment ?? writer.now;
      const message_id = uuidFrom(writer.session_id, `output:${moment.source.byte}`);
      writer.beforeResult(first === undefined);
      if (first === undefined) this.unclaimed.set(id, { moment, turn: writer.turnsOpened });
      writer.push({
        type: "message.tool_result",
        session_id: writer.session_id,
        at: moment.at,
        source: moment.source,
        tool_call_id: id,
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
    if (call.output !== undefined && call.output.text === output.text) return false;
    const isFirst = call.output === undefined && call.answeredAt === undefined;
    call.output = output;
    call.answeredAt ??= this.writer.now;
    const cell = this.openCells.indexOf(call);
    if (cell !== -1) this.openCells.splice(cell, 1);
    if (output.running?.cell !== undefined) call.runs = true;
    // An earlier event may report a failure that the text does not.
    if (output.status === "success" && output.running === undefined && call.facts.status !== undefined) {
      call.output = { ...output, status: call.facts.status };
    }
    this.settle(call);
    this.show(call, isFirst);
    return isFirst;
  }

  /** Adds an event's facts to a call, and updates its result if it has one. */
  enrich(call: Call, facts: CallFacts): void {
    const before = call.facts;
    call.facts = {
      ...before,
      ...facts,
      ...(before.files || facts.files ? { files: [...(before.files ?? []), ...(facts.files ?? [])] } : {}),
      ...(before.commands || facts.commands
        ? { commands: [...(before.commands ?? []), ...(facts.commands ?? [])] }
        : {}),
      ...(before.cellTools || facts.cellTools
        ? { cellTools: [...(before.cellTools ?? []), ...(facts.cellTools ?? [])] }
        : {}),
    };
    if (call.output === undefined) return;
    // The output of the process up to its end, recorded after the call was cut off.
    const late = facts.output ?? "";
    if (call.output.status === "aborted" && late.trim() !== "" && !call.output.text.includes(late)) {
      call.output = { ...call.output, text: `${call.output.text}\n${late}` };
    }
    this.settle(call);
    this.show(call, false);
  }

  /** Determines how the call ended from its output, events and items. */
  private settle(call: Call): void {
    const { name, input, facts, output } = call;
    if (output === undefined) return;
    const exit_code = output.exit_code ?? innerExitCode(name, facts, output);
    const hasFailed = exit_code === undefined ? output.status === "error" : exit_code !== 0;
    let outcome = output.outcome ?? facts.outcome ?? (hasFailed ? facts.denied : undefined);
    if (outcome !== undefined) outcome = underPolicy(outcome, this.writer.approval_policy);
    else if (exit_code !== undefined && exit_code !== 0 && interruptsCommand(name, input))
      outcome = { kind: "stopped", reason: "The agent interrupted the command" };
    if (outcome !== undefined) call.output = { ...output, status: "aborted", outcome };
    // A "completed" script counts as failed if a command inside it failed.
    else if (output.status === "success" && hasFailed) call.output = { ...output, status: "error" };
  }

  /** The code cell that an inner event belongs to. */
  cell(): Call | undefined {
    return this.openCells[0] ?? (this.lastCell?.runs ? this.lastCell : this.lastRunning()) ?? this.lastCell;
  }

  private lastRunning(): Call | undefined {
    let last: Call | undefined;
    for (const call of this.byId.values()) if (call.runs) last = call;
    return last;
  }

  private show(call: Call, isNew: boolean): void {
    const { output } = call;
    if (output === undefined) return;
    const { writer } = this;
    const moment = call.answeredAt ?? writer.now;
    const message_id = partId(call.part_id, RESULT);
    const begun = this.background.get(terminalOf(call.name, call.input) ?? "");
    const facts = begun === undefined ? call.facts : { ...call.facts, command: begun };
    const extra = toolExtra(call.name, call.input, facts, output);
    if (extra?.type === "shell" && extra.command !== undefined && extra.background_task_id !== undefined)
      this.background.set(extra.background_task_id, extra.command);
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
      parts: [...output.media, ...uncut(output, call.facts.output)],
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

/** Index from which the id of a call's result message is derived. No part has it. */
const RESULT = 0x3fff_fff0;

/** Markers in outputs that Codex truncated for the model, of any version. */
const CUT = /…\d+ (?:tokens|chars) truncated…|\[\.{3} omitted \d+ of \d+ lines \.{3}\]/;

/** The complete output from an event, as a file next to the truncated text that the model read. */
function uncut({ text, output_start = 0, status }: Output, kept: string | undefined): MediaPart[] {
  if (kept === undefined || kept.length <= text.length - output_start) return [];
  if (status === "aborted" || !CUT.test(text)) return [];
  const url = `data:text/plain;charset=utf-8,${encodeURIComponent(kept.toWellFormed())}`;
  return [{ type: "file", mime: "text/plain", filename: "output.txt", url }];
}

/** Converts a serialized Rust duration to milliseconds. */
function milliseconds(duration: unknown): number | undefined {
  const parts = asObject(duration);
  const seconds = asNumber(parts?.secs);
  if (seconds === undefined) return asNumber(duration);
  return Math.round(seconds * 1000 + (asNumber(parts?.nanos) ?? 0) / 1e6);
}

/** Facts from `exec_command_end` or a `CommandExecution` item. */
export function commandFacts(payload: JsonObject): CallFacts {
  const command = commandText(payload.command);
  const cwd = asString(payload.cwd)?.replace(/^file:\/\//, "");
  const exit_code = asNumber(payload.exit_code);
  const duration_ms = milliseconds(payload.duration);
  const output = asString(payload.aggregated_output) ?? asString(payload.formatted_output);
  const status = statusOf(payload.status, exit_code);
  const outcome = payload.status === "declined" ? declined(output) : undefined;
  return {
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(output === undefined ? {} : { output }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function statusOf(status: unknown, exit_code: number | undefined): ToolStatus | undefined {
  if (status === "declined") return "aborted";
  if (status === "failed" || (exit_code !== undefined && exit_code !== 0)) return "error";
  return undefined;
}

/** Facts from `patch_apply_end` or a `FileChange` item. */
export function patchFacts(payload: JsonObject, files: FileDiff[]): CallFacts {
  const failed = payload.success === false || payload.status === "failed";
  return {
    files,
    ...(payload.status === "declined"
      ? { status: "aborted", outcome: declined(asString(payload.stderr)) }
      : failed
        ? { status: "error" }
        : {}),
  };
}

/** Facts from `mcp_tool_call_end` or an `McpToolCall` item. */
export function mcpFacts(payload: JsonObject): {
  facts: CallFacts;
  text: string;
  media: MediaPart[];
  failed: boolean;
} {
  const invocation = asObject(payload.invocation) ?? payload;
  const result = asObject(payload.result);
  const ok = asObject(result?.Ok) ?? (result?.content === undefined ? undefined : result);
  const problem =
    result?.Err ?? asObject(payload.error)?.message ?? (ok === undefined ? payload.error : undefined);
  const content = Array.isArray(ok?.content) ? readContent(ok.content) : undefined;
  const refused = typeof problem === "string" ? outcomeOfText(problem) : undefined;
  const outcome = payload.status === "declined" ? (refused ?? declined(undefined)) : refused;
  const failed = ok?.isError === true || payload.status === "failed" || typeof problem === "string";
  const structured = ok?.structuredContent ?? ok?.structured_content;
  const duration_ms = milliseconds(payload.duration);
  return {
    facts: {
      mcp: {
        server: asString(invocation.server) ?? "",
        tool: asString(invocation.tool) ?? "",
        ...(structured === undefined || structured === null ? {} : { structured }),
      },
      ...(duration_ms === undefined ? {} : { duration_ms }),
      ...(outcome !== undefined ? { status: "aborted", outcome } : failed ? { status: "error" } : {}),
    },
    text: typeof problem === "string" ? problem : (content?.text ?? ""),
    media: content?.media ?? [],
    failed,
  };
}
