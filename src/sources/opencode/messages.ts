import { asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { textFields } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import { stopOf, usageOf } from "./fields.ts";
import { NAMES } from "./frames.ts";
import { PartReading } from "./parts.ts";
import type { OpenCodeMessage } from "./state.ts";

/** Number of messages whose role is remembered: later parts refer to them. */
const MAX_MESSAGES = 64;

/** Reads messages and their ends. */
export class MessageReading extends PartReading {
  protected message(id: string, data: JsonObject | undefined, reverted: boolean): void {
    const { state } = this;
    const role = data?.role === "user" ? "user" : "assistant";
    const created = asNumber(asObject(data?.time)?.created);
    if (data === undefined) {
      this.unknown(`message:${id}`, this.record.value);
      return;
    }
    this.fold("its parts");
    const known = itemWithId(state.messages, id);
    if (reverted) this.retract(id, undefined, role);
    // Later changes of a message only concern its end, which is a separate record.
    if (known !== undefined) return;
    if (created !== undefined) state.at = created;
    const model = asText(data.modelID);
    const mode = asText(data.mode);
    const message: OpenCodeMessage = { id, role, message_id: this.messageId(id) };
    if (mode !== undefined) message.mode = mode;
    if (model !== undefined) message.model = model;
    addItem(state.messages, message, MAX_MESSAGES);
    delete state.prompt;
    if (role === "user") {
      this.agentOf(id, data);
      return;
    }
    if (model !== undefined && model !== state.model) {
      state.model = model;
      this.put({ type: "session.update", patch: { model } });
    }
    this.open(id);
  }

  private agentOf(id: string, data: JsonObject): void {
    const { state } = this;
    delete state.switches;
    const agent = asText(data.agent) ?? asText(data.mode);
    if (agent === undefined || agent === state.agent) return;
    state.agent = agent;
    // The agent of a sub-agent's session is its name.
    if (state.parent === undefined) state.switches = id;
  }

  /** Starts an assistant message, and ends the one before: a killed process leaves a message whose end is not recorded. */
  private open(id: string): void {
    const { state } = this;
    if (state.open !== undefined) this.put({ type: "message.end", message_id: this.messageId(state.open) });
    this.begin(id);
    state.open = id;
  }

  protected deleted(kind: string, id: string): void {
    const reason = `deleted in ${NAMES[this.state.product]}`;
    this.fold("its earlier parts");
    const message_id = this.messageId(id);
    if (kind === "message" || kind === "entry") this.put({ type: "message.retract", message_id, reason });
    else if (kind === "part")
      this.put({ type: "message.retract", message_id, part_id: this.partId(id), reason });
  }

  protected finish(id: string, value: JsonObject): void {
    const { state } = this;
    this.fold("its message's end");
    // The record of its message could not be read. While the list is not full, no message was forgotten.
    const isUnread = state.messages.length < MAX_MESSAGES && itemWithId(state.messages, id) === undefined;
    if (isUnread) {
      addItem(state.messages, { id, role: "assistant", message_id: this.messageId(id) }, MAX_MESSAGES);
      this.open(id);
    } else this.begin(id);
    const error = asObject(value.error);
    const stop = stopOf(value);
    const usage = usageOf(value.tokens, value.cost);
    const message = asText(asObject(error?.data)?.message) ?? asText(error?.name);
    const completed = asNumber(asObject(value.time)?.completed);
    if (completed !== undefined) state.at = completed;
    // The next message has already ended it, so only its tokens are new.
    if (state.open !== id && usage === undefined) return;
    this.put({
      type: "message.end",
      message_id: this.messageId(id),
      ...(stop !== undefined && { stop_reason: stop }),
      ...(usage !== undefined && { usage }),
      ...(asText(value.finish) !== undefined && { stop_reason_raw: asText(value.finish) ?? "" }),
      ...(stop === "error" && textFields("error", message ?? sourceTitle("agent_failed"))),
    });
    if (state.open !== id) return;
    delete state.open;
    // A summary ends no turn: the agent may continue with it.
    if (stop === "stop" && value.summary !== true) this.put({ type: "turn.end", status: "completed" });
    if (stop === "error") this.put({ type: "turn.end", status: "failed" });
    // A shell command ends with its message.
    if (stop === undefined && error === undefined) this.put({ type: "turn.end", status: "completed" });
  }
}
