import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Disposition } from "../contract.ts";
import { splitErrorText } from "../error-text.ts";
import { firstLine } from "../lines/first-line.ts";
import { hidden, SHOWN } from "./disposition.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Reads events that create a one-line note and nothing else; `undefined`: it is none of them. */
export function readNotice(writer: TurnWriter, payload: JsonObject): Disposition | undefined {
  switch (payload.type) {
    case "undo_completed":
      writer.marker(
        "rewind",
        payload.success === false ? "Undo failed" : "Undone",
        asString(payload.message),
      );
      return SHOWN;
    case "entered_review_mode":
      writer.marker(
        "note",
        asText(payload.user_facing_hint) ? `Review: ${asString(payload.user_facing_hint)}` : "Review",
        asString(payload.prompt),
        payload.target,
      );
      return SHOWN;
    case "exited_review_mode":
      writer.marker(
        "note",
        "Review finished",
        reviewText(asObject(payload.review_output)),
        payload.review_output,
      );
      return SHOWN;
    case "thread_goal_updated": {
      const goal = asObject(payload.goal);
      const status = asText(goal?.status);
      const objective = asText(goal?.objective)?.trim();
      const title = objective === undefined ? "Goal" : `Goal: ${firstLine(objective)}`;
      writer.marker("note", status === undefined ? title : `${title} (${status})`, objective, goal);
      return SHOWN;
    }
    case "stream_error":
      writer.marker(
        "retry",
        splitErrorText(messageOf(payload) ?? "The stream broke").message,
        undefined,
        payload,
      );
      return SHOWN;
    case "warning":
    case "deprecation_notice":
      writer.marker(
        "note",
        messageOf(payload) ?? asString(payload.summary) ?? "Warning",
        asString(payload.details),
        payload,
      );
      return SHOWN;
    case "plan_update": {
      return hidden("plan update");
    }
    default:
      return undefined;
  }
}

/** Reads the assessment of a reviewing model (Codex: Guardian). Creates a note unless it approved. */
export function readGuardian(writer: TurnWriter, payload: JsonObject): Disposition {
  const status = asString(payload.status) ?? "";
  if (!/denied|reject|abort|timed|fail/.test(status)) return hidden("guardian assessment");
  writer.marker(
    "note",
    `Guardian: ${status.replaceAll("_", " ")}`,
    asString(payload.rationale),
    payload.action,
  );
  return SHOWN;
}

/** The message of an event. */
export function messageOf(payload: JsonObject): string | undefined {
  return asText(payload.message) ?? asText(asObject(payload.error)?.message) ?? asText(payload.error);
}

function reviewText(review: JsonObject | undefined): string | undefined {
  if (review === undefined) return undefined;
  const findings = asArray(review.findings).flatMap((entry) => {
    const finding = asObject(entry);
    const title = asString(finding?.title);
    const body = asString(finding?.body);
    return title === undefined && body === undefined ? [] : [`- ${title ?? ""}\n  ${body ?? ""}`];
  });
  return [asText(review.overall_explanation), ...findings].filter((part) => part !== undefined).join("\n\n");
}
