import { createHash } from "node:crypto";
import type { HistoryEvent } from "../model/messages/history.ts";
import type { ToolCallPart } from "../model/messages/part.ts";
import { titleOf } from "../model/parts/content.ts";
import type { Answer, Request, RequestOption } from "../model/request.ts";
import { type DisplayText, textFields } from "../model/text/display-text.ts";
import { requestText, titleOfCall } from "../model/text/request-texts.ts";
import { titleFields } from "../model/text/titles.ts";
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
  ...textFields("description", requestText("agent_receives_denial")),
  kind: "reject_once",
};

/** Hex SHA-256 of the subject in UTF-8. */
export function digestOf(subject: string): string {
  return createHash("sha256").update(subject, "utf8").digest("hex");
}

/**
 * The approval request for a call. Its `request_id` is derived from the session, the message, the call and the subject: a
 * restarted daemon waits for the same answer, and an answer never applies to another call for which a model used the same call
 * id.
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
    ...titleFields(titleOfCall(tool_name, target)),
    tool_call_id: call_id,
    tool_name,
    subject: prepared.subject,
    digest,
    options: [
      ALLOW,
      {
        id: ALWAYS,
        ...textFields("label", alwaysLabel(alwaysAllowed({ tool_name, target: prepared.target }))),
        kind: "allow_always",
      },
      REJECT,
    ],
    free_text: true,
  };
}

/**
 * The label of "always". It says what the rule allows, which may be more than the shown call, unless it is only this command or
 * address.
 */
function alwaysLabel({ tool, exact }: PermissionRule): DisplayText {
  if (exact === undefined) return requestText("allow_every_call", { tool: endOf(tool) });
  const path = endOf(exact);
  switch (tool) {
    case "shell":
    case "web_fetch":
      return "Allow for this session";
    case "write":
      return requestText("allow_every_write", { path });
    case "glob":
    case "grep":
      return requestText("allow_every_search", { tool, path });
    default:
      return requestText("allow_every_use", { tool, path });
  }
}

/** Shortens a text at its beginning, because the end of a path identifies it better. */
function endOf(text: string): string {
  return text.length <= LABEL_LIMIT ? text : `…${text.slice(1 - LABEL_LIMIT).toWellFormed()}`;
}
const LABEL_LIMIT = 64;

function approvalId(session_id: string, message_id: string, call_id: string, digest: string): string {
  return uuidFrom(session_id, `approval ${message_id} ${call_id} ${digest}`);
}

type Verdict = { allowed: true; rule?: PermissionRule } | { allowed: false; says?: string };

/** The verdict of an answer to an approval request. Without exactly one known option, the call is not allowed. */
export function verdictOf(answer: Answer, call: { tool_name: string; target: string }): Verdict {
  const { option_ids, text } = answer;
  const says = text === undefined || text.trim() === "" ? {} : { says: text };
  if (option_ids.length !== 1) return { allowed: false, ...says };
  if (option_ids[0] === ALWAYS) return { allowed: true, rule: alwaysAllowed(call) };
  return option_ids[0] === ALLOW.id ? { allowed: true } : { allowed: false, ...says };
}

/**
 * The rules that the user added in this session, from its history. Rules that a fork has copied from its parent do not apply,
 * because they were granted there. Targets are computed again from the arguments; a rule is dropped if the result differs from
 * what was shown.
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
      // In a fork, a copied request keeps its id, which was derived from the id of the original session.
      const id = approvalId(host.session_id, message_id, call.call_id, request.digest ?? "");
      if (request.request_id !== id) continue;
      const target = shownTarget(call, tool, host, request);
      if (target !== undefined) added.push(alwaysAllowed({ tool_name: call.tool_name, target }));
    }
  }
  return added;
}

function shownTarget(call: ToolCallPart, tool: Tool, host: AgentHost, shown: Request): string | undefined {
  const input = inputOf(call);
  if (typeof input === "string") return undefined;
  try {
    const { subject, target } = tool.prepare(input, host);
    return digestOf(subject) === shown.digest ? target : undefined;
  } catch {
    return undefined;
  }
}
