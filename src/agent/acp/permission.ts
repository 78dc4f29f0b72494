import { createHash } from "node:crypto";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { titleOf } from "../../model/parts/content.ts";
import type { FileDiff } from "../../model/parts/ui-extra.ts";
import type { Request, RequestOption } from "../../model/request.ts";
import { changesOf, contentText, createFacts } from "./tool-call.ts";

const KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

/** The request to the user for a `session/request_permission`: the agent's own options, and exactly what it announces to do. */
export function requestOf(
  params: JsonObject,
  call: { request_id: string; tool_call_id: string; tool_name: string },
): Request {
  const toolCall = asObject(params.toolCall) ?? {};
  const subject = subjectOf(toolCall);
  return {
    ...call,
    kind: "approval",
    title: titleOf(asString(toolCall.title) ?? "") ?? call.tool_name,
    subject,
    digest: createHash("sha256").update(subject, "utf8").digest("hex"),
    options: asArray(params.options).flatMap(optionOf),
  };
}

function optionOf(value: unknown): RequestOption[] {
  const option = asObject(value);
  const id = asString(option?.optionId);
  if (id === undefined) return [];
  const kind = KINDS.find((known) => known === option?.kind);
  return [{ id, label: asText(option?.name) ?? id, ...(kind === undefined ? {} : { kind }) }];
}

/**
 * What the user decides about: only the shell command if the other arguments do not affect it, the changes to files, or otherwise
 * all arguments. Without arguments, the agent's description of the call.
 */
function subjectOf(toolCall: JsonObject): string {
  const facts = createFacts(asString(toolCall.toolCallId) ?? "", toolCall);
  const input = asObject(facts.rawInput);
  // If `command` is a list, show all arguments: a list cannot be written unambiguously as one line.
  const command = asString(input?.command);
  if (input !== undefined && command !== undefined && isAllOf(input, command)) return command;
  const changes = changesOf(facts);
  if (changes.length > 0) return changes.map(diffText).join("\n\n");
  const patch = input && patchText(input);
  if (patch !== undefined) return patch;
  if (input !== undefined && Object.keys(input).length > 0) return JSON.stringify(input, null, 2);
  if (facts.rawInput !== undefined && input === undefined) return JSON.stringify(facts.rawInput);
  const paths = facts.locations.flatMap((location) => asString(asObject(location)?.path) ?? []);
  return [facts.title ?? "", contentText(facts), ...paths].filter((line) => line !== "").join("\n");
}

/** A diff with the paths in the arguments, which may differ from those in the diff. */
function patchText({ diff, ...places }: JsonObject): string | undefined {
  const paths = Object.entries(places).map(([key, value]) => (PLACES.has(key) ? asString(value) : undefined));
  if (typeof diff !== "string" || paths.some((path) => path === undefined || /[\r\n]/.test(path)))
    return undefined;
  return [...new Set(paths)].map((path) => `Change ${path}\n`).join("") + diff;
}
const PLACES = new Set(["filepath", "fileName", "path"]);

/** Whether no other field affects what the command does. */
function isAllOf(input: JsonObject, command: string): boolean {
  return Object.entries(input).every(([key, value]) => {
    if (key === "command" || key === "description") return true;
    // Copilot repeats the command as a list.
    if (key === "commands") return JSON.stringify(value) === JSON.stringify([command]);
    return value === null || value === "" || (value === false && LATER.has(key));
  });
}
/** Fields in which `false` is the normal case. In any other field `false` may disable a safeguard, so all arguments are shown. */
const LATER = new Set(["run_in_background", "is_background"]);

/** A change to a file as shown to the user for approval. */
function diffText({ path, change, hunks }: FileDiff): string {
  const heading = change === "create" ? `New file ${path}` : `Change ${path}`;
  return [heading, ...hunks.flatMap(({ lines }) => lines)].join("\n");
}
