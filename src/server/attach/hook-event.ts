import { asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/** The message of `agent-hook.mjs` for an agent whose bodies do not name the agent and the event. */
export interface HookEvent {
  agent: string;
  event: string;
  /** The agent's process. */
  pid?: number;
  body: JsonObject;
}

/** A hook's report about a session, with the agent's own session id. */
export interface HookReport {
  session_id: string;
  /** `ended`: the agent closes the session. `resumed`: it no longer waits. */
  state: "idle" | "busy" | "waiting" | "resumed" | "ended";
  /** The reason for `waiting`, in the wording of Claude Code's process registry. */
  for?: string;
}

/** Reads the bodies of one agent's hooks. */
export interface HookReader {
  /** `undefined`: the event says nothing about the state. */
  readReport?(event: string, body: JsonObject): HookReport | undefined;
  /** `undefined`: the event is not a request that can be answered. `pid`: the agent's process. */
  readRequest?(event: string, body: JsonObject, pid?: number): TerminalRequest | undefined;
}

/** `undefined`: the message is not of this kind. */
export function readHookEvent(message: unknown): HookEvent | undefined {
  const { agent, event, pid, body } = asObject(message) ?? {};
  const content = asObject(body);
  const [agent_id, name, number] = [asText(agent), asText(event), asNumber(pid)];
  if (agent_id === undefined || name === undefined || content === undefined) return undefined;
  return { agent: agent_id, event: name, body: content, ...(number !== undefined && { pid: number }) };
}

/** The session id of a body in Claude Code's format, in lower case as in session files. */
export const sessionIdOf = (body: JsonObject): string | undefined => asText(body.session_id)?.toLowerCase();
