import type { JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { Disposition } from "../contract.ts";
import type { Line, Session } from "./session-types.ts";

/** Whether a message is missing or has no content (`null`, an empty list and a string are content). */
export function isDamaged(message: JsonObject): boolean {
  const { content, role, id } = message;
  if (Array.isArray(content) && content.length === 0) return role === undefined && id === undefined;
  return content !== null && typeof content !== "string" && !Array.isArray(content);
}

/** Shows a record with a valid envelope and an invalid message, with its remaining data. */
export function readDamaged(session: Session, line: Line): Disposition {
  session.push(line, {
    type: "unknown",
    part_id: session.recordPart(line).part_id,
    raw: line.value,
    ...titleFields(
      claudeCodeTitle(line.value.type === "assistant" ? "unreadable_answer" : "unreadable_message"),
    ),
    error: "The message of this record is damaged: it has no content.",
  });
  return { kind: "unreadable" };
}
