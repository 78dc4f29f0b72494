import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition } from "../contract.ts";
import type { CallRecords } from "./call-records.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import { copyOf, isInjectedEvent, type Line } from "./line.ts";
import type { ModelTexts } from "./model-texts.ts";
import { NOISE } from "./noise.ts";
import { readGuardian, readNotice } from "./notices.ts";
import { readOutput } from "./output.ts";
import { inSeconds, personCommandIn } from "./person-command.ts";
import type { Prompts } from "./prompts.ts";
import type { ThreadFacts } from "./thread-facts.ts";
import type { TurnRecords } from "./turn-records.ts";
import type { TurnWriter } from "./turn-writer.ts";
import type { UsageRecords } from "./usage-records.ts";
import { readUserContent, readUserEvent } from "./user-message.ts";

/** The readers of a thread's records, by what the records are about. */
interface ThreadReaders {
  writer: TurnWriter;
  records: CallRecords;
  usage: UsageRecords;
  facts: ThreadFacts;
  prompts: Prompts;
  texts: ModelTexts;
  turnRecords: TurnRecords;
}

/** Reads events (`event_msg`) and the completed items in them. */
export class Events {
  private readonly writer: TurnWriter;
  private readonly records: CallRecords;
  private readonly usage: UsageRecords;
  private readonly facts: ThreadFacts;
  private readonly prompts: Prompts;
  private readonly texts: ModelTexts;
  private readonly turnRecords: TurnRecords;

  constructor({ writer, records, usage, facts, prompts, texts, turnRecords }: ThreadReaders) {
    this.writer = writer;
    this.records = records;
    this.usage = usage;
    this.facts = facts;
    this.prompts = prompts;
    this.texts = texts;
    this.turnRecords = turnRecords;
  }

  read(line: Line): Disposition {
    const { payload, value } = line;
    const { writer } = this;
    const type = asString(payload.type) ?? "";
    const copy = copyOf(line);
    if (copy !== undefined) return this.texts.showCopy(copy);
    if (type !== "token_count") this.texts.state.growing = undefined;
    switch (type) {
      case "task_started":
      case "turn_started":
        writer.state.hasTasks = true;
        this.turnRecords.started();
        this.prompts.state.byUser = asObject(payload.turn_attribution)?.turn_trigger === "user";
        this.texts.copies.clear();
        this.prompts.state.ran = [];
        writer.openTurn(asString(payload.turn_id) ?? `at-${writer.now.source.byte}`);
        return folded("the turn");
      case "turn.completed":
        return this.turnRecords.turnCompleted(payload);
      case "task_complete":
      case "turn_complete":
        return this.turnRecords.taskComplete(payload);
      case "turn_aborted": {
        const reason = asString(payload.reason);
        return this.turnRecords.interrupt(
          reason === "interrupted" ? undefined : reason?.replaceAll("_", " "),
        );
      }
      case "user_message":
        if (isInjectedEvent(payload)) return hidden("repeated injected context");
        return this.prompts.userCopy(readUserEvent(payload), "event");
      case "token_count":
        return this.usage.tokenCount(payload);
      case "item_completed":
        return this.itemCompleted(line, asObject(payload.item) ?? {});
      case "exec_command_end":
        return this.commandEnded(asString(payload.call_id), payload);
      case "patch_apply_end":
        return this.records.patched(asString(payload.call_id), payload);
      case "mcp_tool_call_end":
        return this.records.mcpCalled(asString(payload.call_id), payload);
      case "web_search_end":
        return this.records.webSearched(asString(payload.call_id), payload);
      case "image_generation_end":
        return this.records.imageGenerated(asString(payload.call_id), payload);
      case "view_image_tool_call":
        return this.records.aboutCall(asString(payload.call_id), "view_image", payload);
      case "dynamic_tool_call_request":
      case "dynamic_tool_call_response":
        return this.records.dynamicCall(payload);
      case "collab_agent_spawn_end":
        return this.records.collabSpawned(payload);
      case "collab_agent_interaction_end":
      case "collab_waiting_end":
      case "collab_close_end":
      case "collab_resume_end":
        return this.records.aboutCall(asString(payload.call_id), type.replace(/_end$/, ""), payload);
      case "sub_agent_activity":
        return this.records.agentActivity(asString(payload.event_id) ?? asString(payload.call_id), payload);
      case "context_compacted":
        return this.turnRecords.compact("event", undefined, undefined);
      case "thread_rolled_back": {
        const count = asNumber(payload.num_turns) ?? 1;
        writer.marker("rewind", codexTitle("turns_rolled_back", { turns: count }));
        writer.rollBack(count);
        return SHOWN;
      }
      case "thread_name_updated": {
        const title = asText(payload.thread_name);
        if (title === undefined) return hidden("empty name");
        this.facts.update({ title });
        return folded("the session");
      }
      case "error":
        return this.turnRecords.failed(payload);
      case "guardian_assessment":
        return this.records.assessed(payload) ?? readGuardian(writer, payload);
      default: {
        const notice = readNotice(writer, payload);
        if (notice !== undefined) return notice;
        if (NOISE.has(type)) return hidden(type.replaceAll("_", " "));
        writer.unknown(value, type === "" ? undefined : type);
        return { kind: "unknown" };
      }
    }
  }

