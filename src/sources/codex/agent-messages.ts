import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition } from "../contract.ts";
import { keptName } from "./bounds.ts";
import { SHOWN } from "./disposition.ts";
import type { Prompts } from "./prompts.ts";
import type { Runs } from "./runs.ts";
import type { ThreadFacts } from "./thread-facts.ts";
import { jsonOrText } from "./tool-extra.ts";
import type { TurnWriter } from "./turn-writer.ts";
import { readUserContent, type UserContent } from "./user-message.ts";

const NOTIFICATION = "<subagent_notification>";
const NOTIFICATION_END = "</subagent_notification>";
/** The header of a message between agents. */
const ENVELOPE = /^Message Type: (\w+)\n(?:[A-Z][\w ]*: .*\n)*?Payload:\n?/;

/** Reads messages between agents. */
export class AgentMessages {
  private readonly writer: TurnWriter;
  private readonly runs: Runs;
  private readonly facts: ThreadFacts;

  constructor(writer: TurnWriter, runs: Runs, facts: ThreadFacts) {
    this.writer = writer;
    this.runs = runs;
    this.facts = facts;
  }

  /** Reads a message between agents: a task for this agent, or an answer to it. */
  message(payload: JsonObject, prompts: Prompts): Disposition {
    const content = readUserContent(payload.content);
    const envelope = ENVELOPE.exec(content.text);
    const text = content.text.slice(envelope?.[0].length ?? 0).trimStart();
    const author = asString(payload.author);
    const recipient = asString(payload.recipient);
    const { writer } = this;
    const { ownPath } = this.facts.state;
    const fresh = writer.turn === undefined || (writer.turn.prompts === 0 && !writer.turn.spoke);
    const isOwn = (path: string | undefined): boolean =>
      path !== undefined && ownPath !== undefined && keptName(path) === ownPath;
    if (isOwn(author) && !isOwn(recipient)) {
      writer.marker("notification", codexTitle("message_to", { recipient }), text);
    } else if (fresh || envelope?.[1] === "NEW_TASK") {
      prompts.ask({ text, parts: [{ type: "text", text }] }, "agent", "item");
    } else {
      const isAnswer = envelope?.[1] === "FINAL_ANSWER";
      const title = codexTitle(isAnswer ? "answer_from" : "message_from", { author });
      writer.marker("notification", title, text);
      if (isAnswer) this.runs.ended(author, "completed");
    }
    return SHOWN;
  }

  /** Reads such a message in a record of its own. For some months of 2026 no response item repeats it. */
  communication(payload: JsonObject, prompts: Prompts): Disposition {
    const { encrypted_content } = payload;
    const isEncrypted = (asString(payload.content) ?? "") === "" && encrypted_content !== undefined;
    const content = isEncrypted ? [{ type: "encrypted_content", encrypted_content }] : payload.content;
    return this.message({ ...payload, content }, prompts);
  }

  notification(content: UserContent): Disposition {
    const start = content.text.indexOf(NOTIFICATION);
    const end = content.text.indexOf(NOTIFICATION_END, start);
    const inner = content.text.slice(start + NOTIFICATION.length, end).trim();
    const notification = asObject(start < 0 || end < 0 ? undefined : jsonOrText(inner));
    const key = asString(notification?.agent_path) ?? asString(notification?.agent_id);
    const status = asObject(notification?.status);
    const state = asString(notification?.status) ?? Object.keys(status ?? {})[0];
    const text = (state === undefined ? undefined : asString(status?.[state])) ?? content.text;
    const name = key === undefined ? undefined : this.runs.nameOf(key);
    this.writer.marker("notification", codexTitle("sub_agent_state", { name, state }), text);
    this.runs.ended(key, state ?? "reported");
    return SHOWN;
  }
}
