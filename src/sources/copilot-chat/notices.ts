import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { MarkerKind } from "../../model/transcript/transcript.ts";
import { own } from "../conversation/own.ts";
import { firstLine } from "../lines/first-line.ts";
import { markdownText, nameOfReference, pathOf, placeOfReference } from "./values.ts";

/** A marker for an item of a response. */
export interface Notice {
  kind: MarkerKind;
  title: DisplayText;
  text?: string;
}

/** Kinds of items that are not shown, and why. */
const HIDDEN: Readonly<Record<string, string>> = {
  clearToPreviousToolInvocation: "instruction to the editor",
  mcpServersStarting: "start of MCP servers",
  prepareToolInvocation: "announcement of a call",
};

export const hiddenRule = (kind: string): string | undefined => own(HIDDEN, kind);

/** Markers by kind of item. Kinds without one are shown as unknown. */
const NOTICES: Readonly<Record<string, (item: JsonObject) => Notice>> = {
  autoModeResolution: (item) => {
    const { id, name } = chosenModel(item);
    return { kind: "note", title: sourceTitle("models_chosen", { model: name ?? id }) };
  },
  command: ({ command }) => ofText(asString(asObject(command)?.title) ?? ""),
  confirmation: (item) => {
    const buttons = asArray(item.buttons).flatMap((button) => asText(button) ?? []);
    return titled(item.title, markdownText(item.message), buttons.map((button) => `[${button}]`).join(" "));
  },
  elicitation: (item) => elicitation(item),
  elicitation2: (item) => elicitation(item),
  elicitationSerialized: (item) => elicitation(item),
  extensions: ({ extensions }) => ofText(lines(asArray(extensions).map(asText))),
  externalEdit: ({ uri, editKind, originalUri }) =>
    ofText(lines([asText(editKind), pathOf(originalUri), pathOf(uri)], " ")),
  hook: ({ hookType, stopReason, systemMessage, toolDisplayName }) => ({
    kind: "hook",
    title: sourceTitle("hook", { hook: asText(hookType) }),
    text: lines([asText(toolDisplayName), asText(stopReason), asText(systemMessage)]),
  }),
  info: ({ content }) => ofText(markdownText(content), "notification"),
  multiDiffData: ({ multiDiffData }) => {
    const data = asObject(multiDiffData);
    const files = asArray(data?.resources).map((file) => {
      const { modifiedUri, goToFileUri, originalUri } = asObject(file) ?? {};
      return pathOf(goToFileUri) ?? pathOf(modifiedUri) ?? pathOf(originalUri);
    });
    return titled(data?.title, lines(files));
  },
  planReview: (item) => {
    const { action, feedback, rejected } = asObject(item.data) ?? {};
    const answer = rejected === true ? "✗" : asText(action);
    return titled(item.title, markdownText(item.content), lines([answer, asText(feedback)]));
  },
  progressMessage: ({ content }) => ofText(markdownText(content)),
  progressTask: (item) => progress(item),
  progressTaskSerialized: (item) => progress(item),
  pullRequest: (item) =>
    titled(item.title, markdownText(item.description), lines([asText(item.author), pathOf(item.uri)])),
  questionCarousel: (item) => ({
    kind: "note",
    title: sourceTitle("asked_user"),
    text: lines([
      markdownText(item.message),
      ...asArray(item.questions).map((one) => question(one, item.data)),
    ]),
  }),
  systemNotification: ({ content }) => ofText(markdownText(content), "notification"),
  treeData: (item) => {
    const tree = asObject(item.treeData) ?? item;
    return titled(tree.label, treeLines(tree, 0));
  },
  voiceProgress: ({ value }) => ofText(asString(value) ?? ""),
  warning: ({ content }) => {
    const text = markdownText(content);
    return { kind: "note", title: sourceTitle("warning", { message: firstLine(text) }), text };
  },
  workspaceEdit: ({ edits }) =>
    ofText(
      lines(
        asArray(edits).map((edit) => {
          const { oldResource, newResource } = asObject(edit) ?? {};
          return lines([pathOf(oldResource), pathOf(newResource)], " → ");
        }),
      ),
    ),
};

/** The marker of an item. `undefined`: its kind is not known. */
export const noticeOf = (kind: string, item: JsonObject): Notice | undefined => own(NOTICES, kind)?.(item);

/** The model that VS Code chose for a request that left the choice open. Its name and id were members of the item before. */
export function chosenModel({ resolved, resolvedModel, resolvedModelName }: JsonObject): {
  id?: string | undefined;
  name?: string | undefined;
} {
  const { id = resolvedModel, name = resolvedModelName } = asObject(resolved) ?? {};
  return { id: asText(id), name: asText(name) };
}

const lines = (texts: readonly (string | undefined)[], separator = "\n"): string =>
  texts.filter((text) => text !== undefined && !isBlank(text)).join(separator);

/** A text as a marker: its first line is the title, and all of it is shown on demand if there is more. */
function ofText(text: string, kind: MarkerKind = "note"): Notice {
  const title = firstLine(text);
  return { kind, title: title === "" ? sourceTitle("note") : title, ...(title !== text && { text }) };
}

function titled(title: unknown, ...texts: string[]): Notice {
  const name = firstLine(markdownText(title));
  return { kind: "note", title: name === "" ? sourceTitle("note") : name, text: lines(texts, "\n\n") };
}

function progress({ content, progress: items }: JsonObject): Notice {
  const details = asArray(items).map((item) => {
    const { kind, content: text, reference } = asObject(item) ?? {};
    return kind === "reference" ? placeOfReference(reference) : markdownText(text);
  });
  const notice = ofText(markdownText(content));
  return details.length === 0 ? notice : { ...notice, text: lines([notice.text, ...details]) };
}

function elicitation(item: JsonObject): Notice {
  const result = asObject(item.acceptedResult);
  return titled(
    item.title,
    lines([markdownText(item.subtitle), markdownText(item.message)]),
    lines([asText(item.state), result && JSON.stringify(result, undefined, 2)]),
  );
}

function question(value: unknown, answers: unknown): string {
  const { id, title, message, options } = asObject(value) ?? {};
  const name = asText(id);
  const answer = name === undefined ? undefined : asObject(answers)?.[name];
  const labels = asArray(options).map((option) => asText(asObject(option)?.label));
  return lines([
    asText(title),
    markdownText(message),
    ...labels.map((label) => label && `- ${label}`),
    answer === undefined ? undefined : `→ ${answerText(answer, asArray(options))}`,
  ]);
}

/** An answer: a text, or the chosen values and a text. Values are shown by their labels. */
function answerText(answer: unknown, options: readonly unknown[]): string {
  const { selectedValue, selectedValues, freeformValue } = asObject(answer) ?? { freeformValue: answer };
  const chosen = [selectedValue, ...asArray(selectedValues)].map((value) => {
    const option = options.map(asObject).find((one) => one?.value === value || one?.id === value);
    return asText(option?.label) ?? asText(value);
  });
  return lines([...chosen, asText(freeformValue)], ", ");
}

/** No tree is deeper. Bounds the recursion. */
const MAX_DEPTH = 50;

function treeLines(tree: JsonObject, depth: number): string {
  return lines(
    asArray(tree.children).map((value) => {
      const child = asObject(value) ?? {};
      const name = asText(child.label) ?? nameOfReference(child.uri) ?? "";
      const below = depth < MAX_DEPTH ? treeLines(child, depth + 1) : "";
      return lines([`${"  ".repeat(depth)}${name}`, below]);
    }),
  );
}
