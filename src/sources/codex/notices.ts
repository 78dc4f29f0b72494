import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
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
        codexTitle(payload.success === false ? "undo_failed" : "turn_undone"),
        asString(payload.message),
      );
      return SHOWN;
    case "entered_review_mode":
      writer.marker(
        "note",
        codexTitle("review", { hint: asText(payload.user_facing_hint) }),
        asString(payload.prompt) ?? asString(payload.review),
        payload.target,
      );
      return SHOWN;
    case "exited_review_mode":
      writer.marker(
        "note",
        codexTitle("review_finished"),
        reviewText(asObject(payload.review_output)) ?? asString(payload.review),
        payload.review_output,
      );
      return SHOWN;
    case "thread_goal_updated": {
      const goal = asObject(payload.goal);
      const status = asText(goal?.status);
      const objective = asText(goal?.objective)?.trim();
      const first = objective === undefined ? undefined : firstLine(objective);
      writer.marker("note", codexTitle("codex_goal", { goal: first, status }), objective, goal);
      return SHOWN;
    }
    case "stream_error": {
      const message = messageOf(payload);
      const title = message === undefined ? codexTitle("stream_broke") : splitErrorText(message).message;
      writer.marker("retry", title, undefined, payload);
      return SHOWN;
    }
    case "warning":
    case "deprecation_notice":
      writer.marker(
        "note",
        messageOf(payload) ?? asString(payload.summary) ?? codexTitle("codex_warning"),
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
    codexTitle("guardian", { status: status.replaceAll("_", " ") }),
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
