import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { type DisplayText, textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordReader, RecordResult } from "../contract.ts";
import { addItem, hasItem, takeItems } from "../recent-items.ts";
import { textOf } from "./content.ts";
import { MessageReading } from "./messages.ts";
import { type GeminiState, idOf } from "./state.ts";

/** Maximum number of messages that a rewind can retract. */
const MAX_MESSAGES = 2_000;
const COMPRESSED_ANSWER = "Got it. Thanks for the additional context!";

/**
 * Reads Gemini CLI's messages from lines and documents. A message is written again when its calls have ended. All ids are
 * derived from the message's id, so the second version revises the first. `$set.messages` mirrors the model's context, not the
 * session, and retracts nothing.
 *
 * Each start of the program writes a file, even a start that continues an earlier session: that file has the session's id and no
 * message. A file without a message of the conversation is not a session, nor does Gemini CLI list it.
 */
export const geminiReader: RecordReader<GeminiState> = {
  initialState({ path }) {
    const segments = path.split("/");
    const at = segments.lastIndexOf("chats");
    const parent = at !== -1 && at < segments.length - 2 ? segments[at + 1] : undefined;
    const stem = (segments.at(-1) ?? "").replace(/(?:\.records)?\.jsonl?$/, "");
    return {
      ...(parent !== undefined && { parent }),
      stem,
      isRun: parent !== undefined,
      at: 0,
      messages: [],
      rewound: [],
      started: [],
      ended: [],
      calls: [],
      held: [],
    };
  },
  sessionId: ({ session_id }) => session_id,
  read: (state, record) => new RecordReading(state, record).read(),
  end: () => [],
  linkFacts({ session_id, isRun, parent, stem, calls, started_at = 0, held }) {
    if (session_id === undefined || held !== undefined) return { sessions: [] };
    const parent_id = isRun && parent !== undefined ? idOf(parent) : undefined;
    const run =
      parent_id === undefined ? undefined : { agent_key: stem, parent_session_id: parent_id, at: started_at };
    return {
      sessions: [{ session_id, group: parent_id ?? session_id, calls, ...(run !== undefined && { run }) }],
    };
  },
};

class RecordReading extends MessageReading {
  read(): RecordResult {
    const { value, deleted, key } = this.record;
    if (deleted === true) this.deleted(key.replace(/^message:/, "").replace(/#\d+$/, ""));
    else if (asText(value.type) !== undefined && asText(value.id) !== undefined) this.message(value, []);
    else if (asObject(value.$set) !== undefined) this.set(asObject(value.$set) ?? {});
    else if (asText(value.$rewindTo) !== undefined) this.rewind(asText(value.$rewindTo) ?? "");
    else if (asText(value.sessionId) !== undefined) this.header(value);
    else this.unknown(value);
    return { disposition: this.disposition, frames: this.released() };
  }

  private header(value: JsonObject): void {
    const { state } = this;
    const name = asText(value.sessionId);
    if (name !== undefined) state.session_id ??= idOf(name);
    if (value.kind === "subagent") state.isRun = true;
    this.timeOf(value.startTime);
    if (state.at > 0) state.started_at ??= state.at;
    this.facts(value);
    this.put({
      type: "session.update",
      patch: {
        agent: "gemini-cli",
        ...(state.isRun &&
          state.parent !== undefined && { parent: { session_id: idOf(state.parent) }, run: {} }),
      },
    });
  }

  private facts(value: JsonObject): void {
    const cwd = asText(asArray(value.directories)[0]);
    // A sub-agent's summary is its answer.
    const title = this.state.isRun ? undefined : asText(value.summary);
    if (cwd === undefined && title === undefined) return;
    this.put({
      type: "session.update",
      patch: { ...(cwd !== undefined && { cwd }), ...(title !== undefined && { title }) },
    });
  }

  private set(patch: JsonObject): void {
    const { state } = this;
    this.facts(patch);
    if (!Array.isArray(patch.messages)) return;
    this.disposition = { kind: "folded", into: "the model's context" };
    const messages = asArray(patch.messages)
      .map(asObject)
      .filter((message) => message !== undefined);
    const isContext = (message: JsonObject) => textOf(message.content).startsWith("<session_context>");
    // The file of a continued session starts with the earlier messages.
    const isFirst = state.messages.length === 0;
    for (const [index, message] of messages.entries()) {
      if (isContext(message) ? state.context_told !== true : isFirst)
        this.message(message, ["$set", "messages", index]);
    }
    const [summary, answer] = messages.filter((message) => !isContext(message));
    if (textOf(answer?.content) !== COMPRESSED_ANSWER) return;
    const text = textOf(summary?.content);
    const compressed = `${text.length}:${text.slice(0, 80)}`;
    if (state.compressed === compressed) return;
    state.compressed = compressed;
    if (isFirst) return;
    this.timeOf(asObject(patch)?.lastUpdated);
    this.emitShown({
      type: "marker",
      part_id: uuidFrom(this.session_id, `compressed:${this.record.key}`),
      kind: "compaction",
      ...titleFields(sourceTitle("context_compressed")),
      text,
    });
  }

  private rewind(id: string): void {
    const { state } = this;
    const at = state.messages.findIndex((key) => key.endsWith(`:${id}`));
    for (const key of takeItems(state.messages, Math.max(0, at))) {
      this.retract(key, retractionReason("retracted_by_rewind"));
      addItem(state.rewound, key, MAX_MESSAGES);
    }
    this.emitShown({
      type: "marker",
      part_id: uuidFrom(this.session_id, `rewind:${this.record.key}`),
      kind: "rewind",
      ...titleFields(sourceTitle("rewound")),
    });
  }

  private deleted(key: string): void {
    this.fold("its earlier parts");
    this.retract(key, retractionReason("deleted_in", { agent: "Gemini CLI" }));
  }

  private retract(key: string, why: DisplayText): void {
    const reason = textFields("reason", why);
    const message_id = uuidFrom(this.session_id, key);
    this.put({ type: "message.retract", message_id, ...reason });
    if (key.startsWith("user:")) this.put({ type: "turn.retract", turn_id: message_id, ...reason });
  }

  /** `path`: position of the message in the record. */
  private message(value: JsonObject, path: readonly (string | number)[]): void {
    const { state } = this;
    const type = asString(value.type) ?? "";
    const key = `${type}:${asText(value.id) ?? ""}`;
    const message_id = uuidFrom(this.session_id, key);
    const before = state.at;
    this.timeOf(value.timestamp);
    const isNew = !hasItem(state.messages, key) && !hasItem(state.rewound, key);
    if (isNew) addItem(state.messages, key, MAX_MESSAGES);
    this.revises = !isNew;
    switch (type) {
      case "user":
        this.user(value, message_id, before);
        break;
      case "gemini":
        this.gemini(value, message_id, isNew, path);
        break;
      case "info":
      case "warning":
      case "error":
        this.notice(value, type, message_id);
        break;
      default:
        this.unknown(value, key);
    }
    this.revises = false;
  }
}
