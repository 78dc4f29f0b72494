import { asArray, asObject, asText, type JsonObject } from "../../../model/narrow.ts";
import type { Answer, Request, RequestOption } from "../../../model/request.ts";
import type { CodedText } from "../../../model/text/catalog.ts";
import { textFields } from "../../../model/text/display-text.ts";
import { requestText } from "../../../model/text/request-texts.ts";
import { argumentsText } from "../arguments-text.ts";
import { denial, titleOfToolCall } from "../call-request.ts";
import { answerTexts, approvalRequest, questionRequest } from "../request-forms.ts";
import type { TerminalRequest } from "../terminal-request.ts";

/** Agent type of workflows. Their dialog opens while the hook runs, as the main thread's does. */
const WORKFLOW_AGENT = "workflow-subagent";
const ALLOW = "allow";
const DENY = "deny";
/** Prefix of the option ids for the agent's suggestions, followed by the suggestion's index. */
const SUGGESTION = "suggestion-";

/**
 * Reads the body of a PermissionRequest hook (Claude Code 2.1; documented except for the answers of questions and plans, which
 * were observed). `undefined`: unknown request, left to the terminal.
 */
export function readPermissionRequest(value: unknown): TerminalRequest | undefined {
  const body = asObject(value);
  const session_id = asText(body?.session_id)?.toLowerCase();
  const tool_name = asText(body?.tool_name);
  const input = asObject(body?.tool_input);
  if (body?.hook_event_name !== "PermissionRequest" || session_id === undefined) return undefined;
  if (tool_name === undefined || input === undefined) return undefined;
  const cwd = asText(body.cwd);
  const agent_type =
    asText(body.agent_id) === undefined ? undefined : (asText(body.agent_type) ?? "sub-agent");
  const asked = askedBy(tool_name, input, asArray(body.permission_suggestions));
  if (asked === undefined) return undefined;
  return {
    session_id,
    agent: "claude-code",
    ...(cwd !== undefined && { cwd }),
    requests:
      agent_type === undefined ? asked.requests : asked.requests.map((each) => askedFrom(each, agent_type)),
    hides_dialog: agent_type !== undefined && agent_type !== WORKFLOW_AGENT,
    is_main: agent_type === undefined,
    ends_by: "register",
    replyTo: (answers) => ({
      hookSpecificOutput: { hookEventName: "PermissionRequest", decision: asked.decide(answers) },
    }),
  };
}

/** A request with the type of the sub-agent that asks. */
function askedFrom(request: Request, from: string): Request {
  const { title_code } = request;
  return {
    ...request,
    title: `${request.title} (${from})`,
    ...(title_code !== undefined && {
      title_code: { ...title_code, params: { ...title_code.params, from } },
    }),
  };
}

interface Asked {
  requests: Request[];
  decide(answers: ReadonlyMap<string, Answer>): JsonObject;
}

function askedBy(tool_name: string, input: JsonObject, suggestions: readonly unknown[]): Asked | undefined {
  switch (tool_name) {
    case "AskUserQuestion":
      return questionsOf(input);
    case "ExitPlanMode":
      return planOf(input);
    default:
      return callOf(tool_name, input, suggestions);
  }
}

function callOf(tool_name: string, input: JsonObject, suggestions: readonly unknown[]): Asked {
  const always = suggestions.flatMap((suggestion, at): RequestOption[] => {
    const label = labelOf(suggestion);
    const option = { id: `${SUGGESTION}${at}`, kind: "allow_always" as const };
    return label === undefined ? [] : [{ ...option, ...textFields("label", label) }];
  });
  const request = approvalRequest({
    title: titleOfToolCall(tool_name, input),
    tool_name,
    subject: subjectOf(tool_name, input),
    options: [
      { id: ALLOW, label: "Allow", kind: "allow_once" },
      ...always,
      { id: DENY, label: "Deny", kind: "reject_once" },
    ],
    free_text: true,
  });
  return {
    requests: [request],
    decide(answers) {
      const answer = answers.get(request.request_id);
      const id = answer?.option_ids[0];
      if (id === undefined || id === DENY) return denial(answer?.text);
      if (id === ALLOW) return { behavior: "allow" };
      const suggestion = suggestions[Number(id.slice(SUGGESTION.length))];
      return { behavior: "allow", updatedPermissions: [suggestion] };
    },
  };
}

