import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { RecordReader, RecordResult } from "../contract.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import { stopOf, usageOf } from "./fields.ts";
import { openCodeSessionId } from "./ids.ts";
import { PartReading } from "./parts.ts";
import type { OpenCodeMessage, OpenCodeState } from "./state.ts";

const PLACEHOLDER_TITLE = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T/;
/** Number of messages whose role is remembered: later parts refer to them. */
const MAX_MESSAGES = 64;
/** The agent of a session that has not switched. */
const DEFAULT_AGENT = "build";

/** Reads the records of `stores.ts`. Part ids are derived from rows, so a revision changes its part in place. */
export const openCodeReader: RecordReader<OpenCodeState> = {
  initialState: () => ({ name: "", at: 0, messages: [], calls: [], agent: DEFAULT_AGENT }),
  sessionId: ({ session_id }) => session_id,
  read: (state, record) => new RecordReading(state, record).read(),
  end: () => [],
  linkFacts({ session_id, name, parent, calls, run_at = 0 }) {
    if (session_id === undefined) return { sessions: [] };
    const group = parent === undefined ? session_id : openCodeSessionId(parent);
    const run =
      parent === undefined
        ? undefined
        : { agent_key: name, parent_session_id: openCodeSessionId(parent), at: run_at };
    return { sessions: [{ session_id, group, calls, ...(run !== undefined && { run }) }] };
  },
};

class RecordReading extends PartReading {
  read(): RecordResult {
    const { key, value, deleted } = this.record;
    const colon = key.indexOf(":");
    const kind = colon === -1 ? key : key.slice(0, colon);
    const id = colon === -1 ? "" : key.slice(colon + 1);
    if (kind === "session") this.session(value);
    else if (deleted === true) this.deleted(kind, id);
    else if (kind === "message") this.message(id, asObject(value.data), value.reverted === true);
    else if (kind === "part")
      this.part(id, asString(value.messageID) ?? "", asObject(value.data), value.reverted === true);
    else if (kind === "finish") this.finish(id, value);
    else this.unknown(key, value);
    return { disposition: this.disposition, frames: this.frames };
  }

  private session(value: JsonObject): void {
    const { state } = this;
    if (this.record.deleted === true) return;
    const name = asText(value.id);
    if (state.name === "" && name !== undefined) state.name = name;
    const parent = asText(value.parent_id) ?? asText(value.parentID);
    if (parent !== undefined) state.parent = parent;
    const title = asText(value.title);
    const version = asText(value.version);
    const cwd = asText(value.directory);
    const created = asNumber(value.time_created) ?? asNumber(asObject(value.time)?.created);
    if (created !== undefined) {
      state.run_at ??= created;
      if (state.at === 0) state.at = created;
    }
    const name_of_run = /\(@(.+) subagent\)$/.exec(title ?? "")?.[1];
    this.put({
      type: "session.update",
      patch: {
        agent: "opencode",
        ...(version !== undefined && { agent_version: version }),
        ...(title !== undefined && !PLACEHOLDER_TITLE.test(title) && { title }),
        ...(cwd !== undefined && { cwd }),
        ...(parent !== undefined && {
          parent: { session_id: openCodeSessionId(parent) },
          run: {
            ...(name_of_run !== undefined && { name: name_of_run }),
            ...(title !== undefined && { task: title.replace(/ \(@.+ subagent\)$/, "") }),
          },
        }),
      },
    });
  }

  private message(id: string, data: JsonObject | undefined, reverted: boolean): void {
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

  private deleted(kind: string, id: string): void {
    const reason = "deleted in opencode";
    this.fold("its earlier parts");
    const message_id = this.messageId(id);
    if (kind === "message") this.put({ type: "message.retract", message_id, reason });
    else if (kind === "part")
      this.put({ type: "message.retract", message_id, part_id: this.partId(id), reason });
  }

  private finish(id: string, value: JsonObject): void {
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
      ...(stop === "error" && { error: message ?? "The agent failed" }),
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
