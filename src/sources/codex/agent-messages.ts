import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
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
    const author = asString(payload.author) ?? "another agent";
    const recipient = asString(payload.recipient) ?? "another agent";
    const { writer } = this;
    const { ownPath } = this.facts.state;
    const fresh = writer.turn === undefined || (writer.turn.prompts === 0 && !writer.turn.spoke);
    if (ownPath !== undefined && keptName(author) === ownPath && keptName(recipient) !== ownPath) {
      writer.marker("notification", `Message to ${recipient}`, text);
    } else if (fresh || envelope?.[1] === "NEW_TASK") {
      prompts.ask({ text, parts: [{ type: "text", text }] }, "agent", "item");
    } else {
      const what = envelope?.[1] === "FINAL_ANSWER" ? "Answer" : "Message";
      writer.marker("notification", `${what} from ${author}`, text);
      if (what === "Answer") this.runs.ended(author, "completed");
    }
    return SHOWN;
  }

  notification(content: UserContent): Disposition {
    const start = content.text.indexOf(NOTIFICATION);
    const end = content.text.indexOf(NOTIFICATION_END, start);
    const inner = content.text.slice(start + NOTIFICATION.length, end).trim();
    const notification = asObject(start < 0 || end < 0 ? undefined : jsonOrText(inner));
    const key = asString(notification?.agent_path) ?? asString(notification?.agent_id);
    const status = asObject(notification?.status);
    const state = asString(notification?.status) ?? Object.keys(status ?? {})[0] ?? "reported";
    const text = asString(status?.[state]) ?? content.text;
    const name = key === undefined ? undefined : this.runs.nameOf(key);
    this.writer.marker("notification", `Sub-agent ${name ?? ""} ${state}`.replaceAll(/ +/g, " "), text);
    this.runs.ended(key, state);
    return SHOWN;
  }
}
