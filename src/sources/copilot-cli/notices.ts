import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { repositoryName } from "../../model/repository.ts";
import type { SessionPatch } from "../../model/session.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { Conversation } from "../conversation/conversation.ts";
import { growthOf } from "../conversation/growth.ts";
import type { Event } from "./event.ts";
import { totalsOf, usageOf } from "./figures.ts";
import { askedFor, decisionOf } from "./permissions.ts";
import { remember, take } from "./state.ts";

const word = (value: unknown): string => asText(value) ?? "unknown";

/** Session facts from its start, a resume, or a change of folder. */
export function factsOf(data: JsonObject): SessionPatch {
  const context = asObject(data.context) ?? data;
  const cwd = asText(context.cwd);
  const git_branch = asText(context.branch);
  const owned = asText(context.repository) ?? "";
  // `owner/name`. The host is a separate member.
  const repository = /^[^/]+\/[^/]+$/.test(owned)
    ? repositoryName(`${asText(context.repositoryHost) ?? "github.com"}/${owned}`)
    : undefined;
  const agent_version = asText(data.copilotVersion);
  const model = asText(data.selectedModel);
  return {
    ...(cwd !== undefined && { cwd }),
    ...(git_branch !== undefined && { git_branch }),
    ...(repository !== undefined && { repository }),
    ...(agent_version !== undefined && { agent_version }),
    ...(model !== undefined && { model }),
  };
}

