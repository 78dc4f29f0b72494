import { asArray, asObject, asText, type JsonObject } from "../../../model/narrow.ts";
import type { RequestOption } from "../../../model/request.ts";
import { argumentsText } from "../arguments-text.ts";
import { readElicitationForm } from "../elicitation-form.ts";
import { approvalRequest } from "../request-forms.ts";
import type { Asked } from "./asked.ts";

/**
 * Reads an MCP server's request that comes through Codex. `undefined`: a URL to open or another form, which is left to the
 * terminal.
 */
export function readElicitation(params: JsonObject): Asked | undefined {
  const message = asText(params.message);
  const server = asText(params.serverName);
  const meta = asObject(params._meta);
  if (params.mode !== "form" || message === undefined || server === undefined) return undefined;
  if (meta?.codex_approval_kind !== undefined) return callApprovalOf(server, message, meta);
  const form = readElicitationForm(server, message, params.requestedSchema);
  if (form === undefined) return undefined;
  return {
    requests: form.requests,
    problemOf: form.problemOf,
    isComplete: form.isComplete,
    resultOf(answers) {
      const content = form.contentOf(answers);
      return content === undefined ? DECLINED : { action: "accept", content, _meta: null };
    },
  };
}

/** Codex's own request to run a tool of a server has this form (seen with 0.169). `undefined`: it asks for something else. */
function callApprovalOf(server: string, message: string, meta: JsonObject): Asked | undefined {
  const tool = asText(meta.tool_name);
  const input = asObject(meta.tool_params);
  if (meta.codex_approval_kind !== "mcp_tool_call" || tool === undefined || input === undefined)
    return undefined;
  const options = [
    ALLOW,
    ...ALLOW_LONGER.filter(({ id }) => asArray(meta.persist).includes(id)),
    { id: "decline", label: "Deny", kind: "reject_once" } satisfies RequestOption,
  ];
  const request = approvalRequest({
    title: message,
    tool_name: tool,
    subject: [`${server}.${tool}`, argumentsText(input)].filter((text) => text !== "").join("\n"),
    options,
  });
  return {
    requests: [request],
    resultOf(answers) {
      const id = answers.get(request.request_id)?.option_ids[0];
      const persist = ALLOW_LONGER.find((option) => option.id === id)?.id;
      if (id !== ALLOW.id && persist === undefined) return DECLINED;
      return { action: "accept", content: {}, _meta: persist === undefined ? null : { persist } };
    },
  };
}

const ALLOW: RequestOption = { id: "accept", label: "Allow", kind: "allow_once" };
/** Options that allow more than one call, with Codex's own names for their duration. */
const ALLOW_LONGER: readonly RequestOption[] = [
  { id: "session", label: "Allow for this session", kind: "allow_always" },
  { id: "always", label: "Always allow", kind: "allow_always" },
];
const DECLINED: JsonObject = { action: "decline", content: null, _meta: null };
