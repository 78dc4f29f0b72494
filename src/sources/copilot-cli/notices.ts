import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { repositoryName } from "../../model/repository.ts";
import type { SessionPatch } from "../../model/session.ts";
import { Conversation } from "../conversation/conversation.ts";
import type { Event } from "./event.ts";
import { growthOf, totalsOf, usageOf } from "./figures.ts";
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
  Record<string, (data: JsonObject) => [title: string, text?: string | undefined, data?: unknown]>
> = {
  "session.info": (data) => [
    asText(data.message) ?? "Notice",
    undefined,
    fields(data, "infoType", "url", "tip"),
  ],
  "session.warning": (data) => [
    `Warning: ${word(data.message)}`,
    undefined,
    fields(data, "warningType", "url", "remediation"),
  ],
  "session.mode_changed": (data) => [`Mode: ${word(data.previousMode)} → ${word(data.newMode)}`],
  "session.permissions_changed": (data) => [
    `Permission mode: ${word(data.mode)}`,
    undefined,
    fields(data, "previousMode", "assistedApprovalModel"),
  ],
  "session.session_limits_changed": (data) => [
    "Limits of the session changed",
    undefined,
    fields(data, "sessionLimits"),
  ],
  "session.plan_changed": (data) => [`Plan file: ${word(data.operation)}`],
  "session.workspace_file_changed": (data) => [`Workspace file ${word(data.operation)}: ${word(data.path)}`],
  "session.schedule_created": (data) => [
    `Prompt scheduled: ${asText(data.displayPrompt) ?? word(data.prompt)}`,
    undefined,
    fields(data, "id", "cron", "at", "intervalMs", "tz", "recurring"),
  ],
  "session.schedule_cancelled": (data) => [`Scheduled prompt cancelled: ${String(data.id)}`],
  "session.autopilot_objective_changed": (data) => [
    `Autopilot objective: ${word(data.operation)}`,
    undefined,
    fields(data, "id", "status"),
  ],
  "session.handoff": (data) => [
    `Handed over from ${word(data.sourceType)}`,
    asText(data.summary) ?? asText(data.context),
    fields(data, "remoteSessionId", "repository", "host"),
  ],
  "session.remote_steerable_changed": (data) => [
    data.remoteSteerable === true ? "Remote control switched on" : "Remote control switched off",
  ],
  "session.task_complete": (data) => [
    data.success === false ? "Task not completed" : "Task completed",
    asText(data.summary) ?? asText(data.reason),
    fields(data, "outcome", "objectiveId"),
  ],
  "session.fusion_route_failed": (data) => [
    `Model routing failed: ${word(data.reason)}`,
    asText(data.errorMessage),
    fields(data, "fallbackModel"),
  ],
  "session.fusion_resolved": (data) => [
    `Models chosen: ${word(data.primaryModel)}`,
    undefined,
    fields(data, "secondaryModel", "pattern", "policy", "ruleName"),
  ],
  "session.fusion_completed": (data) => [
    `Combined answer of the models: ${word(data.outcome)}`,
    undefined,
    fields(data, "inputTokens", "outputTokens", "phaseCount", "finalSourceModel"),
  ],
  "assistant.fusion_phase_completed": (data) => [
    `${word(data.model)} as ${word(data.role)}`,
    asText(data.content),
    fields(data, "phaseKind", "verdict", "usage"),
  ],
  "assistant.fusion_phase_failed": (data) => [
    `${word(data.model)} as ${word(data.role)} failed: ${word(data.reason)}`,
    asText(data.errorMessage),
    fields(data, "phaseKind", "usage"),
  ],
  "subagent.selected": (data) => [`Agent selected: ${asText(data.agentDisplayName) ?? word(data.agentName)}`],
  "subagent.deselected": () => ["Default agent selected"],
  "tool_search.activated": (data) => [`Tools loaded: ${asArray(data.toolNames).map(String).join(", ")}`],
  "session.canvas.recorded": (data) => [
    `Canvas: ${asText(data.title) ?? word(data.canvasId)}`,
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
  conversation.marker("note", "Session resumed", undefined, fields(data, "eventCount", "sessionWasActive"));
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
  if (data.shutdownType === "error") conversation.error(reason ?? "The session ended in an error", facts);
  else conversation.marker("note", "Session ended", reason, facts);
}

export function readModelChange({ agent, conversation, data }: Event): void {
  const model = asText(data.newModel);
  if (model === undefined) return;
  const before = agent.conversation.model;
  if (before !== undefined && before !== model) {
    const cause = asText(data.cause);
    const more = fields(data, "reasoningEffort", "previousReasoningEffort", "source");
    conversation.marker("model_switch", `Model changed: ${before} → ${model}`, cause, more);
  }
  agent.conversation.model = model;
  conversation.update({ model });
}

export function readCompactionStart({ state, conversation, record, data }: Event): void {
  state.compaction = record.key;
  conversation.marker("compaction", "Context is being compacted", undefined, data);
  conversation.fold("the compaction");
}

/** Revises the note of the compaction's start. */
export function readCompactionEnd({ state, agent, conversation, record, data }: Event): void {
  const before = asNumber(data.preCompactionTokens);
  const failure = asText(data.error);
  const title =
    data.success === false
      ? `Compaction failed${failure === undefined ? "" : `: ${failure}`}`
      : `Context compacted${before === undefined ? "" : `: ${before.toLocaleString("en-US")} tokens before`}`;
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
  const title = `Permission requested: ${askedFor(request)}`;
  conversation.marker("note", title, undefined, request);
  if (id === undefined) return;
  remember(state.asked, id, {
    key: record.key,
    title,
    ...(call !== undefined && { tool_call_id: call }),
  });
}

export function readPermissionAnswer({ state, agent, conversation, record, data }: Event): void {
  const asked = take(state.asked, asText(data.requestId));
  const { text, outcome, permission } = decisionOf(data);
  const line = new Conversation(agent.conversation, { key: asked?.key ?? record.key, place: record.place });
  line.marker("note", `${asked?.title ?? "Permission requested"} (${text})`, undefined, data);
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
  const failure = asText(asObject(data.error)?.message);
  const { output } = data;
  const isSilent = output === undefined || output === null || JSON.stringify(output) === "{}";
  if (data.success !== false && isSilent) return;
  const title = `Hook ${word(data.hookType)}${data.success === false ? ` failed${failure === undefined ? "" : `: ${failure}`}` : ""}`;
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
    asText(data.message) ?? "An error without a message",
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
  conversation.context("Attachment", [
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
