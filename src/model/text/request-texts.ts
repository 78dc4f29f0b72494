import { nameOfFormat, type TextFormat } from "../forms/text-format.ts";
import { type CodedText, codedTexts } from "./catalog.ts";
import type { Optional } from "./title-words.ts";

/** `from`: the type of the sub-agent that asks. */
const by = (from: string | undefined): string => (from === undefined ? "" : ` (${from})`);

/** `scope`: where the agent stores a choice. */
type Scope = Optional<"scope">;

/** The limits of a value. */
type Limits = Optional<"least" | "most", number>;
type TextRule = Limits & { format?: TextFormat | undefined };

/** Titles of requests to the user, their options, and the rules of form fields. */
export const requestTexts = {
  // Titles
  allow_tool: ({ tool, from }: { tool: string } & Optional<"from">) => `Allow ${tool}?${by(from)}`,
  allow_call: ({ tool, call, from }: { tool: string; call: string } & Optional<"from">) =>
    `Allow ${tool}: ${call}${by(from)}`,
  allow_command: ({ command = "a command" }: Optional<"command">) => `Allow: ${command}`,
  change_files: ({ file, more }: { file: string; more: number }) =>
    `Change ${file}${more === 0 ? "" : ` and ${more} more`}`,
  approve_plan: ({ from }: Optional<"from">) => `Approve the plan?${by(from)}`,
  asks_for_information: "The agent asks for information",
  /** One field of a form. `at`: its number, from 1. */
  form_field: ({
    message = "The agent asks for information",
    at,
    of,
    label,
  }: Optional<"message"> & { at: number; of: number; label: string }) =>
    `${message}${of > 1 ? ` (${at} of ${of})` : ""}: ${label}`,

  // Options of approvals
  allow_every_call: ({ tool }: { tool: string }) => `Allow every call of ${tool} for this session`,
  allow_every_write: ({ path }: { path: string }) => `Allow every write to ${path} for this session`,
  allow_every_search: ({ tool, path }: { tool: string; path: string }) =>
    `Allow every ${tool} in ${path} for this session`,
  allow_every_use: ({ tool, path }: { tool: string; path: string }) =>
    `Allow every ${tool} of ${path} for this session`,
  always_allow: ({ rules, scope }: { rules: string } & Scope) =>
    `Allow, and always allow ${rules}${by(scope)}`,
  allow_and_add_folder: ({ folders, scope }: { folders: string } & Scope) =>
    `Allow, and add folder ${folders}${by(scope)}`,
  allow_and_switch_mode: ({ mode, scope }: { mode: string } & Scope) =>
    `Allow, and switch to mode ${mode}${by(scope)}`,
  accept_edits: "Approve, and accept edits without asking",
  switches_to_accept_edits: "Switches the session to acceptEdits mode.",
  agent_receives_text: "The agent receives your text.",
  agent_receives_denial: "The agent receives the denial with your text, and continues.",
  continues_without_it: "The agent continues without it.",
  stops_turn: "Stops the turn.",
  ends_turn_without_reason: "Without a reason, it ends the turn.",

  // Options of forms
  option_accept: "Accept",
  option_send: "Send",
  option_edit: "Change the answers",
  option_leave_empty: "Leave empty",
  option_decline: "Decline",
  option_decline_form: "Decline the whole form",
  option_cancel: "Cancel",
  option_yes: "Yes",
  option_no: "No",
  option_default: "Default",
  continues_without_information: "The agent continues without this information.",
  closes_form: "Closes the form without an answer.",

  // Rules of fields
  rule_choices: (limits: Limits) => limitsText("choices", limits) ?? "",
  rule_text: ({ format, ...limits }: TextRule) =>
    [format === undefined ? undefined : `${nameOfFormat(format)}.`, limitsText("characters", limits)]
      .filter((text) => text !== undefined)
      .join(" "),
  rule_number: (limits: Limits) => `A number${rangeText(limits)}.`,
  rule_whole_number: (limits: Limits) => `A whole number${rangeText(limits)}.`,
};

/** A text of `requestTexts` with its code. */
export const requestText = codedTexts(requestTexts);

/** The title of an approval of a call. `call`: what it does, in one line. */
export const titleOfCall = (tool: string, call: string | undefined): CodedText =>
  call === undefined ? requestText("allow_tool", { tool }) : requestText("allow_call", { tool, call });

function limitsText(what: string, { least, most }: Limits): string | undefined {
  if (least === undefined) return most === undefined ? undefined : `At most ${most} ${what}.`;
  return most === undefined ? `At least ${least} ${what}.` : `${least} to ${most} ${what}.`;
}

function rangeText({ least, most }: Limits): string {
  if (least === undefined) return most === undefined ? "" : ` of at most ${most}`;
  return most === undefined ? ` of at least ${least}` : ` from ${least} to ${most}`;
}
