import { applyEdits, type FormattingOptions, modify, type ParseError, parse } from "jsonc-parser";
import { asArray, asObject } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Hooks to add to an agent's JSON settings: for each event of `hooks`, an element of its list. This format is shared by Claude
 * Code, Gemini CLI, Qwen Code and Copilot CLI; the elements differ.
 */
export type SettingsHooks = Readonly<Record<string, object>>;

/**
 * Whether the settings have a hook of ours. `script`: the hook program as it is written in commands, which identifies our hooks.
 */
export function hasHook(text: string, script: string): boolean {
  return eventWith(parse(text), script) !== undefined;
}

/** The text with the hooks added. The rest is unchanged. Throws `UsageError` if it is not a settings file. */
export function addHooks(text: string, hooks: SettingsHooks): string {
  let after = text.trim() === "" ? "{}\n" : text;
  check(after, Object.keys(hooks));
  for (const [event, element] of Object.entries(hooks)) after = edited(after, ["hooks", event, -1], element);
  return after;
}

/** The text without our hooks, and without lists that become empty. */
export function removeHooks(text: string, script: string): string {
  check(text, []);
  let rest = text;
  for (;;) {
    const found = eventWith(parse(rest), script);
    if (found === undefined) return rest;
    const { event, at, is_only } = found;
    rest = edited(rest, is_only ? ["hooks", event] : ["hooks", event, at], undefined);
    const hooks = asObject(asObject(parse(rest))?.hooks);
    if (hooks !== undefined && Object.keys(hooks).length === 0) rest = edited(rest, ["hooks"], undefined);
  }
}

/** Our first hook: its event, and its place in the list. */
function eventWith(
  settings: unknown,
  script: string,
): { event: string; at: number; is_only: boolean } | undefined {
  for (const [event, list] of Object.entries(asObject(asObject(settings)?.hooks) ?? {})) {
    const elements = asArray(list);
    const at = elements.findIndex((element) => contains(element, script));
    if (at >= 0) return { event, at, is_only: elements.length === 1 };
  }
  return undefined;
}

/** Whether one of the strings in a JSON value contains a text. */
function contains(value: unknown, text: string): boolean {
  if (typeof value === "string") return value.includes(text);
  return Object.values(asObject(value) ?? asArray(value)).some((each) => contains(each, text));
}

/** Throws `UsageError` if hooks of these events cannot be added to the settings. */
function check(text: string, events: readonly string[]): void {
  const errors: ParseError[] = [];
  const settings = asObject(parse(text, errors, { allowTrailingComma: true }));
  const hooks = asObject(settings?.hooks ?? {});
  const isKnown =
    settings !== undefined &&
    hooks !== undefined &&
    events.every((event) => hooks[event] === undefined || Array.isArray(hooks[event]));
  if (errors.length > 0 || !isKnown) throw new UsageError(daemonText("settings_format"));
}

function edited(text: string, path: (string | number)[], value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions: formattingOf(text) }));
}

/** The indentation that the file already uses. */
function formattingOf(text: string): FormattingOptions {
  const [, indent = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { insertSpaces: !indent.startsWith("\t"), tabSize: indent.length, eol, insertFinalNewline: false };
}
