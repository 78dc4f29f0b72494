import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition } from "../contract.ts";
import { remember } from "../conversation/conversation-state.ts";
import type { Event } from "./event.ts";
import { REFUSED, takeLast } from "./state.ts";

/** Reads `ApprovalRequest`. A sub-agent's is among the records of its parent. */
export function readRequest({ state, payload }: Event): Disposition {
  const id = asText(payload.id);
  const call = asText(payload.tool_call_id);
  const action = asText(payload.description) ?? asText(payload.action);
  if (id !== undefined)
    remember(state.requests, {
      id,
      ...(call !== undefined && { call }),
      ...(action !== undefined && { action: action.slice(0, 200) }),
    });
  return { kind: "folded", into: "its call" };
}

/** Reads `ApprovalResponse`, in wire protocol 1.0 `ApprovalRequestResolved`. */
export function readDecision({ state, conversation, payload }: Event): Disposition | undefined {
  const { call, action } = takeLast(state.requests, ({ id }) => id === payload.request_id) ?? {};
  const response = asText(payload.response) ?? "decided";
  if (call !== undefined && /^approve/.test(response)) {
    remember(state.decided, { call, scope: response === "approve_for_session" ? "session" : "once" });
    return { kind: "folded", into: "its call" };
  }
  if (call !== undefined && response === "reject") remember(state.decided, { call, scope: REFUSED });
  conversation.marker(
    "note",
    response === "reject"
      ? sourceTitle("refused_action", { action })
      : sourceTitle("decided", { decision: response, action }),
    asText(payload.feedback),
    payload,
  );
  return undefined;
}

/** Reads `HookResolved`: the end of all hooks of one event. */
export function readHook({ conversation, payload }: Event): Disposition | undefined {
  if (payload.action === "allow") return { kind: "hidden", rule: "hook without output" };
  const [event = "unknown", target] = [asText(payload.event), asText(payload.target)];
  const hook = target === undefined ? event : `${event} (${target})`;
  const status = payload.action === "block" ? "blocked" : asText(payload.action);
  conversation.marker("hook", sourceTitle("hook_status", { hook, status }), asText(payload.reason), payload);
  return undefined;
}

export function readNotification({ conversation, payload }: Event): undefined {
  const title = asText(payload.title) ?? sourceTitle("notification");
  conversation.marker("notification", title, asString(payload.body), payload);
}

/** Reads `BtwEnd`, the answer to a side question, which is not part of the conversation. */
export function readSideAnswer({ conversation, payload }: Event): undefined {
  const answer = asText(payload.response);
  if (answer !== undefined) conversation.marker("note", sourceTitle("side_answer"), answer);
  else conversation.marker("note", sourceTitle("side_question_failed"), asText(payload.error));
}

/** Reads `StepRetry`. What the failed attempt had written remains above it. */
export function readRetry({ conversation, payload }: Event): undefined {
  const attempt = [payload.next_attempt, payload.max_attempts].filter((each) => typeof each === "number");
  const code = payload.status_code;
  const error = [asText(payload.error_type), typeof code === "number" ? `HTTP ${code}` : undefined];
  const reason = error.filter((each) => each !== undefined).join(", ");
  conversation.marker(
    "retry",
    attempt.length === 0
      ? sourceTitle("retrying", {})
      : sourceTitle("retrying_attempt", { attempt: attempt.join("/") }),
    reason,
    payload,
  );
}

/** Reads the plan mode in `StatusUpdate`. The first status of a session only tells that it is off. */
export function readPlanMode({ state, conversation }: Event, plan_mode: unknown): void {
  if (typeof plan_mode !== "boolean" || plan_mode === (state.plan_mode ?? false)) return;
  state.plan_mode = plan_mode;
  conversation.marker("note", sourceTitle(plan_mode ? "plan_mode_entered" : "plan_mode_left"));
}

/** Facts in `state.json` of the session or in `meta.json` of a sub-agent. */
export interface SideFacts {
  title?: string | undefined;
  cwd?: string | undefined;
  model?: string | undefined;
  run?: { name?: string; task?: string; depth: number };
}

export function factsIn(side: JsonObject): SideFacts {
  const launch = asObject(side.launch_spec);
  if (launch === undefined) return { title: asText(side.custom_title), cwd: asText(side.worktree_path) };
  const name = asText(side.subagent_type);
  const task = asText(side.description);
  return {
    cwd: asText(launch.work_dir),
    model: asText(launch.effective_model) ?? asText(launch.model_override),
    run: { ...(name !== undefined && { name }), ...(task !== undefined && { task }), depth: 1 },
  };
}