/** The given members that are present; `undefined`: none. */
function fields(data: JsonObject, ...names: string[]): JsonObject | undefined {
  const members = names.flatMap((name) =>
    data[name] === undefined || data[name] === null ? [] : [[name, data[name]] as const],
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Records that create a note, and its text. */
const NOTES: Readonly<
  Record<string, (data: JsonObject) => [title: DisplayText, text?: string | undefined, data?: unknown]>
> = {
  "session.info": (data) => [
    asText(data.message) ?? sourceTitle("notice"),
    undefined,
    fields(data, "infoType", "url", "tip"),
  ],
  "session.warning": (data) => [
    sourceTitle("warning", { message: asText(data.message) }),
    undefined,
    fields(data, "warningType", "url", "remediation"),
  ],
  "session.mode_changed": (data) => [
    sourceTitle("mode_changed", { before: asText(data.previousMode), now: asText(data.newMode) }),
  ],
  "session.permissions_changed": (data) => [
    sourceTitle("permission_mode", { mode: asText(data.mode) }),
    undefined,
    fields(data, "previousMode", "assistedApprovalModel"),
  ],
  "session.permission_recovery": (data) => [
    sourceTitle("permission_recovery", { status: asText(data.status) }),
    undefined,
    fields(data, "reason", "onBlocked", "maxAttempts"),
  ],
  "session.session_limits_changed": (data) => [
    sourceTitle("limits_changed"),
    undefined,
    fields(data, "sessionLimits"),
  ],
  "session.plan_changed": (data) => [sourceTitle("plan_file", { operation: asText(data.operation) })],
  "session.workspace_file_changed": (data) => [
    sourceTitle("workspace_file", { operation: asText(data.operation), path: asText(data.path) }),
  ],
  "session.schedule_created": (data) => [
    sourceTitle("prompt_scheduled", { prompt: asText(data.displayPrompt) ?? asText(data.prompt) }),
    undefined,
    fields(data, "id", "cron", "at", "intervalMs", "tz", "recurring"),
  ],
  "session.schedule_cancelled": (data) => [
    sourceTitle("scheduled_prompt_cancelled", { id: String(data.id) }),
  ],
  "session.autopilot_objective_changed": (data) => [
    sourceTitle("autopilot_objective", { operation: asText(data.operation) }),
    undefined,
    fields(data, "id", "status"),
  ],
  "session.handoff": (data) => [
    sourceTitle("handed_over", { source: asText(data.sourceType) }),
    asText(data.summary) ?? asText(data.context),
    fields(data, "remoteSessionId", "repository", "host"),
  ],
  "session.remote_steerable_changed": (data) => [
    sourceTitle(data.remoteSteerable === true ? "remote_control_on" : "remote_control_off"),
  ],
  "session.task_complete": (data) => [
    sourceTitle(data.success === false ? "task_not_completed" : "task_completed"),
    asText(data.summary) ?? asText(data.reason),
    fields(data, "outcome", "objectiveId"),
  ],
  "session.fusion_route_failed": (data) => [
    sourceTitle("model_routing_failed", { reason: asText(data.reason) }),
    asText(data.errorMessage),
    fields(data, "fallbackModel"),
  ],
  "session.fusion_resolved": (data) => [
    sourceTitle("models_chosen", { model: asText(data.primaryModel) }),
    undefined,
    fields(data, "secondaryModel", "pattern", "policy", "ruleName"),
  ],
  "session.fusion_completed": (data) => [
    sourceTitle("combined_answer", { outcome: asText(data.outcome) }),
    undefined,
    fields(data, "inputTokens", "outputTokens", "phaseCount", "finalSourceModel"),
  ],
  "assistant.fusion_phase_completed": (data) => [
    sourceTitle("model_in_role", { model: asText(data.model), role: asText(data.role) }),
    asText(data.content),
    fields(data, "phaseKind", "verdict", "usage"),
  ],
  "assistant.fusion_phase_failed": (data) => [
    sourceTitle("model_in_role_failed", {
      model: asText(data.model),
      role: asText(data.role),
      reason: asText(data.reason),
    }),
    asText(data.errorMessage),
    fields(data, "phaseKind", "usage"),
  ],
  "subagent.selected": (data) => [
    sourceTitle("agent_selected", { agent: asText(data.agentDisplayName) ?? asText(data.agentName) }),
  ],
  "subagent.deselected": () => [sourceTitle("default_agent_selected")],
  "tool_search.activated": (data) => [
    sourceTitle("tools_loaded", { tools: asArray(data.toolNames).map(String).join(", ") }),
  ],
  "session.canvas.recorded": (data) => [
    sourceTitle("canvas", { title: asText(data.title) ?? asText(data.canvasId) }),
    undefined,
    data,
  ],
};

/** Emits the record's note from `NOTES`. Returns whether there is one. */
export function readNote({ conversation, data }: Event, type: string): boolean {
  const note = Object.hasOwn(NOTES, type) ? NOTES[type] : undefined;
  if (note === undefined) return false;
  conversation.marker("note", ...note(data));
  return true;
}

export function readResume({ conversation, data }: Event): void {
  conversation.update(factsOf(data));
  conversation.marker(
    "note",
    sourceTitle("session_resumed"),
    undefined,
    fields(data, "eventCount", "sessionWasActive"),
  );
}

/** Reads the end of a program run. Its totals, which continue after a resume, are kept besides those of the steps. */
export function readShutdown({ state, conversation, data }: Event): void {
  conversation.close(true);
  if (!state.has_figures) {
    for (const [model, total] of Object.entries(totalsOf(data.modelMetrics))) {
      const usage = growthOf(Object.hasOwn(state.totals, model) ? state.totals[model] : undefined, total);
      if (usage !== undefined) conversation.sideCall({ model, usage });
      remember(state.totals, model, total);
    }
  }
  const reason = asText(data.errorReason);
  const facts = fields(
    data,
    "shutdownType",
    "codeChanges",
    "modelMetrics",
    "totalPremiumRequests",
    "totalApiDurationMs",
    "currentTokens",
  );
  if (data.shutdownType === "error")
    conversation.error(reason ?? sourceTitle("session_ended_in_error"), facts);
  else conversation.marker("note", sourceTitle("session_ended"), reason, facts);
}

/** Reads the last record of `copilot --output-format json`, whose facts are not in `data`. */
export function readResult({ conversation, record }: Event): void {
  const { exitCode, usage } = record.value;
  conversation.close(true);
  const facts = { ...(exitCode !== undefined && { exitCode }), ...asObject(usage) };
  if ((asNumber(exitCode) ?? 0) === 0)
    conversation.marker("note", sourceTitle("session_ended"), undefined, facts);
  else conversation.error(sourceTitle("session_ended_in_error"), facts);
}

/** Reads the use of a skill whose text an earlier record has. */
export function readSkillAgain({ conversation, data }: Event): void {
  const facts = fields(data, "path", "trigger", "description");
  conversation.marker("context", sourceTitle("skill", { skill: asText(data.name) }), undefined, facts);
}

export function readModelChange({ agent, conversation, data }: Event): void {
  const model = asText(data.newModel);
  if (model === undefined) return;
  const before = agent.conversation.model;
  if (before !== undefined && before !== model) {
    const cause = asText(data.cause);
    const more = fields(data, "reasoningEffort", "previousReasoningEffort", "source");
    conversation.marker("model_switch", sourceTitle("model_changed", { before, now: model }), cause, more);
  }
  agent.conversation.model = model;
  conversation.update({ model });
}

export function readCompactionStart({ state, conversation, record, data }: Event): void {
  state.compaction = record.key;
  conversation.marker("compaction", sourceTitle("context_being_compacted"), undefined, data);
  conversation.fold("the compaction");
}

/** Revises the note of the compaction's start. */
export function readCompactionEnd({ state, agent, conversation, record, data }: Event): void {
  const title =
    data.success === false
      ? sourceTitle("compaction_failed", { reason: asText(data.error) })
      : sourceTitle("context_compacted", { before: asNumber(data.preCompactionTokens) });
  const more = fields(
    data,
    "postCompactionTokens",
    "messagesRemoved",
    "trigger",
    "checkpointPath",
    "customInstructions",
  );
  const key = state.compaction ?? record.key;
  delete state.compaction;
  const line = new Conversation(agent.conversation, { key, place: record.place });
  line.marker("compaction", title, asText(data.summaryContent), more);
  conversation.join(line);
  const used = asObject(data.compactionTokensUsed);
  const usage = usageOf(used);
  const model = asText(used?.model);
  if (usage !== undefined) conversation.sideCall({ model, usage });
}

/** Shows a permission request until a decision follows. */
export function readPermissionRequest({ state, conversation, record, data }: Event): void {
  const request = asObject(data.permissionRequest) ?? {};
  const id = asText(data.requestId);
  const call = asText(request.toolCallId);
  const asked = askedFor(request);
  conversation.marker("note", sourceTitle("permission_requested", { request: asked }), undefined, request);
  if (id === undefined) return;
  remember(state.asked, id, {
    key: record.key,
    request: asked,
    ...(call !== undefined && { tool_call_id: call }),
  });
}

export function readPermissionAnswer({ state, agent, conversation, record, data }: Event): void {
  const asked = take(state.asked, asText(data.requestId));
  const { decision, outcome, permission } = decisionOf(data);
  const line = new Conversation(agent.conversation, { key: asked?.key ?? record.key, place: record.place });
  const title = sourceTitle("permission_decided", { request: asked?.request, decision });
  line.marker("note", title, undefined, data);
  conversation.join(line);
  const call = asText(data.toolCallId) ?? asked?.tool_call_id;
  if (call === undefined) return;
  remember(state.decided, call, {
    ...(outcome !== undefined && { outcome }),
    ...(permission !== undefined && { permission }),
  });
}

/** Reads the end of a hook that wrote output or failed. */
export function readHookEnd({ conversation, data }: Event): void {
  const { output } = data;
  const isSilent = output === undefined || output === null || JSON.stringify(output) === "{}";
  if (data.success !== false && isSilent) return;
  const hook = asText(data.hookType);
  const title =
    data.success === false
      ? sourceTitle("hook_failed", { hook, reason: asText(asObject(data.error)?.message) })
      : sourceTitle("hook", { hook });
  conversation.marker(
    "hook",
    title,
    typeof output === "string" ? output : undefined,
    isSilent ? undefined : output,
  );
}

export function readNotification({ conversation, data }: Event): void {
  const kind = asObject(data.kind) ?? {};
  const about =
    asText(kind.description) ?? asText(kind.displayName) ?? asText(kind.summary) ?? asText(kind.sourcePath);
  const name = word(kind.type).replaceAll("_", " ");
  conversation.marker(
    "notification",
    `${name.charAt(0).toUpperCase()}${name.slice(1)}${about === undefined ? "" : `: ${about}`}`,
    asText(data.content),
    kind,
  );
}

export function readError({ conversation, data }: Event): void {
  conversation.error(
    asText(data.message) ?? sourceTitle("error_without_message"),
    fields(data, "errorType", "errorCode", "statusCode", "stack", "url", "remediation"),
  );
}

/** Reads an image or other large file that records refer to by id. */
export function readAsset({ conversation, data }: Event): void {
  const mime = asString(data.mimeType) ?? "application/octet-stream";
  const bytes = asText(data.data);
  if (bytes === undefined) return;
  const url = `data:${mime};base64,${bytes}`;
  const filename = asText(data.description) ?? word(data.assetId);
  conversation.context(sourceTitle("attachment"), [
    mime.startsWith("image/") ? { type: "image_url", url } : { type: "file", mime, url, filename },
  ]);
}

/** Reads the token counts of a model call, recorded before or after its answer. */
export function readFigures({ state, agent, conversation, data }: Event, key: string): void {
  state.has_figures = true;
  const usage_fields = asObject(data.usage) ?? data;
  const usage = usageOf(usage_fields);
  const call = asText(usage_fields.apiCallId);
  const model = asText(usage_fields.model);
  if (usage === undefined) return;
  const kind = asText(usage_fields.interactionType) ?? "conversation-agent";
  const isStep = call !== undefined && /^conversation-(?:agent|subagent|user)$/.test(kind);
  // A model call outside the conversation: a title, a summary.
  if (!isStep) {
    conversation.sideCall({ model, usage });
    return;
  }
  const reason = asText(usage_fields.finishReason);
  flushFigures({ state, agent, conversation }, key);
  remember(state.figures, call, {
    agent: key,
    usage,
    ...(reason !== undefined && { reason }),
    ...(model !== undefined && { model }),
  });
}

/** Counts model calls of an agent without answers, because a person stopped them. */
export function flushFigures(
  { state, conversation }: Pick<Event, "state" | "agent" | "conversation">,
  key: string,
): void {
  for (const [call, { agent: owner, usage, model }] of Object.entries(state.figures)) {
    if (owner !== key) continue;
    delete state.figures[call];
    conversation.sideCall({ model, usage });
  }
}
