import { applyEdits, type FormattingOptions, modify, type ParseError, parse } from "jsonc-parser";
import { asArray, asObject, asText } from "../../../model/narrow.ts";
import { UsageError } from "../../usage-error.ts";

const EVENT = "PermissionRequest";
/** Seconds that Claude Code waits for the hook. The daemon releases requests earlier. */
const TIMEOUT_S = 3_600;

/** Whether a `settings.json` has the hook. `script`: the path of the hook's program, which no other hook uses. */
export function hasHook(text: string, script: string): boolean {
  return groupsOf(parse(text)).some((group) => isOwn(group, script));
}

/** The text with the hook added. The rest is unchanged. Throws `UsageError` if it is not a settings file. */
export function addHook(text: string, command: string): string {
  const start = text.trim() === "" ? "{}\n" : text;
  check(start);
  const group = { matcher: "*", hooks: [{ type: "command", command, timeout: TIMEOUT_S }] };
  return edited(start, ["hooks", EVENT, -1], group);
}

/** The text without the hook, and without lists that become empty. */
export function removeHook(text: string, script: string): string {
  check(text);
  let rest = text;
  for (;;) {
    const groups = groupsOf(parse(rest));
    const at = groups.findIndex((group) => isOwn(group, script));
    if (at < 0) return rest;
    rest = edited(rest, groups.length === 1 ? ["hooks", EVENT] : ["hooks", EVENT, at], undefined);
    const hooks = asObject(asObject(parse(rest))?.hooks);
    if (hooks !== undefined && Object.keys(hooks).length === 0) rest = edited(rest, ["hooks"], undefined);
  }
}

const groupsOf = (settings: unknown): readonly unknown[] =>
  asArray(asObject(asObject(settings)?.hooks)?.[EVENT]);

const isOwn = (group: unknown, script: string): boolean =>
  asArray(asObject(group)?.hooks).some((hook) => asText(asObject(hook)?.command)?.includes(script) === true);

function check(text: string): void {
  const errors: ParseError[] = [];
  const settings = asObject(parse(text, errors, { allowTrailingComma: true }));
  const hooks = settings?.hooks;
  const groups = asObject(hooks)?.[EVENT];
  const isKnown =
    settings !== undefined &&
    (hooks === undefined || asObject(hooks) !== undefined) &&
    (groups === undefined || Array.isArray(groups));
  if (errors.length > 0 || !isKnown)
    throw new UsageError(
      "The settings file does not have Claude Code's format. Fix it first. Nothing was changed.",
    );
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
