import { asArray, asObject, asString, asStrings, asText, type JsonObject } from "../../model/narrow.ts";
import type { Disposition } from "../contract.ts";
import { readChanges } from "../conversation/patch.ts";
import { localPath } from "../conversation/path-url.ts";
import { commandFacts, imageOutput, imagePrompt, mcpFacts, patchFacts, searchOutput } from "./call-facts.ts";
import type { Call } from "./call-table.ts";
import type { Calls } from "./calls.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import { type Line, rawMember } from "./line.ts";
import { messageOf } from "./notices.ts";
import { type Output, readContent } from "./output.ts";
import type { Runs } from "./runs.ts";
import { commandText, filesTrait, jsonOrText, RUN_CALLS, SHELL, webFacts } from "./tool-extra.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** A call, or the code cell (`inner`), that an event belongs to. */
interface Found {
  call: Call;
  inner: boolean;
}
/** It was evicted, so its last result stays. */
interface Evicted {
  call: undefined;
  id: string;
}

/** The action names of a web search. */
const SEARCHES = new Set(["search", "openPage", "open_page", "findInPage", "find_in_page"]);

/** Reads all records about calls: calls, outputs, and the events and completed items about them. */
export class CallRecords {
  private readonly writer: TurnWriter;
  private readonly calls: Calls;
  private readonly runs: Runs;
  /** An event that precedes its call, which is the record that is read. */
  private earlyEvent: { id: string; payload: JsonObject; bytes: number } | undefined;
  /** The record and its call, if it has one, belong to a turn before the part of the file that is read. */
  isAbove = false;

  constructor(writer: TurnWriter, calls: Calls, runs: Runs) {
    this.writer = writer;
    this.calls = calls;
    this.runs = runs;
  }

  call(type: string, line: Line): Disposition {
    const { payload, moment } = line;
    const id = asText(payload.call_id) ?? asText(payload.id) ?? `line-${moment.source.byte}`;
    let name = asText(payload.name) ?? "unknown";
    let member = payload.arguments === undefined || payload.arguments === null ? "input" : "arguments";
    if (type === "local_shell_call") {
      name = "local_shell";
      member = "action";
    } else if (type === "tool_search_call") name = "tool_search";
    const text = asString(payload[member]) ?? rawMember(line, member);
    const call = this.calls.start(id, name, text, { item_id: asText(payload.id) });
    if (call === undefined) return folded(`call ${id}`);
    if (name === "spawn_agent") this.runs.spawn(call, moment.at);
    return SHOWN;
  }

  output(payload: JsonObject, output: Output): Disposition {
    const id = asText(payload.call_id) ?? asText(payload.id) ?? `line-${this.writer.now.source.byte}`;
    const call = this.calls.table.answered(id);
    if (call?.name === "spawn_agent") this.runs.answered(call, jsonOrText(output.text));
    else if (call !== undefined && RUN_CALLS.has(call.name)) this.runs.name(call);
    return this.calls.answer(id, output, { name: asText(payload.name) }) ? SHOWN : folded(`call ${id}`);
  }

  webSearch(line: Line): Disposition {
    const { payload } = line;
    const id = asText(payload.id) ?? asText(payload.call_id) ?? `line-${this.writer.now.source.byte}`;
    const { table } = this.calls;
    if (table.isPast(id)) return folded(`call ${id}`);
    const known = table.get(id);
    if (known !== undefined) {
      // An earlier event has more data.
      if (known.facts.web === undefined) this.calls.enrich(known, webFacts(payload));
      return folded(`call ${id}`);
    }
    const call = this.calls.start(id, "web_search", rawMember(line, "action") || "{}", { byProvider: true });
    if (call === undefined) return SHOWN;
    const facts = webFacts(this.takeEarlyEvent(id) ?? payload);
    this.calls.enrich(call, facts);
    this.calls.answer(id, searchOutput(facts, payload.status), { byProvider: true });
    return SHOWN;
  }

  imageGeneration(payload: JsonObject): Disposition {
    const id = asText(payload.id) ?? `line-${this.writer.now.source.byte}`;
    const output = imageOutput({ ...payload, ...this.takeEarlyEvent(id) });
    const call = this.calls.start(id, "image_generation", imagePrompt(payload), { byProvider: true });
    if (call === undefined) return folded(`call ${id}`);
    call.whole = true;
    this.calls.answer(id, output, { byProvider: true });
    return SHOWN;
  }

