import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";

/** The decision of a person, hook or rule about a call. */
export interface Decision {
  /** What was decided: a kind of the record, or `approved-by-settings`. */
  decision: string;
  outcome?: CallOutcome;
  permission?: Permission;
}

/** The requested permission on one line, in Copilot's terms. */
export function askedFor(request: JsonObject): string {
  const subject =
    asText(request.fullCommandText) ??
    asText(request.fileName) ??
    asText(request.path) ??
    asText(request.url) ??
    asText(request.toolTitle) ??
    asText(request.toolName) ??
    asText(request.fact) ??
    asText(request.hookMessage);
  const intention = asText(request.intention);
  const kind = asString(request.kind) ?? "request";
  return subject ?? intention ?? kind;
}

/** Reads `result` of `permission.completed`, with the source of the decision if it is recorded. */
export function decisionOf(data: JsonObject): Decision {
  const result = asObject(data.result) ?? {};
  const kind = asString(result.kind) ?? "unknown";
  const by = deciderOf(asString(data.decisionSource));
  switch (kind) {
    case "approved":
      return {
        decision: by === "person" ? kind : "approved-by-settings",
        permission: { by, ...once(by) },
      };
    case "approved-for-session":
      return { decision: kind, permission: { by, scope: "session" } };
    case "approved-for-location":
      return { decision: kind, permission: { by, scope: "folder" } };
    case "denied-interactively-by-user": {
      const reason = asText(result.feedback);
      return {
        decision: kind,
        outcome: { kind: "refused", by: "person", ...(reason !== undefined && { reason }) },
      };
    }
    case "denied-by-rules":
      return { decision: kind, outcome: { kind: "refused", by: "rule" } };
    case "denied-by-content-exclusion-policy": {
      const reason = asText(result.message);
      return {
        decision: kind,
        outcome: { kind: "refused", by: "rule", ...(reason !== undefined && { reason }) },
      };
    }
    case "denied-by-permission-request-hook": {
      const reason = asText(result.message);
      return {
        decision: kind,
        outcome: { kind: "refused", by: "hook", ...(reason !== undefined && { reason }) },
      };
    }
    case "denied-no-approval-rule-and-could-not-request-from-user":
      return {
        decision: kind,
        outcome: { kind: "refused", by: "settings" },
      };
    case "cancelled":
      return { decision: kind, outcome: { kind: "stopped" } };
    default:
      return { decision: kind };
  }
}

function deciderOf(source: string | undefined): Permission["by"] {
  switch (source) {
    case "assisted_approval":
      return "reviewer";
    case "host_policy":
    case "unattended_fallback":
      return "settings";
    default:
      // Older versions name no source: they only recorded requests to a person.
      return "person";
  }
}

const once = (by: Permission["by"]): { scope?: string } => (by === "person" ? { scope: "once" } : {});
