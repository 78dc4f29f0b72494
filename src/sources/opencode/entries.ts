import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { MessageReading } from "./messages.ts";
import { assistantParts, finishOf, shellPart, userParts } from "./v2-messages.ts";

/**
 * Reads the messages of opencode 2: a row contains a whole message, with its parts and its end. They are read as the records
 * that opencode 1 wrote.
 */
export class EntryReading extends MessageReading {
  protected entry(id: string, value: JsonObject): void {
    const data = asObject(value.data);
    const reverted = value.reverted === true;
    if (data === undefined) {
      this.unknown(`entry:${id}`, value);
      return;
    }
    switch (value.type) {
      case "user":
        this.whole(id, { ...data, role: "user" }, userParts(data), reverted);
        return;
      case "synthetic":
      case "system":
      case "skill":
        this.whole(id, { ...data, role: "user" }, [{ ...data, type: "text", synthetic: true }], reverted);
        return;
      case "assistant":
        this.whole(id, assistant(data), assistantParts(data), reverted);
        this.end(id, data);
        return;
      case "shell":
        this.shell(id, data, reverted);
        return;
      case "compaction":
        this.compaction(id, data, reverted);
        return;
      case "agent-switched":
        this.agentSwitched(id, data);
        return;
      case "model-switched":
        this.modelSwitched(id, data);
        return;
      case "location-switched":
        this.locationSwitched(id, data);
        return;
      case "idle":
        this.fold("the turn");
        return;
      default:
        this.unknown(`entry:${id}`, value);
    }
  }

  /** Reads a message and its parts. The record is shown if one of them is. */
  private whole(id: string, message: JsonObject, parts: readonly JsonObject[], reverted: boolean): void {
    this.message(id, message, reverted);
    let { disposition } = this;
    parts.forEach((part, at) => {
      const key = asText(part.key) ?? String(at);
      this.inputPath = ["data", "content", at, "state", "input"];
      this.part(`${id}.${key}`, id, part, reverted);
      if (disposition.kind !== "unknown" && this.disposition.kind !== "folded")
        disposition = this.disposition;
    });
    this.disposition = disposition;
  }

  private end(id: string, data: JsonObject): void {
    const finish = finishOf(data);
    const { disposition } = this;
    if (finish !== undefined) this.finish(id, finish);
    this.disposition = disposition;
  }

  /** A command that a person ran: a prompt, and an answer with the call. */
  private shell(id: string, data: JsonObject, reverted: boolean): void {
    const { time } = data;
    const text = `! ${asString(data.command) ?? ""}`;
    this.whole(id, { role: "user", time }, [{ type: "text", text, shell: true }], reverted);
    this.whole(`${id}.run`, { role: "assistant", time }, [shellPart(data)], reverted);
    if (data.status !== "running") this.end(`${id}.run`, { time });
  }

  /** A compaction, and its summary: a separate model call. */
  private compaction(id: string, data: JsonObject, reverted: boolean): void {
    const { reason, error, summary, time, model, cost, tokens, status } = data;
    const notice = {
      type: "compaction",
      auto: reason === "auto",
      ...(error !== undefined && { error: { data: error } }),
    };
    this.whole(id, { role: "user", time }, [notice], reverted);
    if (status === "running") return;
    const text = asText(summary);
    if (text === undefined && tokens === undefined) return;
    const { disposition } = this;
    const parts = text === undefined ? [] : [{ type: "text", text }];
    this.whole(`${id}.summary`, assistant({ time, model }), parts, reverted);
    this.finish(`${id}.summary`, { time, finish: "stop", cost, tokens, summary: true });
    this.disposition = disposition;
  }

  private agentSwitched(id: string, data: JsonObject): void {
    const agent = asText(data.agent);
    this.fold("the session");
    if (agent === undefined || agent === this.state.agent) return;
    this.state.agent = agent;
    this.note(id, "note", sourceTitle("agent", { agent }));
  }

  private modelSwitched(id: string, data: JsonObject): void {
    const model = asText(asObject(data.model)?.id);
    const before = asText(asObject(data.previous)?.id) ?? this.state.model;
    this.fold("the session");
    if (model === undefined || model === before) return;
    this.state.model = model;
    this.put({ type: "session.update", patch: { model } });
    if (before !== undefined) this.note(id, "model_switch", `${before} → ${model}`);
  }

  private locationSwitched(id: string, data: JsonObject): void {
    const folderOf = (value: unknown) => asText(asObject(asObject(value)?.location)?.directory);
    const [before, now] = [folderOf(data.previous), folderOf(data)];
    this.fold("the session");
    if (now === undefined || now === before) return;
    this.note(id, "note", before === undefined ? now : `${before} → ${now}`);
  }

  private note(id: string, kind: "note" | "model_switch", title: Parameters<typeof titleFields>[0]): void {
    this.emitShown({
      type: "marker",
      message_id: this.messageId(id),
      part_id: this.partId(id),
      kind,
      ...titleFields(title),
    });
  }
}

/** The message of a model call, as opencode 1 wrote it. */
const assistant = ({ time, model, agent }: JsonObject): JsonObject => ({
  role: "assistant",
  time: { created: asNumber(asObject(time)?.created) },
  modelID: asText(asObject(model)?.id),
  mode: agent,
});