  /** Called after each record. */
  dropEarlyEvent(): void {
    this.earlyEvent = undefined;
  }

  /** The event that precedes the call with this id. */
  private takeEarlyEvent(id: string): JsonObject | undefined {
    const { earlyEvent } = this;
    if (earlyEvent?.id !== id) return undefined;
    this.earlyEvent = undefined;
    this.writer.earlyBytes = earlyEvent.bytes;
    return earlyEvent.payload;
  }

  /** The call of an event. For something that ran inside a code cell: the cell. */
  private callFor(
    id: string | undefined,
    payload: JsonObject,
    ...traits: (string | undefined)[]
  ): Found | Evicted | undefined {
    if (id === undefined) return undefined;
    const call = this.calls.about(id, kindOf(payload), ...traits);
    if (call !== undefined) return { call, inner: false };
    return this.calls.table.isPast(id) ? { call: undefined, id } : this.cellFor(id);
  }

  private cellFor(id: string): Found | Evicted | undefined {
    const cell = id.startsWith("exec-") ? this.calls.table.cell() : undefined;
    if (cell === "evicted") return { call: undefined, id };
    // If no more can be added to the cell, the command or tool is shown as a separate call.
    return cell === undefined || this.calls.table.isFull(cell) ? undefined : { call: cell, inner: true };
  }

  /** Id of the call that an item is about; `undefined`: it has none, or it ran inside a code cell. */
  ownCall(id: string | undefined, payload: JsonObject): string | undefined {
    const found = this.callFor(id, payload);
    if (found?.call === undefined) return found?.id;
    return found.inner ? undefined : found.call.id;
  }

  commandEnded(id: string | undefined, payload: JsonObject): Disposition {
    const facts = commandFacts(payload);
    const found = this.callFor(id, payload, facts.command, SHELL);
    if (found === undefined) {
      const command = commandText(payload.command) ?? "";
      const args = JSON.stringify({ command, ...(facts.cwd === undefined ? {} : { workdir: facts.cwd }) });
      const status = facts.status ?? "success";
      const text = facts.output ?? "";
      return this.showWithoutCall(id, "shell", args, facts, { text, media: [], status });
    }
    if (found.call === undefined) return folded(`call ${found.id}`);
    const { call, inner } = found;
    if (!inner) this.calls.enrich(call, facts);
    else {
      const { command = "", cwd, exit_code, duration_ms } = facts;
      this.calls.enrich(call, {
        commands: [
          {
            command,
            ...(cwd === undefined ? {} : { cwd }),
            ...(exit_code === undefined ? {} : { exit_code }),
            ...(duration_ms === undefined ? {} : { duration_ms }),
          },
        ],
      });
    }
    return folded(`call ${call.id}`);
  }

  patched(id: string | undefined, payload: JsonObject): Disposition {
    const files = readChanges(payload.changes);
    const facts = patchFacts(payload, files);
    const found = this.callFor(id, payload, filesTrait(files), "apply_patch");
    if (found === undefined) {
      const args = JSON.stringify({ files: files.map(({ path }) => path) });
      const text = [asString(payload.stdout), asString(payload.stderr)].filter((part) => part).join("\n");
      return this.showWithoutCall(id, "apply_patch", args, facts, {
        text,
        media: [],
        status: facts.status ?? "success",
      });
    }
    if (found.call === undefined) return folded(`call ${found.id}`);
    const { call, inner } = found;
    this.calls.enrich(call, inner ? { files } : facts);
    return folded(`call ${call.id}`);
  }

  mcpCalled(id: string | undefined, payload: JsonObject): Disposition {
    const { facts, text, media, failed } = mcpFacts(payload);
    const name = `mcp__${facts.mcp?.server ?? ""}__${facts.mcp?.tool ?? ""}`;
    const found = this.callFor(id, payload, name, facts.mcp?.tool);
    if (found === undefined) {
      const invocation = asObject(payload.invocation) ?? payload;
      const args = JSON.stringify(invocation.arguments ?? {});
      return this.showWithoutCall(id, name, args, facts, {
        text,
        media,
        status: failed ? "error" : "success",
      });
    }
    if (found.call === undefined) return folded(`call ${found.id}`);
    const { call, inner } = found;
    if (inner && facts.mcp !== undefined) {
      const { server, tool } = facts.mcp;
      this.calls.enrich(call, { cellTools: [{ server, tool }] });
    } else this.calls.enrich(call, facts);
    return folded(`call ${call.id}`);
  }

