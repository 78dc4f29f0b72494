import { asArray, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import { titleOf } from "../../../model/parts/content.ts";
import type { RequestOption } from "../../../model/request.ts";
import { textFields } from "../../../model/text/display-text.ts";
import { requestText } from "../../../model/text/request-texts.ts";
import { answerTexts, approvalRequest, questionRequest } from "../request-forms.ts";
import type { TerminalRequest } from "../terminal-request.ts";
import type { Asked } from "./asked.ts";
import { readElicitation } from "./elicitation.ts";

/**
 * Reads a request of Codex's app server to the user (`codex app-server generate-ts --experimental`, 0.169; the API is
 * experimental). `undefined`: unknown kind, or the request does not describe everything that would be done, so it is left to the
 * terminal. `changesOf`: the changes of a patch, `[{path, kind, diff}]`, by the id of its item. Its request does not contain
 * them.
 */
export function readServerRequest(
  method: string,
  value: unknown,
  changesOf: (item_id: string) => unknown,
): TerminalRequest | undefined {
  const params = asObject(value);
  const thread = asText(params?.threadId)?.toLowerCase();
  if (params === undefined || thread === undefined) return undefined;
  const asked = askedBy(method, params, changesOf);
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
    ...(asked.problemOf !== undefined && { problemOf: asked.problemOf }),
    ...(asked.isComplete !== undefined && { isComplete: asked.isComplete }),
    replyTo: asked.resultOf,
  };
}

function askedBy(
  method: string,
  params: JsonObject,
  changesOf: (item_id: string) => unknown,
): Asked | undefined {
  switch (method) {
    case "item/fileChange/requestApproval":
      return patchOf(params, changesOf(asText(params.itemId) ?? ""));
    case "item/commandExecution/requestApproval":
      return commandOf(params);
    case "item/tool/requestUserInput":
      return questionsOf(params);
    case "mcpServer/elicitation/request":
      return readElicitation(params);
    default:
      return undefined;
  }
}

function commandOf(params: JsonObject): Asked | undefined {
  const command = asText(params.command);
  // Other requests (input of a running command, network access, permissions) do not describe everything that they ask for.
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
    title: title ?? requestText("allow_command", { command: titleOf(command) }),
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

/** The decisions about a patch. Its request names none. */
const PATCH_DECISIONS = ["accept", "acceptForSession", "decline", "cancel"] as const;

function patchOf(params: JsonObject, value: unknown): Asked | undefined {
  const changes = asArray(value).flatMap((each) => changeText(asObject(each)) ?? []);
  const [first] = changes;
  const isWhole = changes.length === asArray(value).length && params.grantRoot == null;
  if (first === undefined || !isWhole) return undefined;
  const reason = asText(params.reason);
  const request = approvalRequest({
    title:
      (reason === undefined ? undefined : titleOf(reason)) ??
      requestText("change_files", { file: first.path, more: changes.length - 1 }),
    tool_name: "apply_patch",
    subject: changes.map(({ text }) => text).join("\n"),
    options: PATCH_DECISIONS.flatMap((decision, at) => optionOf(decision, `${at}`) ?? []),
  });
  return {
    requests: [request],
    resultOf(answers) {
      const id = answers.get(request.request_id)?.option_ids[0];
      return { decision: PATCH_DECISIONS[Number(id)] ?? "decline" };
    },
  };
}

/** A change of one file as text. `diff` is the content of a file that is added or deleted. `undefined`: unknown change. */
function changeText(change: JsonObject | undefined): { path: string; text: string } | undefined {
  const path = asText(change?.path);
  const diff = asString(change?.diff);
  const kind = asObject(change?.kind);
  if (path === undefined || diff === undefined) return undefined;
  const to = asText(kind?.move_path);
  switch (kind?.type) {
    case "add":
    case "delete":
      return { path, text: `${kind.type} ${path}\n${diff}` };
    case "update":
      return { path, text: `update ${path}${to === undefined ? "" : `, move to ${to}`}\n${diff}` };
    default:
      return undefined;
  }
}

/** `undefined`: unknown decision, not offered. */
function optionOf(decision: unknown, id: string): RequestOption | undefined {
  switch (decision) {
    case "accept":
      return { id, label: "Allow", kind: "allow_once" };
    case "acceptForSession":
      return { id, label: "Allow for this session", kind: "allow_always" };
    case "decline":
      return {
        id,
        label: "Deny",
        ...textFields("description", requestText("continues_without_it")),
        kind: "reject_once",
      };
    case "cancel":
      return {
        id,
        label: "Deny and stop",
        ...textFields("description", requestText("stops_turn")),
        kind: "reject_once",
      };
    default: {
      const amendment = asObject(asObject(decision)?.acceptWithExecpolicyAmendment);
      const words = asArray(amendment?.execpolicy_amendment).flatMap((word) => asText(word) ?? []);
      return words.length === 0
        ? undefined
        : {
            id,
            ...textFields("label", requestText("always_allow", { rules: `${words.join(" ")} …` })),
            kind: "allow_always",
          };
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
          { answers: answerTexts(request, answers.get(request.request_id)) },
        ]),
      ),
    }),
  };
}
