import type { SessionPatch } from "../../model/session.ts";
import type { SessionConfig } from "../../store/history/session-config.ts";
import type { AgentKind } from "./agents.ts";
import { configOf, type ManagedSession } from "./managed-session.ts";
import type { SessionRegistry } from "./session-registry.ts";

const MAX_RECENT = 10;

/** The row fields of a new session that describe its agent. */
export function factsOf({ agent, cwd, model }: SessionConfig, { entry }: AgentKind): SessionPatch {
  return {
    agent,
    cwd,
    ...(model === undefined ? {} : { model }),
    ...(entry.kind === "provider" ? { provider: agent } : {}),
    ...(entry.scripted === undefined ? {} : { scripted: entry.scripted }),
  };
}

/** Whether a session that this daemon runs has a prompt in its record. */
export async function hasPrompt(
  load: SessionRegistry["load"],
  entry: ManagedSession,
  message_id: string,
): Promise<boolean> {
  return entry.config.kind === "hosted" && (await load(entry)).prompts.has(message_id);
}

/** The settings of earlier sessions, newest first. */
export function recentSettings(
  entries: ReadonlyMap<string, ManagedSession>,
): { agent: string; model?: string; cwd: string }[] {
  const seen = new Map<string, { agent: string; model?: string; cwd: string }>();
  const started = [...entries.values()]
    .map(configOf)
    .filter(({ kind, depth }) => kind === "hosted" && depth === 0)
    .sort((one, other) => other.created_at - one.created_at);
  for (const { agent, model, cwd } of started) {
    const key = JSON.stringify([agent, model, cwd]);
    if (!seen.has(key)) seen.set(key, { agent, cwd, ...(model === undefined ? {} : { model }) });
    if (seen.size >= MAX_RECENT) break;
  }
  return [...seen.values()];
}