  webSearched(id: string | undefined, payload: JsonObject): Disposition {
    const found = this.callFor(id, payload, "web_search") ?? this.openCell();
    const facts = webFacts(payload);
    if (found !== undefined) {
      if (found.call === undefined) return folded(`call ${found.id}`);
      this.calls.enrich(found.call, facts);
      return folded(`call ${found.call.id}`);
    }
    const args = JSON.stringify(payload.action ?? {});
    return this.showWithoutCall(
      id,
      "web_search",
      args,
      facts,
      searchOutput(facts, payload.status),
      "provider",
    );
  }

  imageGenerated(id: string | undefined, payload: JsonObject): Disposition {
    const known = id === undefined ? undefined : this.calls.table.get(id);
    if (id !== undefined && known?.name === "image_generation") {
      this.calls.answer(id, imageOutput(payload), { byProvider: true });
      return folded(`call ${id}`);
    }
    return this.showWithoutCall(
      // The output of the extension's own tool follows, and does not contain the image.
      known === undefined ? id : `${id}:image`,
      "image_generation",
      imagePrompt(payload),
      {},
      imageOutput(payload),
      "provider",
    );
  }

  /** Whether an event may precede its call. */
  mayFollow(id: string): boolean {
    const { table } = this.calls;
    const isKnown = table.get(id) !== undefined || table.isPast(id);
    return !isKnown && this.cellFor(id) === undefined && this.openCell() === undefined;
  }

  /** Keeps an event for the call that follows it. */
  announce(id: string, payload: JsonObject): Disposition {
    this.earlyEvent = { id, payload, bytes: this.writer.recordBytes };
    return folded(`call ${id}`);
  }

  /** The code cell without an output. Events without a call of their own ran in it. */
  private openCell(): Found | undefined {
    const cell = this.calls.table.cell();
    if (cell === undefined || cell === "evicted" || cell.output !== undefined) return undefined;
    return { call: cell, inner: true };
  }

  /** A call of a tool that the host program provides: requested and answered by events, or recorded in one item. */
  dynamicCall(payload: JsonObject): Disposition {
    const id = asText(payload.call_id) ?? asText(payload.callId);
    const name = asText(payload.tool) ?? "dynamic_tool";
    const args = JSON.stringify(payload.arguments ?? {});
    const isAnswered =
      payload.type !== "dynamic_tool_call_request" ||
      payload.content_items !== undefined ||
      payload.success !== undefined;
    const found = this.callFor(id, payload, asText(payload.tool));
    if (!isAnswered) {
      if (found !== undefined) return folded(`call ${found.call === undefined ? found.id : found.call.id}`);
      const call_id = id ?? `line-${this.writer.now.source.byte}`;
      if (this.isAbove) return folded(`call ${call_id}`);
      const call = this.calls.start(call_id, name, args);
      if (call !== undefined) call.byEvents = true;
      return SHOWN;
    }
    const content = readContent(asArray(payload.content_items));
    const failed = payload.success === false || payload.status === "failed";
    const problem = messageOf(payload);
    const text = [content.text, problem].filter((line) => line !== undefined && line !== "").join("\n");
    const output = { ...content, text, status: failed ? ("error" as const) : content.status };
    if (found === undefined) return this.showWithoutCall(id, name, args, {}, output);
    if (found.call === undefined) return folded(`call ${found.id}`);
    const { call, inner } = found;
    if (call.byEvents === true && call.output === undefined)
      return this.calls.answer(call.id, output) ? SHOWN : folded(`call ${call.id}`);
    this.calls.enrich(call, failed && !inner ? { status: "error" } : {});
    return folded(`call ${call.id}`);
  }

  /** An action of the host program's extension: a web search if the item says so, otherwise a separate card. */
  extended(id: string | undefined, item: JsonObject): Disposition {
    const isSearch =
      asText(item.query) !== undefined || SEARCHES.has(asString(asObject(item.action)?.type) ?? "");
    if (isSearch) return this.webSearched(id, item);
    const { type: _, id: __, kind, status, error, ...rest } = item;
    const text = messageOf({ error }) ?? "";
    const failed = status === "failed" || text !== "";
    const output: Output = { text, media: [], status: failed ? "error" : "success" };
    return this.showWithoutCall(
      id,
      asText(kind) ?? "extension",
      JSON.stringify(rest),
      {},
      output,
      "provider",
    );
  }

