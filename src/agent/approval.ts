import { createHash } from "node:crypto";
import type { HistoryEvent } from "../model/messages/history.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { titleOf } from "../model/parts/content.ts";
import type { Answer, Request, RequestOption } from "../model/request.ts";
import { uuidFrom } from "../model/uuid.ts";
import type { AgentHost } from "./agent.ts";
import { inputOf } from "./call-input.ts";
import { alwaysAllowed, type PermissionRule } from "./permissions.ts";
import type { PreparedCall, Tool } from "./tool.ts";

const ALLOW: RequestOption = { id: "allow", label: "Allow", kind: "allow_once" };
const ALWAYS = "always";
const REJECT: RequestOption = {
  id: "reject",
  label: "Deny",
  description: "The agent is told, with what you write, and goes on.",
  kind: "reject_once",
};

/** SHA-256 of the subject's UTF-8, in hex. */
export function digestOf(subject: string): string {
  return createHash("sha256").update(subject, "utf8").digest("hex");
}

/**
 * What a person is asked before a call runs. The same call of the same message, about the same subject, gives the same
 * `request_id` whenever it is asked, so that a daemon which was restarted waits for the same answer; and nothing else does,
 * so that an answer never counts for another call to which a model gave the same id.
 */
export function approvalOf(
  session_id: string,
  message_id: string,
  call: { call_id: string; tool_name: string },
  prepared: PreparedCall,
): Request {
  const { call_id, tool_name } = call;
  const target = titleOf(prepared.target);
  const digest = digestOf(prepared.subject);
  return {
    request_id: approvalId(session_id, message_id, call_id, digest),
    kind: "approval",
    title: target === undefined ? `Allow ${tool_name}?` : `Allow ${tool_name}: ${target}`,
    tool_call_id: call_id,
    tool_name,
    subject: prepared.subject,
    digest,
    options: [
      ALLOW,
      {
        id: ALWAYS,
        label: alwaysLabel(alwaysAllowed({ tool_name, target: prepared.target })),
        kind: "allow_always",
      },
      REJECT,
    ],
    free_text: true,
  };
}

/** Names what else a rule of "always" lets run, unless that is the shown call alone. */
function alwaysLabel(rule: PermissionRule): string {
  const reach = reachOf(rule);
  return reach === "this command" || reach === "this address"
    ? "Allow for this session"
    : `Allow ${reach} for this session`;
}

/** What a rule of "always" lets run: more than the call that is shown, unless its target is all of it. */
function reachOf({ tool, exact }: PermissionRule): string {
  if (exact === undefined) return `every call of ${endOf(tool)}`;
  switch (tool) {
    case "shell":
      return "this command";
    case "web_fetch":
      return "this address";
    case "write":
      return `every write to ${endOf(exact)}`;
    case "glob":
    case "grep":
      return `every ${tool} in ${endOf(exact)}`;
    default:
      return `every ${tool} of ${endOf(exact)}`;
  }
}

/** A path's end tells it from others. */
function endOf(text: string): string {
  return text.length <= LABEL_LIMIT ? text : `…${text.slice(1 - LABEL_LIMIT).toWellFormed()}`;
}
const LABEL_LIMIT = 64;

function approvalId(session_id: string, message_id: string, call_id: string, digest: string): string {
  return uuidFrom(session_id, `approval ${message_id} ${call_id} ${digest}`);
}

type Verdict = { allowed: true; rule?: PermissionRule } | { allowed: false; says?: string };

/** What an answer to an approval means. One that chooses nothing we know, or says something in words alone, allows nothing. */
export function verdictOf(answer: Answer, call: { tool_name: string; target: string }): Verdict {
  const { option_ids, text } = answer;
  const says = text === undefined || text.trim() === "" ? {} : { says: text };
  if (option_ids.length !== 1) return { allowed: false, ...says };
  if (option_ids[0] === ALWAYS) return { allowed: true, rule: alwaysAllowed(call) };
  return option_ids[0] === ALLOW.id ? { allowed: true } : { allowed: false, ...says };
}

/**
 * The rules that people added in this very session, read from its history: what a fork took over from another session was
 * allowed there, and is asked about here. What a call was about is found by reading its arguments again; where that does not
 * give what the person was shown, there is no rule.
 */
export function rulesAddedIn(
  history: readonly HistoryEvent[],
  tools: readonly Tool[],
  host: AgentHost,
): PermissionRule[] {
  const calls = new Map<string, { call: ToolCallPart; message_id: string }>();
  const requests = new Map<string, Request>();
  const added: PermissionRule[] = [];
  for (const event of history) {
    if ("role" in event) {
      for (const part of event.parts ?? [])
        if (part.type === "tool_call") calls.set(part.call_id, { call: part, message_id: event.id });
    } else if (event.type === "request") requests.set(event.request.request_id, event.request);
    else if (event.type === "request_close" && event.answer?.option_ids.includes(ALWAYS)) {
      const request = requests.get(event.request_id);
      const made = request?.kind === "approval" ? calls.get(request.tool_call_id ?? "") : undefined;
      if (request === undefined || made === undefined) continue;
      const { call, message_id } = made;
      const tool = tools.find(({ definition }) => definition.name === call.tool_name);
      if (tool === undefined) continue;
      // The copied request keeps its id, which is made from the id of the session that asked.
      const id = approvalId(host.session_id, message_id, call.call_id, request.digest ?? "");
      if (request.request_id !== id) continue;
      const target = targetAsShown(call, tool, host, request);
      if (target !== undefined) added.push(alwaysAllowed({ tool_name: call.tool_name, target }));
    }
  }
  return added;
}

function targetAsShown(call: ToolCallPart, tool: Tool, host: AgentHost, shown: Request): string | undefined {
  const input = inputOf(call);
  if (typeof input === "string") return undefined;
  try {
    const { subject, target } = tool.prepare(input, host);
    return digestOf(subject) === shown.digest ? target : undefined;
  } catch {
    return undefined;
  }
}