  private commandEnded(id: string | undefined, payload: JsonObject): Disposition {
    const ran = personCommandIn(payload);
    return ran === undefined
      ? this.records.commandEnded(id, payload)
      : this.prompts.ranByPerson(ran, "event");
  }

  private itemCompleted(line: Line, item: JsonObject): Disposition {
    const id = asString(item.id);
    switch (item.type) {
      case "UserMessage":
        return this.prompts.userCopy(readUserContent(item.content), "completed");
      case "CommandExecution":
        return this.commandEnded(id, item);
      case "FileChange":
        return this.records.patched(id, item);
      case "McpToolCall":
        return this.records.mcpCalled(id, item);
      case "WebSearch":
        return this.records.webSearched(id, item);
      case "Extension":
        return this.extended(id, item);
      case "ImageView":
        return this.records.aboutCall(id, "view_image", item);
      case "ImageGeneration":
        return this.records.imageGenerated(id, item);
      case "CollabAgentToolCall":
        return this.records.collabCalled(id, item);
      case "SubAgentActivity":
        return this.records.agentActivity(id, item);
      case "ContextCompaction":
        return this.turnRecords.compact("completed", undefined, undefined);
      case "EnteredReviewMode":
        return readNotice(this.writer, { ...item, type: "entered_review_mode" }) ?? SHOWN;
      case "ExitedReviewMode":
        return readNotice(this.writer, { ...item, type: "exited_review_mode" }) ?? SHOWN;
      case "HookPrompt":
        this.writer.marker("hook", codexTitle("codex_hook"), readUserContent(item.fragments).text, item);
        return SHOWN;
      case "DynamicToolCall":
        return this.records.dynamicCall({ ...item, call_id: id });
      case "FunctionCallOutput":
        return this.records.output(item, readOutput(item.output));
      case "Sleep":
        return this.pause(id, item, item.duration_ms);
      default:
        this.writer.unknown(line.value, asString(item.type));
        return { kind: "unknown" };
    }
  }

  /** An action of an extension, which names its fields in camel case. */
  private extended(id: string | undefined, item: JsonObject): Disposition {
    const kind = asString(item.kind) ?? "";
    const fields = asObject(item.payload) ?? item;
    if (kind === "clock.sleep") return this.pause(id, item, fields.durationMs ?? fields.duration_ms);
    if (!kind.startsWith("image_gen.")) return this.records.extended(id, item);
    const { status, result, revisedPrompt, revised_prompt = revisedPrompt } = fields;
    const { savedPath, saved_path = savedPath } = fields;
    return this.records.imageGenerated(id, { type: item.type, status, result, revised_prompt, saved_path });
  }

  /** Reads a pause: shown by its call, otherwise by a note. */
  private pause(id: string | undefined, item: JsonObject, duration_ms: unknown): Disposition {
    const call = this.records.ownCall(id, item);
    if (call !== undefined) return folded(`call ${call}`);
    this.writer.marker("note", codexTitle("sleep", { seconds: inSeconds(duration_ms) }), asText(item.reason));
    return SHOWN;
  }
}