  aboutCall(id: string | undefined, name: string, payload: JsonObject): Disposition {
    const found = this.callFor(id, payload, name);
    if (found !== undefined && found.call === undefined) return folded(`call ${found.id}`);
    if (found?.inner === false) return folded(`call ${found.call.id}`);
    const { type: _, call_id: __, id: ___, ...rest } = payload;
    if (typeof rest.path === "string") rest.path = localPath(rest.path);
    // The card of a code cell cannot show calls that ran inside it.
    const by = found === undefined ? "agent" : "provider";
    return this.showWithoutCall(
      id,
      name,
      JSON.stringify(rest),
      {},
      { text: "", media: [], status: "success" },
      by,
    );
  }

  /**
   * A reviewing model's assessment of a call; `undefined`: the call is unknown, or the assessment has more than its card can
   * show.
   */
  assessed(payload: JsonObject): Disposition | undefined {
    const call = this.calls.table.get(asText(payload.target_item_id) ?? asText(payload.call_id) ?? "");
    if (call === undefined) return undefined;
    const status = asString(payload.status) ?? "";
    const reason = asText(payload.rationale);
    const rationale = reason === undefined ? {} : { reason };
    if (status === "approved") {
      this.calls.enrich(call, { permission: { by: "reviewer", ...rationale } });
      return folded(`call ${call.id}`);
    }
    if (/denied|reject/.test(status))
      this.calls.enrich(call, { denied: { kind: "refused", by: "reviewer", ...rationale } });
    return undefined;
  }

  collabSpawned(payload: JsonObject): Disposition {
    const id = asString(payload.call_id);
    const call = this.calls.about(id ?? "", kindOf(payload), asString(payload.prompt), "spawn_agent");
    if (call === undefined) return this.aboutCall(id, "spawn_agent", payload);
    this.runs.link(
      call,
      asString(payload.new_thread_id),
      undefined,
      asString(payload.new_agent_nickname),
      asString(payload.status),
    );
    return folded(`call ${call.id}`);
  }

  collabCalled(id: string | undefined, item: JsonObject): Disposition {
    const tool = asString(item.tool);
    const call = this.calls.about(id ?? "", kindOf(item), asString(item.prompt), tool);
    if (call === undefined) return this.aboutCall(id, tool ?? "collab", item);
    if (call.name === "spawn_agent") {
      const thread = asStrings(item.receiver_thread_ids)[0];
      const nickname = asString(asObject(asArray(item.receiver_agents)[0])?.agent_nickname);
      this.runs.link(call, thread, undefined, nickname);
    }
    if (item.status === "failed") this.calls.enrich(call, { status: "error" });
    return folded(`call ${call.id}`);
  }

  agentActivity(id: string | undefined, item: JsonObject): Disposition {
    const thread = asString(item.agent_thread_id);
    const path = asString(item.agent_path);
    const { table } = this.calls;
    const begun = this.runs.callOf(thread);
    const starter = begun === undefined ? undefined : table.shown(begun);
    const same_id = table.get(id ?? "")?.same_id;
    // A run is recorded several times.
    const hasSameId = same_id !== undefined && starter?.same_id === same_id;
    const call = hasSameId ? starter : (this.calls.about(id ?? "", kindOf(item)) ?? starter);
    const call_id = call?.id ?? begun;
    if (call_id === undefined) return hidden("sub-agent activity");
    if (call?.name === "spawn_agent") this.runs.link(call, thread, path, undefined);
    const kind = asString(item.kind) ?? "";
    if (/completed|errored|shutdown|interrupted/.test(kind)) this.runs.ended(thread, kind);
    return folded(`call ${call_id}`);
  }

  /** Shows a call from an event because no other log contains it. */
  private showWithoutCall(
    id: string | undefined,
    name: string,
    args: string,
    facts: Call["facts"],
    output: Output,
    by: "agent" | "provider" = "agent",
  ): Disposition {
    const call_id = id ?? `line-${this.writer.now.source.byte}`;
    if (this.isAbove || this.calls.table.isPast(call_id)) return folded(`call ${call_id}`);
    const byProvider = by === "provider";
    const call = this.calls.start(call_id, name, args, { byProvider });
    if (call === undefined) return folded(`call ${call_id}`);
    call.whole = true;
    this.calls.enrich(call, facts);
    this.calls.answer(call_id, output, { byProvider });
    return SHOWN;
  }
}

/** The type of an event or completed item. */
const kindOf = (payload: JsonObject): string => asString(payload.type) ?? "";
