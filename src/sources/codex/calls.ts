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

/** A call that was shown, and all that is known about it from any of the logs. */
export interface Call {
  id: string;
  /** Of the model's item that asked for it, which a copy of the item has too. */
  item_id?: string;
  name: string;
  arguments_json: string;
  input: unknown;
  part_id: string;
  message_id: string;
  facts: CallFacts;
  output?: Output;
  /** Where the shown result stands: what is added to it later stays there. */
  answeredAt?: Moment;
  /** Code that still runs although it has answered. */
  runs?: boolean;
  /** Events alone tell of it: its answer, too, is one of theirs. */
  byEvents?: boolean;
  /** One record told it with its result: another one of the same is a copy. */
  whole?: boolean;
  /** The kinds of events that told of it. */
  told?: readonly string[];
  /** The calls of its answer that have the same id of the model's, and waited for their output when the next one came. */
  same_id?: CodexCallsWithSameId;
}

class CodexCallsWithSameId extends CallsWithSameId<Call> {
  /** Those that share what an event may tell of them. */
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

  /** The one that an event is about: of those that it knows, the oldest of which none of its kind has told. */
  about(kind: string, traits: readonly (string | undefined)[]): Call | undefined {
    const alike = traits.flatMap((trait) => (trait === undefined ? [] : (this.alike.get(trait) ?? [])));
    const [calls = this] = alike;
    return calls.oldest(({ told }) => told?.includes(kind) !== true, kind) ?? calls.newest;
  }
}

/** The calls of a session: each is shown once, with whatever its output and the events about it say, in any order. */
export class Calls {
  private readonly writer: TurnWriter;
  private readonly byId = new Map<string, Call>();
  /** Code cells without an output, oldest first, then those that run on behind one: where inner events belong. */
  private readonly openCells: Call[] = [];
  private lastCell: Call | undefined;
  /** Commands that ran on behind their first output, by the number that later calls name them by. */
  private readonly background = new Map<string, string>();
  /** Outputs without a call: where the first one of each stands, and in the how-manieth turn. */
  private readonly unclaimed = new Map<string, { moment: Moment; turn: number }>();

  constructor(writer: TurnWriter) {
    this.writer = writer;
  }

  /** The newest call with this id. */
  get(id: string): Call | undefined {
    return this.byId.get(id);
  }

  /** The call that an output for this id belongs to: of several in one answer, the oldest that waits. */
  answered(id: string): Call | undefined {
    const call = this.byId.get(id);
    return call?.same_id?.oldest(({ output }) => output === undefined) ?? call;
  }

  /**
   * The call that an event of some kind is about, which tells of each call once. `traits`: by what the event knows a call that
   * shares its id with others of its answer, the surest first.
   */
  about(id: string, kind: string, ...traits: (string | undefined)[]): Call | undefined {
    const newest = this.byId.get(id);
    const call = newest?.same_id?.about(kind, traits) ?? newest;
    const told = call?.told ?? [];
    if (call !== undefined && !told.includes(kind)) call.told = [...told, kind];
    return call;
  }

  /** Shows a call. `byProvider`: the model's own provider runs it, within one answer. `undefined`: the same call was shown before. */
  start(
    id: string,
    name: string,
    arguments_json: string,
    { item_id, byProvider = false }: { item_id?: string | undefined; byProvider?: boolean } = {},
  ): Call | undefined {
    const known = this.byId.get(id);
    // Several that share the id may be told again together: each is found by its own item.
    const same = (item_id === undefined ? undefined : known?.same_id?.ofItem(item_id)) ?? known;
    const mayRecur = same !== undefined && (same.output === undefined || same.whole === true);
    const isOther = same?.item_id !== undefined && item_id !== undefined && same.item_id !== item_id;
    if (mayRecur && !isOther && same.name === name && same.arguments_json === arguments_json)
      return undefined;
    // Another call under an id that was used before, as some providers give them: it must not take the first one's place.
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
    // Its output was read before it: what is learnt of it now changes that one. An earlier turn's is another call's.
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
   * Shows the output of a call, or of none that is known. `false`: an earlier record showed it, at most with another value.
   * `byProvider`: as for `start`.
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
    // An event that came first may know of a failure that the text does not tell.
    if (output.status === "success" && output.running === undefined && call.facts.status !== undefined) {
      call.output = { ...output, status: call.facts.status };
    }
    this.settle(call);
    this.show(call, isFirst);
    return isFirst;
  }

  /** Adds what an event says about a call, and shows it where the call has answered. */
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
    // What the process wrote until it ended, told after the call was cut off.
    const late = facts.output ?? "";
    if (call.output.status === "aborted" && late.trim() !== "" && !call.output.text.includes(late)) {
      call.output = { ...call.output, text: `${call.output.text}\n${late}` };
    }
    this.settle(call);
    this.show(call, false);
  }

  /** How the call ended, by its output and by all that the events and items say. */
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
    // A script that "completed" has failed where a command inside it did.
    else if (output.status === "success" && hasFailed) call.output = { ...output, status: "error" };
  }

  /** The call that an event about something inside a code cell belongs to. */
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

  /** Names the run that a call started. */
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

/** Index under which a call's part gives the id of its result's message: no part has it. */
const RESULT = 0x3fff_fff0;

/** Marks in an output that Codex cut for the model, of any version. */
const CUT = /…\d+ (?:tokens|chars) truncated…|\[\.{3} omitted \d+ of \d+ lines \.{3}\]/;

/** What an event kept of an output that was cut for the model: beside what the model read, as a file. */
function uncut({ text, output_start = 0, status }: Output, kept: string | undefined): MediaPart[] {
  if (kept === undefined || kept.length <= text.length - output_start) return [];
  if (status === "aborted" || !CUT.test(text)) return [];
  const url = `data:text/plain;charset=utf-8,${encodeURIComponent(kept.toWellFormed())}`;
  return [{ type: "file", mime: "text/plain", filename: "output.txt", url }];
}

/** A duration as Rust writes it, in milliseconds. */
function milliseconds(duration: unknown): number | undefined {
  const parts = asObject(duration);
  const seconds = asNumber(parts?.secs);
  if (seconds === undefined) return asNumber(duration);
  return Math.round(seconds * 1000 + (asNumber(parts?.nanos) ?? 0) / 1e6);
}

/** What `exec_command_end` and a `CommandExecution` item say. */
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

/** What `patch_apply_end` and a `FileChange` item say. */
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

/** What `mcp_tool_call_end` and an `McpToolCall` item say. */
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
