import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult } from "../contract.ts";
import { promptParts } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { promptKey } from "../conversation/runs.ts";
import { readEntry } from "../pi/entries.ts";
import type { MessageOptions } from "../pi/messages.ts";
import { usageOf } from "../pi/usage.ts";
import { taskOf } from "./runs.ts";
import type { OhMyPiState } from "./state.ts";

/** Reads an entry, not a message, that pi does not write or writes differently. */
export function readOwnEntry(
  state: OhMyPiState,
  conversation: Conversation,
  value: JsonObject,
  { isCopy }: MessageOptions,
): RecordResult | undefined {
  switch (value.type) {
    case "title_change":
      conversation.update({ title: asText(value.title) });
      return conversation.result({ kind: "folded", into: "the session's title" });
    case "model_change":
      return readEntry(state, conversation, { ...value, ...modelOf(value) }, isCopy);
    case "thinking_level_change": {
      const level = asText(value.thinkingLevel) ?? "default";
      const thinkingLevel = value.configured === "auto" ? `auto (${level})` : level;
      return readEntry(state, conversation, { ...value, thinkingLevel }, isCopy);
    }
    case "service_tier_change":
      conversation.marker("note", sourceTitle("service_tier", { tiers: tiersOf(value.serviceTier) }));
      return conversation.result();
    case "mode_change":
      readMode(conversation, value);
      return conversation.result();
    case "model_usage": {
      const usage = isCopy ? undefined : usageOf(value.usage);
      if (usage !== undefined) conversation.sideCall({ model: asText(value.model), usage });
      return conversation.result({ kind: "folded", into: "the session's tokens" });
    }
    case "compaction": {
      const title = value.fromExtension === true ? "context_compacted_by_extension" : "context_compacted";
      const { firstKeptEntryId, method, tokensAfter, shortSummary, warning, details } = value;
      conversation.marker(
        "compaction",
        sourceTitle(title, { before: asNumber(value.tokensBefore) }),
        asText(value.summary),
        present({ firstKeptEntryId, method, tokensAfter, shortSummary, warning, details }),
      );
      return conversation.result();
    }
    case "reset_boundary":
      conversation.marker("compaction", sourceTitle("context_cleared"));
      return conversation.result();
    case "session_init":
      readStart(state, conversation, value);
      return conversation.result();
    case "ttsr_injection": {
      const rules = asArray(value.injectedRules).flatMap((rule) => asText(rule) ?? []);
      conversation.marker("context", sourceTitle("rules_injected", { rules: rules.join(", ") }));
      return conversation.result();
    }
    case "credential_pin":
      return conversation.result({ kind: "hidden", rule: "account of the provider" });
    case "custom":
      return readState(conversation, value);
    case "custom_message":
      readInjected(conversation, value);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    default:
      return undefined;
  }
}

/** Reads a message that oh-my-pi or an extension added to the context, or that a person wrote in another way than as a prompt. */
export function readInjected(conversation: Conversation, message: JsonObject): void {
  const type = asText(message.customType);
  const parts = promptParts(message.content);
  const details = asObject(message.details);
  const isByPerson = message.attribution === "user";
  if (type === "skill-prompt" && isByPerson) {
    const skill = asText(details?.name);
    const written = [`/skill:${skill ?? "unknown"}`, asText(details?.args) ?? ""].join(" ").trim();
    const text = asText(details?.prompt) ?? written;
    conversation.prompt([{ type: "text", text }], { origin: "command" });
    if (parts.length > 0) conversation.context(sourceTitle("skill", { skill }), parts);
  } else if (parts.length === 0) return;
  else if (type === "collab-prompt" && isByPerson)
    conversation.prompt(parts, { queued: conversation.awaitsModel });
  else if (type === "async-result")
    // The result of a background task, which starts a turn if none is open.
    conversation.prompt(parts, { origin: "notification", queued: conversation.awaitsModel });
  else conversation.context(sourceTitle("context_from", { agent: "oh-my-pi", reason: type }), parts);
}

/** A model is written as `provider/id`. */
function modelOf({ model }: JsonObject): JsonObject {
  const [, provider, modelId] = /^([^/]+)\/(.+)$/s.exec(asText(model) ?? "") ?? [];
  return modelId === undefined ? { modelId: model } : { modelId, provider };
}

/** A service tier, or one for each family of models. */
function tiersOf(value: unknown): string | undefined {
  const tiers = asObject(value);
  if (tiers === undefined) return asText(value);
  const names = Object.entries(tiers).flatMap(([family, tier]) =>
    typeof tier === "string" ? [`${family} ${tier}`] : [],
  );
  return names.length === 0 ? undefined : names.join(", ");
}

function readMode(conversation: Conversation, { mode, data }: JsonObject): void {
  const name = asText(mode);
  const title =
    name === "plan"
      ? sourceTitle("plan_mode_entered")
      : name === "none"
        ? sourceTitle("usual_mode")
        : sourceTitle("mode_entered", { mode: name });
  conversation.marker("note", title, undefined, data);
}

/** Reads what a sub-agent starts with. Its task follows as a prompt. */
function readStart(state: OhMyPiState, conversation: Conversation, value: JsonObject): void {
  const { tools, agent, modelRole, resolvedModel, readOnly, outputSchema, spawns, isolated } = value;
  conversation.marker(
    "context",
    sourceTitle("system_prompt"),
    asText(value.systemPrompt),
    present({ agent, tools, modelRole, resolvedModel, readOnly, outputSchema, spawns, isolated }),
  );
  const task = asText(taskOf(asString(value.task) ?? ""));
  if (state.run === undefined || task === undefined) return;
  state.run.prompt = promptKey(task);
  conversation.update({ run: { name: state.run.name, task } });
}

function readState(conversation: Conversation, value: JsonObject): RecordResult {
  if (value.customType !== "session_exit")
    return conversation.result({ kind: "hidden", rule: "state of the agent or an extension" });
  const data = asObject(value.data);
  conversation.marker(
    "note",
    sourceTitle("exited", { reason: asText(data?.reason) }),
    undefined,
    data?.pendingToolCalls === undefined ? undefined : { pending_calls: data.pendingToolCalls },
  );
  return conversation.result();
}

/** The members that are present; `undefined`: none. */
function present(members: JsonObject): JsonObject | undefined {
  const found = Object.entries(members).filter(([, value]) => value !== undefined);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