function planOf(input: JsonObject): Asked | undefined {
  const plan = asText(input.plan);
  if (plan === undefined) return undefined;
  const request = approvalRequest({
    title: requestText("approve_plan", {}),
    tool_name: "ExitPlanMode",
    subject: plan,
    options: [
      { id: ALLOW, label: "Approve", kind: "allow_once" },
      {
        id: "accept-edits",
        ...textFields("label", requestText("accept_edits")),
        ...textFields("description", requestText("switches_to_accept_edits")),
        kind: "allow_always",
      },
      {
        id: DENY,
        label: "Keep planning",
        ...textFields("description", requestText("agent_receives_text")),
        kind: "reject_once",
      },
    ],
    free_text: true,
  });
  return {
    requests: [request],
    decide(answers) {
      const answer = answers.get(request.request_id);
      const id = answer?.option_ids[0];
      if (id === undefined || id === DENY) return denial(answer?.text);
      // Without the input, Claude Code keeps its dialog open.
      const approved = { behavior: "allow", updatedInput: input };
      if (id === ALLOW) return approved;
      const setMode = { type: "setMode", mode: "acceptEdits", destination: "session" };
      return { ...approved, updatedPermissions: [setMode] };
    },
  };
}

/** Answers are keyed by the question's text, with several labels joined by a comma. */
function questionsOf(input: JsonObject): Asked | undefined {
  const requests = asArray(input.questions).flatMap((each) => {
    const question = asObject(each) ?? {};
    return (
      questionRequest(question, {
        tool_name: "AskUserQuestion",
        ...(question.multiSelect === true && { multiple: true }),
        free_text: true,
      }) ?? []
    );
  });
  if (requests.length === 0) return undefined;
  return {
    requests,
    decide: (answers) => ({
      behavior: "allow",
      updatedInput: {
        ...input,
        answers: Object.fromEntries(
          requests.flatMap((request) => {
            const texts = answerTexts(request, answers.get(request.request_id));
            return texts.length === 0 ? [] : [[request.title, texts.join(", ")]];
          }),
        ),
      },
    }),
  };
}

/** Arguments of Bash that do not affect what is run. */
const BASH_COMMENTS = new Set(["command", "description"]);

/** Everything that would be run: a shell command as it is, or each argument of other inputs. */
function subjectOf(tool_name: string, input: JsonObject): string {
  const command = asText(input.command);
  const isPlain = tool_name === "Bash" && Object.keys(input).every((name) => BASH_COMMENTS.has(name));
  if (isPlain && command !== undefined) return command;
  return argumentsText(input);
}

/** Describes the effect of accepting a suggestion. `undefined`: unknown kind, not offered. */
function labelOf(suggestion: unknown): CodedText | undefined {
  const update = asObject(suggestion);
  const scope = asText(update?.destination);
  switch (update?.type) {
    case "addRules": {
      if (update.behavior !== "allow") return undefined;
      const rules = asArray(update.rules).flatMap((each) => {
        const rule = asObject(each);
        const tool = asText(rule?.toolName);
        const content = asText(rule?.ruleContent);
        return tool === undefined ? [] : [content === undefined ? tool : `${tool}(${content})`];
      });
      return rules.length === 0 ? undefined : requestText("always_allow", { rules: rules.join(", "), scope });
    }
    case "addDirectories": {
      const folders = asArray(update.directories).flatMap((each) => asText(each) ?? []);
      return folders.length === 0
        ? undefined
        : requestText("allow_and_add_folder", { folders: folders.join(", "), scope });
    }
    case "setMode": {
      const mode = asText(update.mode);
      return mode === undefined ? undefined : requestText("allow_and_switch_mode", { mode, scope });
    }
    default:
      return undefined;
  }
}
