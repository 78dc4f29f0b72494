import { asArray, asObject, asText, type JsonObject } from "../../../model/narrow.ts";
import { titleOf } from "../../../model/parts/content.ts";
import type { RequestOption } from "../../../model/request.ts";
import { textFields } from "../../../model/text/display-text.ts";
import { requestText, titleOfCall } from "../../../model/text/request-texts.ts";
import { openCodeSessionId } from "../../../sources/opencode/ids.ts";
import { argumentsText } from "../arguments-text.ts";
import { answerTexts, approvalRequest, questionRequest } from "../request-forms.ts";
import type { TerminalRequest } from "../terminal-request.ts";

/**
 * Reads an event from the plugin: `permission.asked` or `question.asked` of opencode 1.18 (the events are documented; how a
 * plugin can answer was only observed). The reply is a call of opencode's own API: `{url, body}`. `undefined`: unknown event.
 */
export function readAskedEvent(value: unknown): TerminalRequest | undefined {
  const event = asObject(value);
  const properties = asObject(event?.properties);
  const id = asText(properties?.id);
  const session = asText(properties?.sessionID);
  if (event?.agent !== "opencode" || properties === undefined) return undefined;
  if (id === undefined || session === undefined || !/^[\w-]+$/.test(id)) return undefined;
  const asked = event.type === "question.asked" ? questionsOf(id, properties) : permissionOf(id, properties);
  return (
    asked && {
      session_id: openCodeSessionId(session),
      agent: "opencode",
      ...asked,
      hides_dialog: false,
      is_main: false,
      ends_by: "agent",
    }
  );
}

type Asked = Pick<TerminalRequest, "requests" | "replyTo">;

function permissionOf(id: string, properties: JsonObject): Asked | undefined {
  const permission = asText(properties.permission);
  if (permission === undefined) return undefined;
  const metadata = asObject(properties.metadata) ?? {};
  const command = asText(metadata.command);
  const patterns = asArray(properties.patterns).flatMap((each) => asText(each) ?? []);
  const isCommand = permission === "bash" && command !== undefined && Object.keys(metadata).length === 1;
  const subject = isCommand ? command : argumentsText({ ...metadata, patterns });
  const always = asArray(properties.always).flatMap((each) => asText(each) ?? []);
  const title = titleOf(command ?? patterns.join(", "));
  const request = approvalRequest({
    title: titleOfCall(permission, title),
    tool_name: permission,
    subject,
    options: [
      { id: "once", label: "Allow", kind: "allow_once" },
      ...(always.length > 0
        ? [
            {
              id: "always",
              ...textFields("label", requestText("always_allow", { rules: always.join(", ") })),
              kind: "allow_always",
            } satisfies RequestOption,
          ]
        : []),
      {
        id: "reject",
        label: "Deny",
        ...textFields("description", requestText("ends_turn_without_reason")),
        kind: "reject_once",
      },
    ],
    free_text: true,
  });
  return {
    requests: [request],
    replyTo(answers) {
      const answer = answers.get(request.request_id);
      const reply = answer?.option_ids[0] ?? "reject";
      const message = answer?.text?.trim() ?? "";
      return {
        url: `/permission/${id}/reply`,
        body: { reply, ...(reply === "reject" && message !== "" && { message }) },
      };
    },
  };
}

function questionsOf(id: string, properties: JsonObject): Asked | undefined {
  const requests = asArray(properties.questions).flatMap((each) => {
    const question = asObject(each) ?? {};
    return (
      questionRequest(question, {
        ...(question.multiple === true && { multiple: true }),
        free_text: true,
      }) ?? []
    );
  });
  if (requests.length === 0 || requests.length < asArray(properties.questions).length) return undefined;
  return {
    requests,
    replyTo: (answers) => ({
      url: `/question/${id}/reply`,
      body: { answers: requests.map((request) => answerTexts(request, answers.get(request.request_id))) },
    }),
  };
}
