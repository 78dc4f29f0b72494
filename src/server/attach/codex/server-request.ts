import { asArray, asObject, asText, type JsonObject } from "../../../model/narrow.ts";
import { titleOf } from "../../../model/parts/content.ts";
import type { Answer, Request, RequestOption } from "../../../model/request.ts";
import { answerWords, approvalRequest, questionRequest } from "../request-forms.ts";
import type { TerminalRequest } from "../terminal-request.ts";

/**
 * Reads a request of Codex's app server to the user (`codex app-server generate-ts --experimental`, 0.169; the API is
 * experimental). `undefined`: unknown kind, or it does not contain everything that would be run, so it is left to the terminal.
 */
export function readServerRequest(method: string, value: unknown): TerminalRequest | undefined {
  const params = asObject(value);
  const thread = asText(params?.threadId)?.toLowerCase();
  if (params === undefined || thread === undefined) return undefined;
  const asked = askedBy(method, params);
  if (asked === undefined) return undefined;
  const cwd = asText(params.cwd);
  return {
    session_id: thread,
    agent: "codex",
    ...(cwd !== undefined && { cwd }),
    requests: asked.requests,
    hides_dialog: false,
    is_main: false,
    ends_by: "agent",
    replyTo: asked.resultOf,
  };
}

interface Asked {
  requests: Request[];
  /** The result of the JSON-RPC reply. */
  resultOf(answers: ReadonlyMap<string, Answer>): JsonObject;
}

function askedBy(method: string, params: JsonObject): Asked | undefined {
  switch (method) {
    case "item/commandExecution/requestApproval":
      return commandOf(params);
    case "item/tool/requestUserInput":
      return questionsOf(params);
    default:
      return undefined;
  }
}

function commandOf(params: JsonObject): Asked | undefined {
  const command = asText(params.command);
  // Other requests (input of a running command, network access, permissions) do not contain everything that is asked for.
  const isPlain =
    (params.kind === undefined || params.kind === "command") &&
    asObject(params.networkApprovalContext) === undefined &&
    asObject(params.additionalPermissions) === undefined;
  if (command === undefined || !isPlain) return undefined;
  const cwd = asText(params.cwd);
  const subject = cwd === undefined ? command : `${command}\n\nin ${cwd}`;
  const decisions =
    params.availableDecisions == null ? ["accept", "decline"] : asArray(params.availableDecisions);
  const options = decisions.flatMap((decision, at) => optionOf(decision, `${at}`) ?? []);
  if (!options.some(({ kind }) => kind === "allow_once")) return undefined;
  const reason = asText(params.reason);
  const title = reason === undefined ? undefined : titleOf(reason);
  const request = approvalRequest({
    title: title ?? `Allow: ${titleOf(command) ?? "a command"}`,
    tool_name: "shell",
    subject,
    options,
  });
  return {
    requests: [request],
    resultOf(answers) {
      const id = answers.get(request.request_id)?.option_ids[0];
      return { decision: decisions[Number(id)] ?? "decline" };
    },
  };
}

/** `undefined`: unknown decision, not offered. */
function optionOf(decision: unknown, id: string): RequestOption | undefined {
  switch (decision) {
    case "accept":
      return { id, label: "Allow", kind: "allow_once" };
    case "acceptForSession":
      return { id, label: "Allow for this session", kind: "allow_always" };
    case "decline":
      return { id, label: "Deny", description: "The agent continues without it.", kind: "reject_once" };
    case "cancel":
      return { id, label: "Deny and stop", description: "Stops the turn.", kind: "reject_once" };
    default: {
      const amendment = asObject(asObject(decision)?.acceptWithExecpolicyAmendment);
      const words = asArray(amendment?.execpolicy_amendment).flatMap((word) => asText(word) ?? []);
      return words.length === 0
        ? undefined
        : { id, label: `Allow, and always allow ${words.join(" ")} …`, kind: "allow_always" };
    }
  }
}

function questionsOf(params: JsonObject): Asked | undefined {
  const all = asArray(params.questions).map((each) => asObject(each) ?? {});
  // Secrets are entered in the terminal only.
  if (all.length === 0 || all.some(({ isSecret }) => isSecret === true)) return undefined;
  const questions = all.flatMap((question) => {
    const id = asText(question.id);
    const hasOptions = asArray(question.options).length > 0;
    const request = questionRequest(question, {
      ...((question.isOther === true || !hasOptions) && { free_text: true }),
    });
    return id === undefined || request === undefined ? [] : [{ id, request }];
  });
  if (questions.length < all.length) return undefined;
  return {
    requests: questions.map(({ request }) => request),
    resultOf: (answers) => ({
      answers: Object.fromEntries(
        questions.map(({ id, request }) => [
          id,
          { answers: answerWords(request, answers.get(request.request_id)) },
        ]),
      ),
    }),
  };
}
